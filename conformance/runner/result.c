/* SPDX-License-Identifier: MIT */
#include "conformance/runner/result.h"

#include "base/memory.h"

void result_free(struct result *result)
{
	for (size_t i = 0; i < ARRAY_SIZE(result->reasons); i++)
		free(result->reasons[i]);
	text_list_free(&result->devices);
	text_list_free(&result->failing);
	free(result->advice);
	*result = (struct result){0};
}

/* Keeps the first reason, which it owns. */
static void keep_reason(struct result *result, enum report_outcome outcome, char *reason)
{
	if (result->reasons[outcome] != NULL)
		free(reason);
	else
		result->reasons[outcome] = reason;
}

/* Writes the check's observations into the journal. */
static int add_seen(struct result *result, enum journal_type type, const cJSON *line,
		    struct error *err)
{
	int rc = 0;
	if (result->journal != NULL)
		rc = journal_add_seen(result->journal, result->check, type, line, err);
	if (rc < 0)
		return rc;

	if (type == JOURNAL_DEVICE && !text_list_has(&result->devices, field_string(line, "ref")))
		text_list_add(&result->devices, field_string(line, "ref"));
	if (type != JOURNAL_ASSERTION)
		return 0;
	result->asserted = true;
	if (!cJSON_IsTrue(field_get(line, "ok")))
		keep_reason(result, REPORT_FAIL,
			    text_format("%s: got %s, expected %s", field_string(line, "what"),
					field_string(line, "saw"), field_string(line, "wanted")));
	return 0;
}

static int add_watched(struct result *result, const struct json_at *line, struct error *err)
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

static int add_failing(struct result *result, const struct json_at *line, struct error *err)
{
	struct text_list before CLEANUP_TEXT_LIST = result->failing;
	const char *device = "";
	int rc = json_need_string(line, "device", &device, err);
	result->failing = (struct text_list){0};
	text_each (other, &before)
		if (!text_equal(other, device))
			text_list_add(&result->failing, other);
	if (rc == 0 && cJSON_IsTrue(field_get(line->node, "fails")))
		text_list_add(&result->failing, device);
	return rc;
}

static int add_remark(struct result *result, const struct json_at *line, struct error *err)
{
	const char *name = "";
	const char *text = "";
	int rc = json_need_string(line, "outcome", &name, err);
	if (rc == 0)
		rc = json_need_string(line, "text", &text, err);
	if (rc < 0)
		return rc;
	enum report_outcome outcome = report_outcome_of(name);
	if (outcome == REPORT_OUTCOME_COUNT)
		return error_set(err, ERROR_FORMAT, "unknown outcome '%s'", name);
	keep_reason(result, outcome, memory_copy(text));
	return 0;
}

static int add_line(struct result *result, const cJSON *json, struct error *err)
{
	const struct json_at line = json_root(json);
	const char *type = "";
	const char *text = "";
	int64_t number = 0;
	int rc = json_need_string(&line, "type", &type, err);
	if (rc < 0)
		return rc;

	bool *flag = text_equal(type, "finished") ? &result->finished : NULL;
	if (text_equal(type, "kept"))
		flag = &result->kept;
	if (flag != NULL) {
		*flag = true;
		return 0;
	}
	if (text_equal(type, "watched"))
		return add_watched(result, &line, err);
	if (text_equal(type, "failing"))
		return add_failing(result, &line, err);
	if (text_equal(type, "remark"))
		return add_remark(result, &line, err);
	if (text_equal(type, "advice")) {
		rc = json_need_string(&line, "text", &text, err);
		if (rc == 0 && result->advice == NULL)
			result->advice = memory_copy(text);
		return rc;
	}
	if (text_equal(type, "time")) {
		int64_t ns = 0;
		rc = json_need_int(&line, "phase", 0, REPORT_PHASE_COUNT - 1, &number, err);
		if (rc == 0)
			rc = json_need_int(&line, "ns", 0, INT64_MAX, &ns, err);
		if (rc == 0)
			result->time_ns[number] += (uint64_t)ns;
		return rc;
	}
	if (text_equal(type, "plugin")) {
		rc = json_need_string(&line, "resource", &text, err);
		if (rc == 0)
			rc = json_need_int(&line, "pid", 0, INT32_MAX, &number, err);
		if (rc == 0 && result->on_plugin != NULL)
			result->on_plugin(text, (int)number, result->user);
		return rc;
	}

	enum journal_type record = journal_type_of(type);
	if (record == JOURNAL_TYPE_COUNT || !journal_shapes[record].seen)
		return error_set(err, ERROR_FORMAT, "unknown record '%s'", type);
	return add_seen(result, record, json, err);
}

int result_add_line(struct result *result, const char *line, size_t size, struct error *err)
{
	cJSON *json CLEANUP_JSON = NULL;
	result->bytes += size;
	if (result->bytes > RESULT_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d bytes", (int)RESULT_MAX);
	int rc = json_parse(line, size, &json, err);
	return rc == 0 ? add_line(result, json, err) : rc;
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
