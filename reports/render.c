/* SPDX-License-Identifier: MIT */
#include "reports/render.h"

#include "base/file.h"
#include "base/path.h"
#include "reports/environment.h"
#include "reports/journal.h"
#include "reports/journal_record.h"
#include "reports/render_state.h"
#include "reports/reproducible.h"
#include "reports/writer.h"

#include <string.h>

/* What the rest of the run-begin is used for, render_add_run() checks. */
static int render_take_run_begin(struct render *render, const struct json_at *record,
				 struct error *err)
{
	struct json_at invocation = {0};
	struct json_at schema = {0};
	int rc = json_need(record, "schema", JSON_STRING, &schema, err);

	if (rc == 0 && strcmp(schema.node->valuestring, JOURNAL_SCHEMA) != 0)
		return json_error(&schema, err, "expected \"%s\"", JOURNAL_SCHEMA);
	rc = rc == 0 ? json_need(record, "invocation", JSON_OBJECT, &invocation, err) : rc;
	rc = rc == 0 ? json_need_int(&invocation, "minRun", 0, INT32_MAX, &render->min_run, err)
		     : rc;
	return rc == 0 ? json_need_bool(&invocation, "conformanceRequired",
					&render->conformance_required, err)
		       : rc;
}

static int render_take_phase(struct render *render, const struct json_at *record, struct error *err)
{
	struct members phase CLEANUP_MEMBERS = members_new();
	enum report_phase kind = REPORT_PHASE_SETUP;
	const char *name = NULL;
	int64_t duration_ms = 0;
	int rc = json_need_int(record, "durationMs", 0, INT32_MAX, &duration_ms, err);

	rc = rc == 0 ? json_need_string(record, "phase", &name, err) : rc;
	rc = rc == 0 ? report_phase_parse(name, &kind, err) : rc;
	member_string(&phase, "phase", name);
	rc = rc == 0 ? copy_string(record, "what", &phase, err) : rc;
	member_int(&phase, "durationMs", duration_ms);
	if (rc < 0)
		return rc;
	render->phases_ms[kind] += duration_ms;
	return members_append(render->phases, members_take(&phase), err);
}

static int render_take_event(struct render *render, const struct journal_record *record,
			     const struct json_at *root, struct error *err)
{
	struct render_check *check = NULL;
	struct json_at at = {0};
	int rc = json_have(root, "check", JSON_STRING, &at, err);

	if (rc == 0 && at.node != NULL)
		rc = render_find_check(render, root, "check", &check, err);
	if (rc < 0)
		return rc;
	return render_add_event(record, check != NULL ? check->events : render->events, err);
}

static int render_take_abort(struct render *render, const struct journal_record *record,
			     const struct json_at *root, struct error *err)
{
	const char *kind = NULL;
	const char *reason = NULL;
	int rc = json_need_string(root, "kind", &kind, err);

	rc = rc == 0 ? json_need_string(root, "reason", &reason, err) : rc;
	rc = rc == 0 ? report_abort_parse(kind, &render->abort_kind, err) : rc;
	if (rc == 0 && render->aborted != NULL)
		return error_set(err, ERROR_FORMAT, "type: a second abort");
	render->aborted = record;
	return rc;
}

static int render_take(struct render *render, const struct journal_record *record,
		       struct error *err)
{
	struct json_at root = json_root(record->json);

	if (render->ended)
		return error_set(err, ERROR_FORMAT, "type: a record behind run-end");
	switch (record->type) {
	case JOURNAL_RUN_BEGIN:
		return render_take_run_begin(render, &root, err);
	case JOURNAL_ENVIRONMENT:
		return environment_merge(render->environment, &root, err);
	case JOURNAL_PLAN:
		return render_take_plan(render, &root, err);
	case JOURNAL_PHASE:
		return render_take_phase(render, &root, err);
	case JOURNAL_CHECK_BEGIN:
		return render_take_check_begin(render, record, err);
	case JOURNAL_EVIDENCE:
		return render_take_evidence(render, &root, err);
	case JOURNAL_EVENT:
		return render_take_event(render, record, &root, err);
	case JOURNAL_CHECK_HELD:
		return render_take_check_held(render, &root, err);
	case JOURNAL_CHECK_END:
		return render_take_check_end(render, record, err);
	case JOURNAL_ABORT:
		return render_take_abort(render, record, &root, err);
	case JOURNAL_RUN_END:
		render->ended = true;
		return 0;
	case JOURNAL_TYPE_COUNT:
		break;
	}
	return error_set(err, ERROR_FORMAT, "type: unknown");
}

