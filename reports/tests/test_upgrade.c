/* SPDX-License-Identifier: MIT */

/* Files of earlier versions, as earlier states of the project wrote them, and versions that cannot be read. */

#include "base/tests/unit.h"
#include "reports/report_file.h"
#include "reports/tests/cases.h"
#include "reports/upgrade/upgrade.h"
#include "reports/view.h"

#include <string.h>

static cJSON *read_previous(const char *name, const char *file)
{
	char *path CLEANUP_FREE = text_format("%s/previous/%s/%s", GOLDEN, name, file);
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	cJSON *report = NULL;
	struct error err = {0};
	int rc = text_ends_with(file, ".json") ? report_file_read(path, NULL, &report, &err)
					       : journal_read(path, &log, &err);
	if (rc == 0 && log.count > 0)
		rc = report_render(&log, &report, &err);
	if (rc < 0)
		(void)fprintf(stderr, "%s\n", err.text);
	CU_ASSERT_EQUAL_FATAL(rc, 0);
	return report;
}

/* What the two ways leave different: version 1 named checks without variant in a requirement. */
static void remove_known(cJSON *report)
{
	json_each (requirement, json_pointer(report, "/requirements"))
		cJSON_DeleteItemFromObject((cJSON *)(uintptr_t)requirement, "checks");
}

/* The journal of an earlier version, upgraded and rendered, gives the report of that version, upgraded. */
static void test_both_ways(void)
{
	static const char *const names[] = {"complete", "hostile", "killed", "yesterday"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cJSON *rendered CLEANUP_JSON = read_previous(names[i], "journal.ndjson");
		cJSON *stored CLEANUP_JSON = read_previous(names[i], "report.json");
		UNIT_STRING(view_string(stored, "/schema"), REPORT_SCHEMA);
		CU_ASSERT(json_count(&(struct json_at){.node = json_pointer(stored, "/checks")}) >
			  2);
		remove_known(rendered);
		remove_known(stored);
		CU_ASSERT(cJSON_Compare(rendered, stored, true));
	}
}

static const cJSON *check_of(const cJSON *report, const char *id)
{
	json_each (check, json_pointer(report, "/checks")) {
		if (strcmp(view_string(check, "/id"), id) == 0)
			return check;
	}
	CU_FAIL("no such check");
	return NULL;
}

static void test_members(void)
{
	cJSON *report CLEANUP_JSON = read_previous("outcomes", "report.json");
	const cJSON *flap = check_of(report, "restart.flap");
	const cJSON *kill = check_of(report, "restart.kill");
	UNIT_INT(view_int(flap, "/time/startedMs"), 2588);
	CU_ASSERT_PTR_NULL(json_pointer(flap, "/attempts"));
	CU_ASSERT_PTR_NULL(json_pointer(flap, "/time/n"));
	UNIT_STRING(view_string(flap, "/disposition"), "as-expected");
	UNIT_STRING(view_string(kill, "/outcome"), "unsupported");
	CU_ASSERT(cJSON_IsNull(json_pointer(kill, "/time")));
	(void)check_of(report, "isolation.single-device@vulkan");
	UNIT_INT(view_int(report, "/totals/outcome/unsupported"), 2);
	CU_ASSERT_PTR_NULL(json_pointer(report, "/totals/outcome/skip"));
	CU_ASSERT(cJSON_IsArray(json_pointer(report, "/predictions")));
	cJSON *first CLEANUP_JSON = read_previous("first", "report.json");
	CU_ASSERT(cJSON_IsNull(json_pointer(first, "/run/settings")));
	CU_ASSERT(cJSON_IsNull(json_pointer(first, "/checks/0/watched")));
}

/* Members of the wrong type are left for the reader. */
static void test_strange(void)
{
	static const char *const reports[] = {
		"{\"schema\": \"gpucert-report/1\"}",
		"{\"schema\": \"gpucert-report/1\", \"checks\": 1, \"run\": [], \"totals\": \"\"}",
		"{\"schema\": \"gpucert-report/1\", \"checks\": [1, {\"id\": 3, \"variant\": \"v\", "
		"\"attempts\": {\"a\": 1}, \"notes\": 2}, {\"variant\": [], \"attempts\": [1, 2]}]}",
		"{\"schema\": \"gpucert-report/1\", \"totals\": {\"outcome\": {\"skip\": \"a\", "
		"\"unsupported\": 1e300}}, \"requirements\": [0]}",
	};
	for (size_t i = 0; i < ARRAY_SIZE(reports); i++) {
		cJSON *report CLEANUP_JSON = cJSON_Parse(reports[i]);
		struct error err = {0};
		UNIT_INT(schema_upgrade(&report_schema, report, report, &err), 0);
		UNIT_STRING(view_string(report, "/schema"), REPORT_SCHEMA);
	}
}

static int step(cJSON *document, struct error *err)
{
	(void)err;
	return cJSON_AddItemToArray(cJSON_GetObjectItem(document, "steps"), cJSON_CreateNull())
		       ? 0
		       : ERROR_MEMORY;
}

