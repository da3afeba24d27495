/* SPDX-License-Identifier: MIT */
#include "reports/render.h"

#include "base/file.h"
#include "base/path.h"
#include "reports/environment.h"
#include "reports/journal.h"
#include "reports/render_state.h"
#include "reports/writer.h"

#include <string.h>

static int take(struct render *render, const struct journal_record *record, struct error *err)
{
	static const char *const head[] = {"seq", "prev", "atMs", "time", "type", "check", NULL};
	struct json_at root = json_root(record->json);
	struct json_at environment = {.parent = &root, .key = "environment"};
	struct json_checking checking = {.also = head};
	int rc = json_members_check(&root, journal_shapes[record->type].members, &checking, err);
	if (rc != 0)
		return rc;
	if (render->ended)
		return error_set(err, ERROR_FORMAT, "type: a record behind run-end");
	if (record->type == JOURNAL_ENVIRONMENT) {
		environment.node = field_get(record->json, "environment");
		return environment_merge(render->environment, &environment, err);
	}
	if (record->type == JOURNAL_PLAN)
		return render_take_plan(render, record->json, err);
	if (record->type == JOURNAL_ABORT && render->aborted != NULL)
		return error_set(err, ERROR_FORMAT, "type: a second abort");
	if (record->type == JOURNAL_ABORT) {
		render->aborted = record;
	} else if (record->type == JOURNAL_RUN_END) {
		render->ended = true;
	} else if (record->type == JOURNAL_PHASE) {
		const char *phase = field_string(record->json, "phase");
		render->phases_ms[text_position(report_phase_names, phase)] +=
			field_count(record->json, "durationMs");
		render_add_record(record, render->phases);
	} else if (record->type == JOURNAL_EVENT && field_get(record->json, "check") == NULL) {
		render_add_record(record, render->events);
	} else if (record->type != JOURNAL_RUN_BEGIN) {
		return render_take_check(render, record, err);
	}
	return 0;
}

static cJSON *report_of(struct render *render)
{
	struct members json CLEANUP_MEMBERS = members_new();
	const struct journal_log *log = render->log;
	const struct journal_record *back =
		NULL; /* the first event that is earlier than the one before */
	size_t times = 0;
	char digest[DIGEST_SIZE] = "";

	environment_add_ran(render->environment, render->ran);
	environment_digest(render->environment, digest);

	/* An event shows where the machine's clock was set back: the run may then seem to end before it began.
	 * Durations use the monotonic clock. */
	for (size_t i = 1; i < log->count; i++) {
		const struct journal_record *record = &log->records[i];
		if (strcmp(record->time, record[-1].time) >= 0 && record->at_ms >= record[-1].at_ms)
			continue;
		back = times++ == 0 ? record : back;
	}
	if (back != NULL) {
		struct members event CLEANUP_MEMBERS = members_new();
		member_string(&event, "kind", REPORT_CLOCK_SET_BACK);
		member_format(
			&event, "text",
			"the clock was set back, %zu times: first from %.40s to %.40s, in line "
			"%zu of the journal",
			times, back[-1].time, back->time, back->line);
		member_int(&event, "atMs", back->at_ms);
		array_add(render->events, members_take(&event));
	}

	render_close_checks(render);
	render_count_flakes(render);
	member_string(&json, "schema", REPORT_SCHEMA);
	render_add_run(render, &json);
	struct members environment = member_object(&json, "environment");
	member_string(&environment, "digest", digest);
	json_each (section, render->environment)
		member_copy(&environment, section->string, section);
	render_add_verdict(render, &json);
	struct members checks = member_array(&json, "checks");
	for (size_t i = 0; i < render->check_count; i++)
		render_add_check(render, &render->checks[i], &checks);
	member_copy(&json, "predictions", render->predictions);
	return members_take(&json);
}

int report_render(const struct journal_log *log, cJSON **report, struct error *err)
{
	struct render render = {
		.log = log,
		.environment = environment_new(),
		.phases = cJSON_CreateArray(),
		.events = cJSON_CreateArray(),
		.predictions = cJSON_CreateArray(),
		.ran = cJSON_CreateArray(),
	};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < log->count; i++) {
		rc = take(&render, &log->records[i], err);
		if (rc < 0)
			rc = error_wrap(err, rc, "%s:%zu", log->name, log->records[i].line);
	}
	if (rc == 0)
		*report = report_of(&render);
	render_free_plan(&render);
	cJSON_Delete(render.environment);
	cJSON_Delete(render.phases);
	cJSON_Delete(render.events);
	cJSON_Delete(render.predictions);
	cJSON_Delete(render.ran);
	return rc;
}

int report_read_directory(const char *directory, cJSON **report, struct error *err)
{
	char *path CLEANUP_FREE = path_join(directory, JOURNAL_FILE_NAME);
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	int rc = journal_read(path, &log, err);
	return rc == 0 ? report_render(&log, report, err) : rc;
}

int report_write_directory(const char *directory, const cJSON *report, struct error *err)
{
	const struct writer_options plain = {0};
	int rc = 0;
	for (const struct writer *writer = writers; rc == 0 && writer->name != NULL; writer++) {
		if (writer->file_name == NULL)
			continue;
		char *path CLEANUP_FREE = path_join(directory, writer->file_name);
		char *text CLEANUP_FREE = NULL;
		rc = writer_print(writer, report, &plain, &text, err);
		if (rc == 0)
			rc = file_write_atomic(path, text, strlen(text), 0644, err);
	}
	return rc;
}

int report_exit_code(const cJSON *report)
{
	const cJSON *code = json_pointer(report, "/verdict/exitCode");
	return cJSON_IsNumber(code) ? code->valueint : REPORT_EXIT_BROKEN;
}