static int render_add_environment(struct render *render, struct members *report, struct error *err)
{
	char digest[DIGEST_SIZE] = "";
	struct members environment CLEANUP_MEMBERS = members_new();
	cJSON *section = NULL;
	int rc = environment_digest(render->environment, digest, err);

	member_string(&environment, "digest", digest);
	cJSON_ArrayForEach (section, render->environment) {
		member_copy(&environment, section->string, section);
	}
	member_item(report, "environment", members_take(&environment));
	return rc;
}

static int render_add_checks(struct render *render, struct members *report, struct error *err)
{
	cJSON *checks CLEANUP_JSON = cJSON_CreateArray();
	int rc = checks != NULL ? 0 : error_memory(err);

	for (size_t i = 0; rc == 0 && i < render->check_count; i++)
		rc = members_append(checks, render_check_json(&render->checks[i]), err);
	if (rc == 0)
		member_item(report, "checks", STEAL(checks));
	return rc;
}

static int render_report(struct render *render, cJSON **report, struct error *err)
{
	struct members json CLEANUP_MEMBERS = members_new();
	int rc = render_close_checks(render, err);

	member_string(&json, "schema", REPORT_SCHEMA);
	rc = rc == 0 ? render_add_run(render, &json, err) : rc;
	rc = rc == 0 ? render_add_environment(render, &json, err) : rc;
	rc = rc == 0 ? render_add_verdict(render, &json, err) : rc;
	rc = rc == 0 ? render_add_checks(render, &json, err) : rc;
	if (rc < 0)
		return rc;
	*report = members_take(&json);
	return *report != NULL ? 0 : error_memory(err);
}

int report_render(const struct journal_log *log, const struct report_options *options,
		  cJSON **report, struct error *err)
{
	struct render render = {
		.log = log,
		.environment = environment_new(),
		.phases = cJSON_CreateArray(),
		.events = cJSON_CreateArray(),
	};
	cJSON *made CLEANUP_JSON = NULL;
	int rc = 0;

	if (render.environment == NULL || render.phases == NULL || render.events == NULL)
		rc = error_memory(err);
	for (size_t i = 0; rc == 0 && i < log->count; i++) {
		rc = render_take(&render, &log->records[i], err);
		if (rc < 0)
			rc = journal_record_wrap(log, &log->records[i], rc, err);
	}
	rc = rc == 0 ? render_report(&render, &made, err) : rc;
	if (rc == 0 && options->reproducible)
		rc = report_make_reproducible(made, err);
	if (rc == 0)
		*report = STEAL(made);
	render_free_plan(&render);
	cJSON_Delete(render.environment);
	cJSON_Delete(render.phases);
	cJSON_Delete(render.events);
	return rc;
}

static int render_write(const char *directory, const struct writer *writer, const cJSON *report,
			struct error *err)
{
	const struct writer_options plain = {0};
	char *path CLEANUP_FREE = path_join(directory, writer->file_name);
	char *text CLEANUP_FREE = NULL;
	int rc = path != NULL ? 0 : error_memory(err);

	rc = rc == 0 ? writer_print(writer, report, &plain, &text, err) : rc;
	return rc == 0 ? file_write_atomic(path, text, strlen(text), 0644, err) : rc;
}

int report_read_directory(const char *directory, const struct report_options *options,
			  cJSON **report, struct error *err)
{
	char *path CLEANUP_FREE = path_join(directory, JOURNAL_FILE_NAME);
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	int rc = path != NULL ? 0 : error_memory(err);

	rc = rc == 0 ? journal_read(path, &log, err) : rc;
	return rc == 0 ? report_render(&log, options, report, err) : rc;
}

int report_write_directory(const char *directory, const cJSON *report, struct error *err)
{
	int rc = 0;

	for (const struct writer *const *writer = writers; rc == 0 && *writer != NULL; writer++) {
		if ((*writer)->file_name != NULL)
			rc = render_write(directory, *writer, report, err);
	}
	return rc;
}

int report_exit_code(const cJSON *report)
{
	const cJSON *code = json_pointer(report, "/verdict/exitCode");

	return cJSON_IsNumber(code) ? code->valueint : REPORT_EXIT_BROKEN;
}
