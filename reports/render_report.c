/* SPDX-License-Identifier: MIT */
/* The members `run`, `requirements`, `totals` and `verdict` of a report. */
#include "reports/environment.h"
#include "reports/render_state.h"

#include <math.h>

static enum report_state state_of(const struct render *render)
{
	if (render->aborted != NULL)
		return REPORT_ABORTED;
	return render->ended ? REPORT_COMPLETE : REPORT_INCOMPLETE;
}

/* Where the run's time went. Time in no phase, and in setup and cleanup, is the harness' own;
 * unknown when phases of several checks overlap. */
static void add_time(const struct render *render, int64_t total_ms, struct members *run)
{
	const int64_t *ms = render->phases_ms;
	int64_t declared_ms = ms[REPORT_PHASE_PLUGIN] + ms[REPORT_PHASE_WAIT];
	int64_t other_ms = total_ms - ms[REPORT_PHASE_CRI] - ms[REPORT_PHASE_PROBE] - declared_ms;
	double percent = 0;
	if (other_ms < 0)
		other_ms = 0;
	if (total_ms > 0)
		percent = round(1000.0 * (double)other_ms / (double)total_ms) / 10.0;
	struct members time = member_object(run, "time");
	member_int(&time, "criMs", ms[REPORT_PHASE_CRI]);
	member_int(&time, "probeMs", ms[REPORT_PHASE_PROBE]);
	member_int(&time, "declaredWaitMs", declared_ms);
	member_int(&time, "pluginMs", ms[REPORT_PHASE_PLUGIN]);
	if (!render->overlap)
		member_int(&time, "otherMs", other_ms);
	member_int(&time, "totalMs", total_ms);
	if (!render->overlap)
		member_number(&time, "overheadPercent", percent);
}

void render_add_run(const struct render *render, struct members *report)
{
	const struct journal_log *log = render->log;
	const struct journal_record *first = &log->records[0];
	const struct journal_record *last = &log->records[log->count - 1];
	const cJSON *settings = field_get(render->plan, "settings");
	struct members run = member_object(report, "run");

	json_members_copy(first->json, journal_shapes[JOURNAL_RUN_BEGIN].members, &run);
	cJSON_DeleteItemFromObjectCaseSensitive(run.object, "schema");
	member_string(&run, "started", first->time);
	member_string(&run, "ended", last->time);
	member_int(&run, "durationMs", last->at_ms);
	member_string(&run, "state", report_state_names[state_of(render)]);
	if (render->aborted != NULL) {
		struct members abort = member_object(&run, "abort");
		json_members_copy(render->aborted->json, journal_shapes[JOURNAL_ABORT].members,
				  &abort);
		member_int(&abort, "atMs", render->aborted->at_ms);
	} else {
		member_null(&run, "abort");
	}
	member_item(&run, "settings",
		    settings != NULL ? cJSON_Duplicate(settings, true) : cJSON_CreateNull());

	struct members plan = member_object(&run, "plan");
	member_int(&plan, "selected", (int64_t)render->check_count);
	member_int(&plan, "filteredOut", field_count(render->plan, "filteredOut"));
	struct members journal = member_object(&run, "journal");
	member_int(&journal, "records", (int64_t)last->line);
	member_bool(&journal, "torn", log->torn);
	member_string(&journal, "digest", log->digest);
	add_time(render, last->at_ms, &run);
	member_copy(&run, "phases", render->phases);
	member_copy(&run, "events", render->events);
}

/* Ids of the requirements with that verdict at that level. */
static cJSON *ids_with(const struct render *render, enum report_requirement_verdict verdict,
		       const char *level)
{
	struct members ids CLEANUP_MEMBERS = members_new_array();
	for (size_t i = 0; i < render->requirement_count; i++) {
		const struct render_requirement *requirement = &render->requirements[i];
		if (text_equal(field_string(requirement->planned, "level"), level) &&
		    report_requirement_verdict_of(&requirement->tally) == verdict)
			member_string(&ids, NULL, requirement->id);
	}
	return members_take(&ids);
}

/* Violated beats incomplete: one violated MUST is enough to know. */
static enum report_conformance add_conformance(const struct render *render, struct members *verdict)
{
	struct members conformance = member_object(verdict, "conformance");
	cJSON *must CLEANUP_JSON = ids_with(render, REPORT_VIOLATED, "must");
	cJSON *should CLEANUP_JSON = ids_with(render, REPORT_VIOLATED, "should");
	cJSON *open CLEANUP_JSON = ids_with(render, REPORT_NOT_TESTED, "must");
	cJSON *proven CLEANUP_JSON = ids_with(render, REPORT_SATISFIED, "must");
	cJSON *other CLEANUP_JSON = ids_with(render, REPORT_REQUIREMENT_NOT_APPLICABLE, "must");
	const int count = cJSON_GetArraySize(open);
	const bool live = environment_is_live(render->environment);
	const bool complete = state_of(render) == REPORT_COMPLETE;
	enum report_conformance result = REPORT_CONFORMANCE_INCOMPLETE;
	if (must->child != NULL)
		result = REPORT_CONFORMANCE_VIOLATED;
	else if (count == 0 && proven->child != NULL && live && complete)
		result = REPORT_CONFORMANT;
	member_string(&conformance, "result", report_conformance_names[result]);

