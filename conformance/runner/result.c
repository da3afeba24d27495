/* SPDX-License-Identifier: MIT */
#include "conformance/runner/result.h"

#include "base/text.h"

#include <string.h>

int result_new(struct result *result, struct error *err)
{
	*result = (struct result){
		.assertions = cJSON_CreateArray(),
		.evidence = cJSON_CreateArray(),
		.notes = cJSON_CreateArray(),
		.devices = cJSON_CreateArray(),
	};
	if (result->assertions == NULL || result->evidence == NULL || result->notes == NULL ||
	    result->devices == NULL) {
		result_free(result);
		return error_memory(err);
	}
	return 0;
}

void result_free(struct result *result)
{
	cJSON_Delete(result->assertions);
	cJSON_Delete(result->evidence);
	cJSON_Delete(result->notes);
	cJSON_Delete(result->devices);
	free(result->failed);
	free(result->broken);
	free(result->unsupported);
	free(result->not_applicable);
	*result = (struct result){0};
}

/* Moves the record into `array` without its type. */
static int result_keep(cJSON *array, cJSON **record, struct error *err)
{
	cJSON_DeleteItemFromObjectCaseSensitive(*record, "record");
	if (!cJSON_AddItemToArray(array, *record))
		return error_memory(err);
	*record = NULL;
	return 0;
}

static int result_add_assertion(struct result *result, cJSON **record, struct error *err)
{
	struct json_at root = json_root(*record);
	const char *what = "";
	const char *wanted = "";
	const char *saw = "";
	bool held = false;
	int rc = json_need_string(&root, "what", &what, err);

	rc = rc == 0 ? json_need_string(&root, "wanted", &wanted, err) : rc;
	rc = rc == 0 ? json_need_string(&root, "saw", &saw, err) : rc;
	rc = rc == 0 ? json_need_bool(&root, "ok", &held, err) : rc;
	if (rc < 0)
		return rc;
	if (!held && result->failed == NULL) {
		result->failed = text_format("%s: saw %s, wanted %s", what, saw, wanted);
		if (result->failed == NULL)
			return error_memory(err);
	}
	return result_keep(result->assertions, record, err);
}

static int result_add_time(struct result *result, const cJSON *record, struct error *err)
{
	struct json_at root = json_root(record);
	int64_t phase = 0;
	int64_t ns = 0;
	int rc = json_need_int(&root, "phase", 0, REPORT_PHASE_COUNT - 1, &phase, err);

	rc = rc == 0 ? json_need_int(&root, "ns", 0, INT64_MAX, &ns, err) : rc;
	if (rc == 0)
		result->time_ns[phase] += (uint64_t)ns;
	return rc;
}

static int result_add_watched(struct result *result, const cJSON *record, struct error *err)
{
	struct json_at root = json_root(record);
	int64_t ms = 0;
	int64_t thorough_ms = 0;
	int rc = json_need_int(&root, "ms", 0, INT32_MAX, &ms, err);

	rc = rc == 0 ? json_need_int(&root, "thoroughMs", 1, INT32_MAX, &thorough_ms, err) : rc;
	if (rc == 0 && (result->watched_thorough_ms == 0 || (uint64_t)ms < result->watched_ms)) {
		result->watched_ms = (uint64_t)ms;
		result->watched_thorough_ms = (uint64_t)thorough_ms;
	}
	return rc;
}

static int result_add_device(struct result *result, const cJSON *record, struct error *err)
{
	struct json_at root = json_root(record);
	const cJSON *known = NULL;
	const char *id = "";
	int rc = json_need_string(&root, "text", &id, err);

	if (rc < 0)
		return rc;
	cJSON_ArrayForEach (known, result->devices) {
		if (text_equal(cJSON_GetStringValue(known), id))
			return 0;
	}
	return cJSON_AddItemToArray(result->devices, cJSON_CreateString(id)) ? 0
									     : error_memory(err);
}

static int result_add_plugin(struct result *result, const cJSON *record, struct error *err)
{
	struct json_at root = json_root(record);
	const char *resource = "";
	int64_t pid = 0;
	int rc = json_need_string(&root, "resource", &resource, err);

	rc = rc == 0 ? json_need_int(&root, "pid", 0, INT32_MAX, &pid, err) : rc;
	if (rc == 0 && result->on_plugin != NULL)
		result->on_plugin(resource, (int)pid, result->user);
	return rc;
}

static int result_add_remark(struct result *result, const char *type, const cJSON *record,
			     struct error *err)
{
	struct json_at root = json_root(record);
	const char *text = "";
	char **first = strcmp(type, "broken") == 0	  ? &result->broken
		       : strcmp(type, "unsupported") == 0 ? &result->unsupported
							  : &result->not_applicable;
	int rc = json_need_string(&root, "text", &text, err);

	if (rc < 0)
		return rc;
	if (strcmp(type, "note") == 0)
		return cJSON_AddItemToArray(result->notes, cJSON_CreateString(text))
			       ? 0
			       : error_memory(err);
	if (*first == NULL)
		*first = strdup(text);
	return *first != NULL ? 0 : error_memory(err);
}

static int result_add_record(struct result *result, cJSON **record, struct error *err)
{
	struct json_at root = json_root(*record);
	const char *type = "";
	int rc = json_need_string(&root, "record", &type, err);

	if (rc < 0)
		return rc;
	if (strcmp(type, "assertion") == 0)
		return result_add_assertion(result, record, err);
	if (strcmp(type, "evidence") == 0)
		return result_keep(result->evidence, record, err);
	if (strcmp(type, "device") == 0)
		return result_add_device(result, *record, err);
	if (strcmp(type, "plugin") == 0)
		return result_add_plugin(result, *record, err);
	if (strcmp(type, "time") == 0)
		return result_add_time(result, *record, err);
	if (strcmp(type, "watched") == 0)
		return result_add_watched(result, *record, err);
	if (strcmp(type, "broken") == 0 || strcmp(type, "unsupported") == 0 ||
	    strcmp(type, "not-applicable") == 0 || strcmp(type, "note") == 0)
		return result_add_remark(result, type, *record, err);
	if (strcmp(type, "finished") != 0)
		return error_set(err, ERROR_FORMAT, "unknown record '%s'", type);
	result->finished = true;
	return 0;
}

int result_add_line(struct result *result, const char *line, size_t size, struct error *err)
{
	cJSON *record CLEANUP_JSON = NULL;
	int rc = 0;

	if (size > RESULT_LINE_MAX)
		return error_set(err, ERROR_LIMIT, "a record is longer than %d bytes",
				 RESULT_LINE_MAX);
	if (++result->records > RESULT_RECORDS_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d records", RESULT_RECORDS_MAX);
	rc = json_parse(line, size, &record, err);
	return rc == 0 ? result_add_record(result, &record, err) : rc;
}

enum report_outcome result_outcome(const struct result *result, const char **reason)
{
	*reason = "";
	if (result->broken != NULL) {
		*reason = result->broken;
		return REPORT_BROKEN;
	}
	if (result->failed != NULL) {
		*reason = result->failed;
		return REPORT_FAIL;
	}
	if (result->unsupported != NULL) {
		*reason = result->unsupported;
		return REPORT_UNSUPPORTED;
	}
	if (result->not_applicable != NULL) {
		*reason = result->not_applicable;
		return REPORT_NOT_APPLICABLE;
	}
	if (cJSON_GetArraySize(result->assertions) == 0) {
		*reason = "the check recorded nothing";
		return REPORT_BROKEN;
	}
	return REPORT_PASS;
}
