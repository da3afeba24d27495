/* SPDX-License-Identifier: MIT */
#include "conformance/runner/result.h"

#include <string.h>

void result_free(struct result *result)
{
	for (size_t i = 0; i < ARRAY_SIZE(result->reasons); i++)
		free(result->reasons[i]);
	text_list_free(&result->devices);
	free(result->advice);
	*result = (struct result){0};
}

/* Keeps the first reason, which it owns. */
static int keep_reason(struct result *result, enum report_outcome outcome, char *reason,
		       struct error *err)
{
	if (reason == NULL)
		return error_memory(err);
	if (result->reasons[outcome] != NULL)
		free(reason);
	else
		result->reasons[outcome] = reason;
	return 0;
}

static int take_seen(struct result *result, enum journal_type type, const cJSON *line,
		     struct error *err)
{
	int rc = result->journal != NULL
			 ? journal_add_seen(result->journal, result->check, type, line, err)
			 : 0;
	if (rc == 0 && type == JOURNAL_DEVICE &&
	    !text_list_has(&result->devices, field_string(line, "ref")))
		rc = text_list_add(&result->devices, field_string(line, "ref"), err);
	if (rc != 0 || type != JOURNAL_ASSERTION)
		return rc;
	result->asserted = true;
	if (cJSON_IsTrue(field_get(line, "ok")))
		return 0;
	return keep_reason(result, REPORT_FAIL,
			   text_format("%s: got %s, expected %s", field_string(line, "what"),
				       field_string(line, "saw"), field_string(line, "wanted")),
			   err);
}

static int take_remark(struct result *result, const struct json_at *line, struct error *err)
{
	const char *outcome = "";
	const char *text = "";
	int rc = json_need_string(line, "outcome", &outcome, err);
	if (rc == 0)
		rc = json_need_string(line, "text", &text, err);
	if (rc != 0)
		return rc;
	if (report_outcome_of(outcome) == REPORT_OUTCOME_COUNT)
		return error_set(err, ERROR_FORMAT, "unknown outcome '%s'", outcome);
	return keep_reason(result, report_outcome_of(outcome), strdup(text), err);
}

static int take_time(struct result *result, const struct json_at *line, struct error *err)
{
	int64_t phase = 0;
	int64_t ns = 0;
	int rc = json_need_int(line, "phase", 0, REPORT_PHASE_COUNT - 1, &phase, err);
	if (rc == 0)
		rc = json_need_int(line, "ns", 0, INT64_MAX, &ns, err);
	if (rc == 0)
		result->time_ns[phase] += (uint64_t)ns;
	return rc;
}

static int take_watched(struct result *result, const struct json_at *line, struct error *err)
{
	int64_t ms = 0;
	int64_t thorough_ms = 0;
	int rc = json_need_int(line, "ms", 0, INT32_MAX, &ms, err);
	if (rc == 0)
		rc = json_need_int(line, "thoroughMs", 1, INT32_MAX, &thorough_ms, err);
	if (rc == 0 && (result->watched_thorough_ms == 0 || (uint64_t)ms < result->watched_ms)) {
		result->watched_ms = (uint64_t)ms;
		result->watched_thorough_ms = (uint64_t)thorough_ms;
	}
	return rc;
}

static int take_plugin(struct result *result, const struct json_at *line, struct error *err)
{
	const char *resource = "";
	int64_t pid = 0;
	int rc = json_need_string(line, "resource", &resource, err);
	if (rc == 0)
		rc = json_need_int(line, "pid", 0, INT32_MAX, &pid, err);
	if (rc == 0 && result->on_plugin != NULL)
		result->on_plugin(resource, (int)pid, result->user);
	return rc;
}

static int take_advice(struct result *result, const struct json_at *line, struct error *err)
{
	const char *text = "";
	int rc = json_need_string(line, "text", &text, err);
	if (rc != 0 || result->advice != NULL)
		return rc;
	result->advice = strdup(text);
	return result->advice != NULL ? 0 : error_memory(err);
}

static int take_finished(struct result *result, const struct json_at *line, struct error *err)
{
	(void)line;
	(void)err;
	result->finished = true;
	return 0;
}

static int take_line(struct result *result, const cJSON *json, struct error *err)
{
	static const struct {
		const char *type;
		int (*take)(struct result *result, const struct json_at *line, struct error *err);
	} rows[] = {
		{"remark", take_remark}, {"time", take_time},	      {"watched", take_watched},
		{"plugin", take_plugin}, {"finished", take_finished}, {"advice", take_advice},
	};
	struct json_at line = json_root(json);
	const char *type = "";
	int rc = json_need_string(&line, "type", &type, err);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(rows[i].type, type) == 0)
			return rows[i].take(result, &line, err);
	}
	if (journal_type_of(type) == JOURNAL_TYPE_COUNT ||
	    !journal_shapes[journal_type_of(type)].seen)
		return error_set(err, ERROR_FORMAT, "unknown record '%s'", type);
	return take_seen(result, journal_type_of(type), json, err);
}

int result_add_line(struct result *result, const char *line, size_t size, struct error *err)
{
	cJSON *json CLEANUP_JSON = NULL;
	result->bytes += size;
	if (result->bytes > RESULT_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d bytes", (int)RESULT_MAX);
	int rc = json_parse(line, size, &json, err);
	return rc == 0 ? take_line(result, json, err) : rc;
}

enum report_outcome result_outcome(const struct result *result, const char **reason)
{
	bool recorded[REPORT_OUTCOME_COUNT] = {[REPORT_PASS] = result->asserted};
	for (size_t i = 0; i < REPORT_OUTCOME_COUNT; i++)
		recorded[i] = recorded[i] || result->reasons[i] != NULL;
	enum report_outcome outcome = report_outcome_decided(recorded);
	*reason = result->reasons[outcome];
	if (*reason == NULL)
		*reason = result->asserted ? "" : "the check recorded nothing";
	return outcome;
}
