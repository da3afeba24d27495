/* SPDX-License-Identifier: MIT */
#include "reports/render_state.h"

#include <math.h>

enum report_state render_state_of(const struct render *render)
{
	if (render->aborted != NULL)
		return REPORT_ABORTED;
	return render->ended ? REPORT_COMPLETE : REPORT_INCOMPLETE;
}

static int run_add_harness(const struct json_at *root, struct members *run, struct error *err)
{
	struct members harness CLEANUP_MEMBERS = members_new();
	struct json_at from = {0};
	int rc = json_need(root, "harness", JSON_OBJECT, &from, err);

	rc = rc == 0 ? copy_string(&from, "version", &harness, err) : rc;
	rc = rc == 0 ? copy_string_or_null(&from, "commit", &harness, err) : rc;
	rc = rc == 0 ? copy_string(&from, "compiler", &harness, err) : rc;
	rc = rc == 0 ? copy_string_or_null(&from, "tableDigest", &harness, err) : rc;
	if (rc == 0)
		member_item(run, "harness", members_take(&harness));
	return rc;
}

static int run_add_invocation(const struct json_at *root, struct members *run, struct error *err)
{
	struct members invocation CLEANUP_MEMBERS = members_new();
	struct json_at from = {0};
	int rc = json_need(root, "invocation", JSON_OBJECT, &from, err);

	rc = rc == 0 ? copy_array(&from, "argv", copy_string_item, &invocation, err) : rc;
	rc = rc == 0 ? copy_count(&from, "timeoutPercent", &invocation, err) : rc;
	rc = rc == 0 ? copy_count(&from, "minRun", &invocation, err) : rc;
	rc = rc == 0 ? copy_bool(&from, "conformanceRequired", &invocation, err) : rc;
	if (rc == 0)
		member_item(run, "invocation", members_take(&invocation));
	return rc;
}

static void run_add_abort(const struct render *render, struct members *run)
{
	struct members abort CLEANUP_MEMBERS = members_new();
	const cJSON *reason = NULL;

	if (render->aborted == NULL) {
		member_string(run, "abort", NULL);
		return;
	}
	reason = cJSON_GetObjectItemCaseSensitive(render->aborted->json, "reason");
	member_string(&abort, "kind", report_abort_name(render->abort_kind));
	member_copy(&abort, "reason", reason);
	member_int(&abort, "atMs", render->aborted->at_ms);
	member_item(run, "abort", members_take(&abort));
}

static void run_add_counts(const struct render *render, struct members *run)
{
	struct members plan CLEANUP_MEMBERS = members_new();
	struct members journal CLEANUP_MEMBERS = members_new();

	member_int(&plan, "selected", (int64_t)render->check_count);
	member_int(&plan, "filteredOut", render->filtered_out);
	member_item(run, "plan", members_take(&plan));
	member_int(&journal, "records", (int64_t)render->log->count);
	member_bool(&journal, "torn", render->log->torn);
	member_string(&journal, "digest", render->log->digest);
	member_item(run, "journal", members_take(&journal));
}

/* Where the run's time went. What no phase claims, and what setup and cleanup claim, is the
 * harness' own. */
static void run_add_time(const struct render *render, int64_t total_ms, struct members *run)
{
	struct members time CLEANUP_MEMBERS = members_new();
	const int64_t *ms = render->phases_ms;
	int64_t declared_ms = ms[REPORT_PHASE_PLUGIN] + ms[REPORT_PHASE_WAIT];
	int64_t other_ms = total_ms - ms[REPORT_PHASE_CRI] - ms[REPORT_PHASE_PROBE] - declared_ms;
	double percent = 0;

	if (other_ms < 0)
		other_ms = 0;
	if (total_ms > 0)
		percent = round(1000.0 * (double)other_ms / (double)total_ms) / 10.0;
	member_int(&time, "criMs", ms[REPORT_PHASE_CRI]);
	member_int(&time, "probeMs", ms[REPORT_PHASE_PROBE]);
	member_int(&time, "declaredWaitMs", declared_ms);
	member_int(&time, "pluginMs", ms[REPORT_PHASE_PLUGIN]);
	member_int(&time, "otherMs", other_ms);
	member_int(&time, "totalMs", total_ms);
	member_number(&time, "overheadPercent", percent);
	member_item(run, "time", members_take(&time));
}

int render_add_run(const struct render *render, struct members *report, struct error *err)
{
	const struct journal_log *log = render->log;
	const struct journal_record *last = &log->records[log->count - 1];
	struct json_at root = json_root(log->records[0].json);
	struct members run CLEANUP_MEMBERS = members_new();
	int rc = copy_string(&root, "id", &run, err);

	member_string(&run, "started", log->records[0].time);
	member_string(&run, "ended", last->time);
	member_int(&run, "durationMs", last->at_ms);
	member_string(&run, "state", report_state_name(render_state_of(render)));
	run_add_abort(render, &run);
	rc = rc == 0 ? run_add_harness(&root, &run, err) : rc;
	rc = rc == 0 ? run_add_invocation(&root, &run, err) : rc;
	if (rc < 0)
		return journal_record_wrap(log, &log->records[0], rc, err);
	if (render->settings != NULL)
		member_copy(&run, "settings", render->settings);
	else
		member_string(&run, "settings", NULL);
	run_add_counts(render, &run);
	run_add_time(render, last->at_ms, &run);
	member_copy(&run, "phases", render->phases);
	member_copy(&run, "events", render->events);
	member_item(report, "run", members_take(&run));
	return 0;
}
