/* SPDX-License-Identifier: MIT */

/* Reports of many nodes, and of some that lie. */

#include "base/tests/unit.h"
#include "reports/fleet/fleet.h"

#include "base/file.h"
#include "base/json.h"

struct small {
	const char *path, *run, *started, *kind, *result, *version, *outcome, *reason, *host;
};

/* Runs began in this order unless a row says more. */
static const struct small honest[] = {
	{"r/a/report.json", "1", "2026-01-01", "live", "conformant", "570", "pass", "", NULL},
	{"r/b/report.json", "2", "2026-01-02", "live", "conformant", "570", "pass", "", NULL},
	{"r/c/report.json", "3", "2026-01-03", "live", "violated", "570", "fail",
	 "got 0000:3b:00.0 of 7", NULL},
	{"r/d/report.json", "4", "2026-01-04", "live", "violated", "570", "fail",
	 "got 0000:af:00.0 of 8", "d.example.internal"},
	{"r/e/report.json", "5", "2026-01-05", "live", "incomplete", "550", "timeout", "too long",
	 NULL},
	{"r/f.example.internal/report.json", "6", "2026-01-06", "live", "conformant", "570", "pass",
	 "", "F"},
	{"old/e/report.json", "7", "2026-01-01", "live", "conformant", "550", "pass", "", NULL},
	{"copy/a/report.json", "1", "2026-01-01", "live", "conformant", "570", "pass", "", NULL},
};

static cJSON *report_of(const struct small *small)
{
	struct text json CLEANUP_TEXT = {0};
	cJSON *report = NULL;
	text_addf(&json,
		  "{\"run\": {\"started\": \"%s\", \"journal\": {\"digest\": \"%s\"}}, "
		  "\"environment\": {\"node\": {\"kind\": \"%s\"}, \"os\": {\"product\": \"D\"}, "
		  "\"drivers\": [{\"key\": \"n\", \"version\": \"%s\"}], \"plugin\": {\"name\": "
		  "\"p\", \"version\": \"1\"}, ",
		  small->started, small->run, small->kind, small->version);
	if (small->host != NULL)
		text_addf(&json,
			  "\"redaction\": {\"facts\": [{\"kind\": \"user\", \"value\": \"x\"}, "
			  "{\"kind\": \"host\", \"value\": \"%s\"}]}",
			  small->host);
	else
		text_add(&json, "\"redaction\": {}");
	text_addf(
		&json,
		"}, \"verdict\": {\"conformance\": {\"result\": \"%s\"}}, \"checks\": [{\"id\": "
		"\"s.x\", \"level\": \"must\", \"outcome\": \"%s\", \"reason\": \"%s\"}, {\"id\": "
		"\"s.x\", \"level\": \"must\", \"outcome\": \"%s\", \"reason\": \"%s\"}]}",
		small->result, small->outcome, small->reason, small->outcome, small->reason);
	UNIT_INT(json_parse(text_string(&json), json.size, &report, NULL), 0);
	return report;
}

static int add(struct fleet_merge *merge, const struct small *small, struct error *err)
{
	cJSON *report CLEANUP_JSON = report_of(small);
	return fleet_merge_add(small->path, report, merge, err);
}

static void add_honest(struct fleet_merge *merge, bool backwards)
{
	const size_t count = ARRAY_SIZE(honest);
	for (size_t i = 0; i < count; i++) {
		struct error err = {0};
		UNIT_INT(add(merge, &honest[backwards ? count - 1 - i : i], &err), 0);
		UNIT_STRING(err.text, "");
	}
	fleet_merge_finish(merge);
}

static void test_groups(void)
{
	struct fleet_merge merge CLEANUP_FLEET_MERGE = {0};
	struct text out CLEANUP_TEXT = {0};
	const struct writer_options plain = {0};
	add_honest(&merge, false);
	fleet_merge_add_text(&merge, &plain, &out);
	UNIT_STRING(
		text_string(&out),
		"6 nodes: 3 conformant, 2 violated, 1 incomplete; reports: 2 superseded, 0 refused\n"
		"\n"
		"OUTLIERS: fewer than half of the nodes with the same environment\n"
		"     2 of 5      s.x: fail: got # of #\n"
		"                 on n 570, D, p 1\n"
		"                 nodes c, d\n"
		"\n"
		"COMMON: half of the nodes with the same environment, or more\n"
		"     1 of 1      s.x: timeout: too long\n"
		"                 on n 550, D, p 1\n"
		"                 nodes e\n"
		"\n"
		"ENVIRONMENTS: the rarest first\n"
		"     0 of 1      conformant on n 550, D, p 1\n"
		"     3 of 5      conformant on n 570, D, p 1\n");
	UNIT_INT((int)merge.superseded.count, 2);
	UNIT_STRING(merge.superseded.items[0], "old/e/report.json: e has a newer report");
	UNIT_STRING(merge.superseded.items[1], "r/a/report.json: a has a newer report");
}