	if (result != REPORT_CONFORMANCE_INCOMPLETE)
		member_string(&conformance, "reason", "");
	else if (render->plan == NULL)
		member_string(&conformance, "reason", "the run ended before it had a plan");
	else if (!complete)
		member_string(&conformance, "reason", "the run is not complete");
	else if (!live)
		member_string(&conformance, "reason", "the node is a recording, or not known");
	else if (count == 0)
		member_string(&conformance, "reason", "the plan holds no MUST requirement");
	else
		member_format(&conformance, "reason", "%d MUST requirement%s not tested", count,
			      count == 1 ? "" : "s");
	member_item(&conformance, "must", STEAL(must));
	member_item(&conformance, "should", STEAL(should));
	member_item(&conformance, "notTested", STEAL(open));
	member_item(&conformance, "notApplicable", STEAL(other));
	return result;
}

/* Did a decided check compare something under that kubelet? `*failed`: did a comparison fail? */
static bool compared_under(const struct render_check *check, const char *kubelet, bool *failed)
{
	bool compared = false;
	*failed = false;
	if (check->outcome != REPORT_PASS && check->outcome != REPORT_FAIL)
		return false;
	json_each (assertion, check->lists[RENDER_ASSERTIONS]) {
		if (!text_equal(field_string(assertion, "kubelet"), kubelet))
			continue;
		compared = true;
		*failed |= !cJSON_IsTrue(field_get(assertion, "ok"));
	}
	return compared;
}

/* Each kubelet under which a rule was tested that differs between kubelets, with the checks that failed. */
static void add_kubelets(const struct render *render, struct members *verdict)
{
	struct members kubelets CLEANUP_MEMBERS = members_new_array();
	for (const char *const *name = report_kubelet_names; *name != NULL; name++) {
		struct members failed CLEANUP_MEMBERS = members_new_array();
		bool tested = false;
		for (size_t i = 0; i < render->check_count; i++) {
			bool fails = false;
			tested |= compared_under(&render->checks[i], *name, &fails);
			if (fails)
				member_string(&failed, NULL, render->checks[i].id);
		}
		if (!tested)
			continue;
		struct members kubelet = member_object(&kubelets, NULL);
		member_string(&kubelet, "version", *name);
		member_item(&kubelet, "failed", members_take(&failed));
	}
	if (json_first(kubelets.object) != NULL)
		member_item(verdict, "kubelets", members_take(&kubelets));
}

static void add_requirements(const struct render *render, struct members *report)
{
	struct members array = member_array(report, "requirements");
	for (size_t i = 0; i < render->requirement_count; i++) {
		const struct render_requirement *requirement = &render->requirements[i];
		enum report_requirement_verdict verdict =
			report_requirement_verdict_of(&requirement->tally);
		struct members json = member_object(&array, NULL);
		json_members_copy(requirement->planned, record_requirement, &json);
		struct members checks = member_array(&json, "checks");
		for (size_t k = 0; k < render->check_count; k++) {
			if (render->checks[k].requirement == requirement)
				member_string(&checks, NULL, render->checks[k].id);
		}
		member_string(&json, "verdict", report_requirement_verdict_names[verdict]);
		member_taken(&json, "reason", render_requirement_reason(requirement));
	}
}

void render_add_verdict(const struct render *render, struct members *report)
{
	const cJSON *invocation = field_get(render->log->records[0].json, "invocation");
	struct members unexpected CLEANUP_MEMBERS = members_new_array();
	struct report_tally tally = {0};
	struct report_facts facts = {
		.state = state_of(render),
		.broken_abort = render->aborted != NULL &&
				text_equal(field_string(render->aborted->json, "kind"),
					   report_abort_names[REPORT_ABORT_BROKEN]),
		.tally = &tally,
		.min_run = (size_t)field_count(invocation, "minRun"),
		.conformance_required = cJSON_IsTrue(field_get(invocation, "conformanceRequired")),
	};
	for (size_t i = 0; i < render->check_count; i++) {
		const struct render_check *check = &render->checks[i];
		const enum report_disposition disposition = render_disposition(check);
		tally.outcomes[check->outcome]++;
		tally.dispositions[disposition]++;
		tally.cut_off += check->cut_off;
		if (disposition == REPORT_UNEXPECTED_FAIL ||
		    disposition == REPORT_UNEXPECTED_IMPROVEMENT)
			member_string(&unexpected, NULL, check->id);
	}
	add_requirements(render, report);
	struct members totals = member_object(report, "totals");
	member_int(&totals, "checks", (int64_t)report_tally_total(&tally));
	member_int(&totals, "ran", (int64_t)report_tally_ran(&tally));
	struct members outcomes = member_object(&totals, "outcome");
	for (int i = 0; i < REPORT_OUTCOME_COUNT; i++)
		member_int(&outcomes, report_outcome_names[i], (int64_t)tally.outcomes[i]);
	struct members dispositions = member_object(&totals, "disposition");
	for (int i = 0; i < REPORT_DISPOSITION_COUNT; i++)
		member_int(&dispositions, report_disposition_names[i],
			   (int64_t)tally.dispositions[i]);

	struct members verdict = member_object(report, "verdict");
	facts.conformance = add_conformance(render, &verdict);
	struct members expectation = member_object(&verdict, "expectation");
	member_string(&expectation, "result",
		      json_first(unexpected.object) != NULL ? "unexpected" : "as-expected");
	member_item(&expectation, "checks", members_take(&unexpected));
	add_kubelets(render, &verdict);
	member_int(&verdict, "exitCode", report_exit_of(&facts));
}