static void test_versions(void)
{
	static schema_step *const steps[] = {step, step, NULL};
	static const struct schema schema = {"gpucert-x/12", steps};
	static const struct {
		const char *value;
		int rc, steps;
		const char *says;
	} rows[] = {
		{"\"gpucert-x/12\"", 0, 0, ""},
		{"\"gpucert-x/11\"", 0, 1, ""},
		{"\"gpucert-x/10\"", 0, 2, ""},
		{"\"gpucert-x/9\"", ERROR_UNSUPPORTED, 0, "begins with version 10"},
		{"\"gpucert-x/13\"", ERROR_UNSUPPORTED, 0, "newer gpucert"},
		{"\"gpucert-x/13\"", ERROR_UNSUPPORTED, 0, "update gpucert"},
		{"\"gpucert-x/012\"", ERROR_FORMAT, 0, "schema: expected \"gpucert-x/12\""},
		{"\"gpucert-x/12 \"", ERROR_FORMAT, 0, "expected"},
		{"\"gpucert-x/0\"", ERROR_FORMAT, 0, "expected"},
		{"\"gpucert-x/\"", ERROR_FORMAT, 0, "expected"},
		{"\"gpucert-x/99999999999999999999\"", ERROR_FORMAT, 0, "expected"},
		{"\"gpucert-y/12\"", ERROR_FORMAT, 0, "expected"},
		{"12", ERROR_FORMAT, 0, "expected string"},
		{"null", ERROR_FORMAT, 0, "missing"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text CLEANUP_FREE =
			text_format("{\"schema\": %s, \"steps\": []}", rows[i].value);
		cJSON *document CLEANUP_JSON = cJSON_Parse(text);
		struct error err = {0};
		UNIT_INT(schema_upgrade(&schema, document, document, &err), rows[i].rc);
		UNIT_CONTAINS(err.text, rows[i].says);
		UNIT_INT(cJSON_GetArraySize(json_pointer(document, "/steps")), rows[i].steps);
		CU_ASSERT(rows[i].rc != 0 ||
			  strcmp(view_string(document, "/schema"), schema.today) == 0);
	}
}

/* The first journals had no digests, so whatever was changed in them cannot be seen. */
static void test_first_journal(void)
{
	char *path CLEANUP_FREE = golden_path("previous/first", JOURNAL_FILE_NAME);
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	struct error err = {0};
	UNIT_INT(journal_read(path, &log, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text,
		      "journal.ndjson:1: prev: missing; the journal is of a gpucert before");
}

static void refuse_journal(const char *text, int rc, const char *says)
{
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	struct error err = {0};
	UNIT_INT(journal_parse("j", text, strlen(text), &log, &err), rc);
	UNIT_CONTAINS(err.text, says);
}

#define HEAD(seq, type) "{\"seq\":" seq ",\"atMs\":0,\"time\":\"t\",\"type\":\"" type "\""

static void test_journals(void)
{
	refuse_journal(HEAD("1", "run-begin") ",\"schema\":\"gpucert-journal/3\"}\n",
		       ERROR_UNSUPPORTED, "j:1: schema: gpucert-journal/3 is of a newer gpucert");
	refuse_journal(HEAD("1", "run-begin") ",\"schema\":\"gpucert-report/2\"}\n", ERROR_FORMAT,
		       "j:1: schema: expected \"gpucert-journal/2\"");
	/* What stood in one line is refused by its line. */
	static const char *const lines[] = {
		"\"type\":\"run-begin\",\"schema\":\"gpucert-journal/1\",\"id\":\"r\","
		"\"harness\":{\"version\":\"0\",\"compiler\":\"c\"},\"invocation\":{\"argv\":[],"
		"\"timeoutPercent\":100,\"minRun\":0,\"conformanceRequired\":false}",
		"\"type\":\"plan\",\"settings\":{\"launcher\":\"none\",\"profile\":\"\",\"thorough\":"
		"false},\"filteredOut\":0,\"requirements\":[],\"checks\":[{\"id\":\"a.b\",\"variant\":"
		"null,\"revision\":1,\"requirement\":null,\"severity\":\"low\",\"title\":\"\","
		"\"advice\":\"\"}]",
		"\"type\":\"check-begin\",\"check\":\"a.b\",\"attempt\":1,\"timeoutMs\":1",
		"\"type\":\"check-end\",\"check\":\"a.b\",\"attempt\":1,\"outcome\":\"fail\","
		"\"reason\":\"\",\"durationMs\":0,\"phasesMs\":{},\"assertions\":[],\"notes\":[\"n\", "
		"3],\"evidence\":[],\"devices\":[],\"leftOut\":0",
		NULL};
	struct error err = {0};
	cJSON *report CLEANUP_JSON = report_of_lines(lines, &err);
	CU_ASSERT_PTR_NULL(report);
	UNIT_STRING(err.text, "j:4: text: expected string");
}

UNIT_MAIN("upgrade", {"both ways", test_both_ways}, {"members", test_members},
	  {"strange", test_strange}, {"versions", test_versions}, {"journals", test_journals},
	  {"the first journal", test_first_journal})