static void test_order(void)
{
	struct fleet_merge one CLEANUP_FLEET_MERGE = {0};
	struct fleet_merge other CLEANUP_FLEET_MERGE = {0};
	add_honest(&one, false);
	add_honest(&other, true);
	char *a CLEANUP_FREE = fleet_merge_json(&one);
	char *b CLEANUP_FREE = fleet_merge_json(&other);
	UNIT_STRING(a, b);
	UNIT_INT(
		file_write_atomic(GPUCERT_BINARY_DIR "/tests/fleet.json", a, strlen(a), 0644, NULL),
		0);
}

static void test_liars(void)
{
	static const struct {
		struct small report;
		const char *error;
	} rows[] = {
		{{"r/../report.json", "9", "2026", "live", "violated", "1", "pass", "", NULL},
		 "its folder '..' is not named as a node can be"},
		{{"report.json", "9", "2026", "live", "violated", "1", "pass", "", NULL},
		 "is not named as a node can be"},
		{{"r/A B/report.json", "9", "2026", "live", "violated", "1", "pass", "", NULL},
		 "its folder 'A B' is not named as a node can be"},
		{{"r/x/report.json", "9", "2026", "recorded", "violated", "1", "pass", "", NULL},
		 "the run was not on a live node: 'recorded'"},
		{{"r/x/report.json", "", "2026", "live", "violated", "1", "pass", "", NULL},
		 "run.journal.digest or run.started is missing"},
		{{"r/x/report.json", "9", "", "live", "violated", "1", "pass", "", NULL},
		 "run.journal.digest or run.started is missing"},
		{{"r/x/report.json", "9", "2026", "live", "violated", "1", "pass", "", "other"},
		 "the report of host 'other', not of node 'x'"},
		{{"r/x/report.json", "9", "2026", "live", "fine", "1", "pass", "", NULL},
		 "verdict.conformance.result: not a result"},
		{{"r/x/report.json", "9", "2026", "live", "conformant", "1", "crash", "", NULL},
		 "verdict.conformance: conformant, although s.x did not pass"},
		{{"r/x/report.json", "9", "2026", "live", "violated", "1", "won", "", NULL},
		 "outcome: 'won' is not an outcome"},
	};
	struct fleet_merge merge CLEANUP_FLEET_MERGE = {0};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error err = {0};
		UNIT_INT(add(&merge, &rows[i].report, &err), ERROR_FORMAT);
		UNIT_CONTAINS(err.text, rows[i].error);
	}
	fleet_merge_finish(&merge);
	UNIT_INT((int)merge.node_count, 0);
	UNIT_INT((int)merge.environment_count, 0);
	UNIT_INT((int)merge.group_count, 0);
}

/* Of a run that two nodes claim nobody knows whose it is. */
static void test_contested(void)
{
	static const struct small claims[] = {
		{"r/a/report.json", "1", "2026-01-01", "live", "conformant", "1", "pass", "", NULL},
		{"r/b/report.json", "1", "2026-01-01", "live", "conformant", "1", "pass", "", NULL},
		{"r/c/report.json", "2", "2026-01-01", "live", "conformant", "1", "pass", "",
		 NULL}};
	struct fleet_merge merge CLEANUP_FLEET_MERGE = {0};
	for (size_t i = 0; i < ARRAY_SIZE(claims); i++)
		UNIT_INT(add(&merge, &claims[i], NULL), 0);
	fleet_merge_finish(&merge);
	UNIT_INT((int)merge.node_count, 1);
	UNIT_STRING(merge.nodes[0].name, "c");
	UNIT_INT((int)merge.refused.count, 2);
	UNIT_STRING(merge.refused.items[0], "r/a/report.json: other nodes have the same run 1");
}

static void test_normalise(void)
{
	static const struct {
		const char *reason, *wanted;
	} rows[] = {
		{"", ""},
		{"no digits at all, added", "no digits at all, added"},
		{"got 12, expected 13", "got #, expected #"},
		{"0000:3b:00.0 and 10.0.0.1", "# and #"},
		{"at 0x7fff12ab", "at #"},
		{"GPU-1a2b3c4d-dead-4444-beef-123456789abc is away", "GPU-# is away"},
		{"<serial-1a2b3c4d> in <host-2>", "<serial-#> in <host-#>"},
		{"renderD128 and libz.so.1", "renderD# and libz.so.#"},
		{"caf\xc3\xa9 9", "caf\xc3\xa9 #"},
		{"1-dead", "#"},
		{"1 - dead", "# - dead"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text out CLEANUP_TEXT = {0};
		fleet_add_normalised(rows[i].reason, &out);
		UNIT_STRING(text_string(&out), rows[i].wanted);
	}
}

UNIT_MAIN("fleet merge", {"groups, outliers first", test_groups},
	  {"the order of the reports does not matter", test_order},
	  {"reports that lie are refused", test_liars},
	  {"a run of two nodes is refused", test_contested},
	  {"reasons without what differs", test_normalise})
