/* SPDX-License-Identifier: MIT */

/* A golden report against itself with one thing changed in each row. */

#include "base/tests/unit.h"
#include "reports/pages/compare/compare.h"
#include "reports/report_file.h"

#include "base/cleanup.h"
#include "base/file.h"

#define GOLDEN GPUCERT_SOURCE_DIR "/reports/tests/golden/complete/reference.json"

/* The value at a place, in JSON; NULL: it is removed. */
struct edit {
	const char *pointer, *json;
};

static cJSON *read_golden(void)
{
	cJSON *report = NULL;
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(report_file_read(GOLDEN, NULL, &report, &err), 0);
	return report;
}

static void print(const struct comparison *comparison, const struct doc_writer *form,
		  struct text *out)
{
	struct doc doc CLEANUP_DOC = {.writer = form};
	comparison_write(comparison, 0, &doc);
	text_reset(out);
	text_add_all(out, &doc.out);
}

static void edit(cJSON *report, const struct edit *edit)
{
	char *parent CLEANUP_FREE = strdup(edit->pointer);
	char *key = strrchr(parent, '/');
	*key++ = '\0';
	const int index = key[0] - '0'; /* of an array */
	cJSON *node = (cJSON *)(uintptr_t)json_pointer(report, parent);
	CU_ASSERT_PTR_NOT_NULL_FATAL(node);
	if (cJSON_IsArray(node)) {
		cJSON_DeleteItemFromArray(node, index);
		if (edit->json != NULL)
			cJSON_InsertItemInArray(node, index, cJSON_Parse(edit->json));
		return;
	}
	cJSON_DeleteItemFromObject(node, key);
	if (edit->json != NULL)
		cJSON_AddItemToObject(node, key, cJSON_Parse(edit->json));
}

static void test_headlines(void)
{
	static const struct {
		struct edit from[2], to[3];
		const char *headline;
	} rows[] = {
		{{{0}}, {{0}}, "the same environment: every outcome is the same"},
		{{{0}},
		 {{"/environment/drivers/0/version", "\"23.1.0\""},
		  {"/environment/devices/0/runtimeFiles/digest", "\"sha256:22\""},
		  {"/checks/0/outcome", "\"fail\""}},
		 "driver lavapipe 22.3.6, pocl 3.1 → lavapipe 23.1.0, pocl 3.1: 1 regression"},
		{{{0}},
		 {{"/environment/plugin/binaryDigest", "\"sha256:55\""}},
		 "plugin device-plugin-gpu 0.1.0 (the same name, other content): every outcome is the same"},
		{{{"/checks/0/outcome", "\"timeout\""}, {"/checks/1/outcome", "\"crash\""}},
		 {{"/environment/os/kernel", "\"6.1.0-28-amd64\""}},
		 "OS Debian GNU/Linux 12 (bookworm) 6.1.0-27-amd64 → Debian GNU/Linux 12 (bookworm) "
		 "6.1.0-28-amd64: 2 fixes"},
		{{{0}},
		 {{"/environment/os/kernel", "\"6.1.0-28-amd64\""},
		  {"/environment/node/machine", "{\"kernel\": \"6.1.0-28-amd64\"}"}},
		 "OS Debian GNU/Linux 12 (bookworm) 6.1.0-27-amd64 → Debian GNU/Linux 12 (bookworm) "
		 "6.1.0-28-amd64: every outcome is the same"},
		{{{0}},
		 {{"/environment/os/kernel", "\"6.1.0-28-amd64\""},
		  {"/environment/runtime/version", "\"1.7.0\""},
		  {"/environment/harness/version", "\"0.2.0\""}},
		 "OS, runtime and harness differ: every outcome is the same"},
		{{{"/checks/0", NULL}},
		 {{"/checks/6", NULL},
		  {"/checks/2/revision", "9"},
		  {"/checks/1/outcome", "\"unsupported\""}},
		 "the same environment: 1 regression, 1 new check, 1 check gone, 1 not comparable"},
		{{{"/checks/0/outcome", "\"fail\""}},
		 {{"/checks/0/outcome", "\"crash\""}},
		 "the same environment: 1 other change"},
		{{{"/checks/0/outcome", "\"fail\""}, {"/checks/1/outcome", "\"broken\""}},
		 {{"/checks/0/outcome", "\"notrun\""}},
		 "the same environment: 2 not comparable"},
		{{{"/checks/0/outcome", "\"unsupported\""}},
		 {{"/checks/1/outcome", "\"unsupported\""}, {"/checks/2/outcome", "\"broken\""}},
		 "the same environment: 2 regressions, 1 other change"},
		{{{0}},
		 {{"/checks/0/outcome", "\"notrun\""}, {"/checks/1/outcome", "\"not-applicable\""}},
		 "the same environment: 2 regressions"},
		{{{0}},
		 {{"/environment/drivers/0/version", "\"23.1.0\""},
		  {"/checks/1/outcome", "\"not-applicable\""}},
		 "driver lavapipe 22.3.6, pocl 3.1 → lavapipe 23.1.0, pocl 3.1: 1 regression"},
		{{{0}},
		 {{"/environment/os/kernel", "\"6.1.0-28-amd64\""},
		  {"/checks/1/outcome", "\"not-applicable\""}},
		 "OS Debian GNU/Linux 12 (bookworm) 6.1.0-27-amd64 → Debian GNU/Linux 12 (bookworm) "
		 "6.1.0-28-amd64: 1 regression"},
		{{{0}},
		 {{"/environment/os/name", "\"windows\""},
		  {"/checks/0/outcome", "\"unsupported\""},
		  {"/checks/1/outcome", "\"not-applicable\""}},
		 "the same environment: 1 regression, 1 other change"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cJSON *from CLEANUP_JSON = read_golden();
		cJSON *to CLEANUP_JSON = read_golden();
		struct comparison comparison CLEANUP_COMPARISON = {0};
		struct text headline CLEANUP_TEXT = {0};
		struct error err = {0};
		for (size_t k = 0; k < 2 && rows[i].from[k].pointer != NULL; k++)
			edit(from, &rows[i].from[k]);
		for (size_t k = 0; k < 3 && rows[i].to[k].pointer != NULL; k++)
			edit(to, &rows[i].to[k]);
		CU_ASSERT_EQUAL_FATAL(comparison_make(from, to, &comparison, &err), 0);
		comparison_add_headline(&comparison, &headline);
		UNIT_STRING(text_string(&headline), rows[i].headline);
	}
}

/* What a Windows host's build brings with it does not hide that the build alone moved. */
static void test_followers(void)
{
	static const struct edit windows[] = {{"/environment/os/name", "\"windows\""},
					      {"/environment/os/build", "20348"},
					      {"/environment/os/revision", "1547"}};
	static const struct edit newer[] = {
		{"/environment/os/build", "26100"},
		{"/environment/images/0/osVersion", "\"10.0.26100.1\""}};
	cJSON *from CLEANUP_JSON = read_golden();
	cJSON *to CLEANUP_JSON = read_golden();
	struct comparison comparison CLEANUP_COMPARISON = {0};
	struct error err = {0};
	for (size_t i = 0; i < ARRAY_SIZE(windows); i++) {
		edit(from, &windows[i]);
		edit(to, &windows[i]);
	}
	edit(to, &newer[0]);
	edit(to, &newer[1]);
	CU_ASSERT_EQUAL_FATAL(comparison_make(from, to, &comparison, &err), 0);
	CU_ASSERT_EQUAL(comparison_only_part(&comparison), COMPARE_OS);
	CU_ASSERT(comparison.differences[COMPARE_IMAGE].follows);
}

/* A recording of another driver is another file, which also the plugin that replays it has among its files. */
static void test_recordings(void)
{
	static const char *const nodes[] = {
		"{\"kind\": \"recorded\", \"file\": \"a.json\", \"digest\": \"sha256:aa\", \"machine\": {\"kernel\": \"1\"}}",
		"{\"kind\": \"recorded\", \"file\": \"b.json\", \"digest\": \"sha256:bb\", \"machine\": {\"kernel\": \"1\"}}",
		"{\"kind\": \"recorded\", \"file\": \"b.json\", \"digest\": \"sha256:bb\", \"machine\": {\"kernel\": \"2\"}}"};
	const struct {
		const char *node, *files, *driver;
		enum compare_part only;
	} rows[] = {
		{nodes[1], "[\"sha256:bb\", \"sha256:cc\"]", "\"23.1.0\"", COMPARE_DRIVER},
		{nodes[1], "[\"sha256:bb\", \"sha256:dd\"]", "\"23.1.0\"", COMPARE_PART_COUNT},
		{nodes[1], "[\"sha256:bb\", \"sha256:cc\"]", "\"22.3.6\"", COMPARE_NODE},
		{nodes[2], "[\"sha256:bb\", \"sha256:cc\"]", "\"23.1.0\"", COMPARE_PART_COUNT},
		{nodes[0], "[\"sha256:cc\", \"sha256:aa\"]", "\"23.1.0\"", COMPARE_DRIVER},
		{nodes[0], "[\"sha256:bb\", \"sha256:cc\"]", "\"22.3.6\"", COMPARE_PLUGIN},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct edit before[] = {
			{"/environment/node", nodes[0]},
			{"/environment/plugin/fileDigests", "[\"sha256:aa\", \"sha256:cc\"]"}};
		const struct edit after[] = {{"/environment/node", rows[i].node},
					     {"/environment/plugin/fileDigests", rows[i].files},
					     {"/environment/drivers/0/version", rows[i].driver}};
		cJSON *from CLEANUP_JSON = read_golden();
		cJSON *to CLEANUP_JSON = read_golden();
		struct comparison comparison CLEANUP_COMPARISON = {0};
		struct error err = {0};
		for (size_t k = 0; k < ARRAY_SIZE(before); k++)
			edit(from, &before[k]);
		for (size_t k = 0; k < ARRAY_SIZE(after); k++)
			edit(to, &after[k]);
		CU_ASSERT_EQUAL_FATAL(comparison_make(from, to, &comparison, &err), 0);
		UNIT_INT(comparison_only_part(&comparison), rows[i].only);
	}
}

static void test_text_and_json(void)
{
	static const struct edit hostile[] = {
		{"/checks/0/outcome", "\"fail\""},
		{"/checks/0/reason", "\"\\u001b[31mred\""},
		{"/environment/runtime/version", "\"\\u001b]0;x\\u0007\""}};
	cJSON *from CLEANUP_JSON = read_golden();
	cJSON *to CLEANUP_JSON = read_golden();
	struct comparison comparison CLEANUP_COMPARISON = {0};
	struct text text CLEANUP_TEXT = {0};
	struct error err = {0};
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++)
		edit(to, &hostile[i]);
	CU_ASSERT_EQUAL_FATAL(comparison_make(from, to, &comparison, &err), 0);
	print(&comparison, &doc_terminal, &text);
	UNIT_CONTAINS(text_string(&text),
		      "regression  registration.in-time  pass    fail   \\x1b[31mred\n");
	UNIT_CONTAINS(text_string(&text), "runtime differs  containerd 1.6.20 ");
	UNIT_CONTAINS(text_string(&text), " containerd \\x1b]0;x\\x07\n");
	UNIT_CONTAINS(text_string(&text), "\nplugin           device-plugin-gpu 0.1.0 ");
	UNIT_CONTAINS(text_string(&text), " the same\n");
	CU_ASSERT_PTR_NULL(strchr(text_string(&text), '\x1b'));
	cJSON *json CLEANUP_JSON = comparison_to_json(&comparison);
	UNIT_STRING(json_pointer_string(json, "/onlyDifference"), "runtime");
	UNIT_STRING(json_pointer_string(json, "/changes/0/check"), "registration.in-time");
	CU_ASSERT_EQUAL(json_pointer_number(json, "/counts/same"), 6);
	CU_ASSERT_EQUAL(json_write_file(GPUCERT_BINARY_DIR "/tests/comparison.json", json, &err),
			0);
}

static void test_markdown(void)
{
	static const struct edit edits[] = {{"/checks/0/outcome", "\"fail\""},
					    {"/checks/0/reason", "\"a | b\\n<script>\""},
					    {"/environment/runtime/version", "\"*9* @somebody\""}};
	static const char path[] = GPUCERT_BINARY_DIR "/tests/comparison.md";
	cJSON *from CLEANUP_JSON = read_golden();
	cJSON *to CLEANUP_JSON = read_golden();
	struct comparison comparison CLEANUP_COMPARISON = {0};
	struct text text CLEANUP_TEXT = {0};
	struct error err = {0};
	for (size_t i = 0; i < ARRAY_SIZE(edits); i++)
		edit(to, &edits[i]);
	CU_ASSERT_EQUAL_FATAL(comparison_make(from, to, &comparison, &err), 0);
	print(&comparison, &doc_markdown, &text);
	UNIT_CONTAINS(
		text_string(&text),
		"| **runtime** differs | containerd 1.6.20 | containerd `*9*` `@somebody` |\n");
	UNIT_CONTAINS(text_string(&text), "| regression | registration.in-time | pass | fail | a");
	CU_ASSERT_PTR_NULL(strstr(text_string(&text), "| <script>"));
	CU_ASSERT_EQUAL(file_write_atomic(path, text_string(&text), text.size, 0644, NULL), 0);
}

/* What did not run because of one check is one line; JSON has each. */
static void test_held(void)
{
	static const struct edit edits[] = {{"/checks/0/outcome", "\"fail\""},
					    {"/checks/1/outcome", "\"notrun\""},
					    {"/checks/1/cause", "\"registration.in-time\""},
					    {"/checks/1/reason", "\"it failed\""},
					    {"/checks/2/outcome", "\"notrun\""},
					    {"/checks/2/cause", "\"registration.in-time\""},
					    {"/checks/2/reason", "\"it failed\""},
					    {"/checks/3/outcome", "\"notrun\""}};
	cJSON *from CLEANUP_JSON = read_golden();
	cJSON *to CLEANUP_JSON = read_golden();
	struct comparison comparison CLEANUP_COMPARISON = {0};
	struct text text CLEANUP_TEXT = {0};
	struct error err = {0};
	for (size_t i = 0; i < ARRAY_SIZE(edits); i++)
		edit(to, &edits[i]);
	CU_ASSERT_EQUAL_FATAL(comparison_make(from, to, &comparison, &err), 0);
	print(&comparison, &doc_terminal, &text);
	UNIT_CONTAINS(text_string(&text), " and 1 more  pass    notrun  it failed\n");
	UNIT_INT(comparison.kinds[COMPARE_REGRESSION], 4);
	cJSON *json CLEANUP_JSON = comparison_to_json(&comparison);
	UNIT_INT(cJSON_GetArraySize(json_pointer(json, "/changes")), 4);
	text_reset(&text);
	print(&comparison, &doc_markdown, &text);
	UNIT_CONTAINS(text_string(&text), " and 1 more | pass | notrun | it failed |\n");
}

/* As many changes as a summary takes, and one more. */
static void test_long_markdown(void)
{
	enum { CHANGES = 301 };
	char nothing[] = "";
	struct view_check check = {.id = "a", .reason = "", .cause = "", .outcome = REPORT_FAIL};
	struct compare_change changes[CHANGES] = {0};
	cJSON *from CLEANUP_JSON = read_golden();
	struct comparison comparison = {.from = from,
					.to = from,
					.from_path = nothing,
					.to_path = nothing,
					.conformance = {.from = nothing, .to = nothing},
					.changes = changes,
					.count = CHANGES};
	struct text text CLEANUP_TEXT = {0};
	size_t rows = 0;
	for (size_t i = 0; i < CHANGES; i++)
		changes[i] =
			(struct compare_change){.kind = COMPARE_FIX, .from = &check, .to = &check};
	for (size_t i = 0; i < COMPARE_PART_COUNT; i++)
		comparison.differences[i] =
			(struct compare_difference){.from = nothing, .to = nothing};
	print(&comparison, &doc_markdown, &text);
	for (const char *at = text_string(&text); (at = strstr(at, "| fix | ")) != NULL; at++)
		rows++;
	UNIT_INT(rows, CHANGES - 1);
	UNIT_CONTAINS(text_string(&text),
		      "\n1 more check changed: `gpucert compare` lists them all.\n");
}

/* Changes with one reason are one line; those without a reason are not. */
static void test_alike(void)
{
	static const struct edit edits[] = {{"/checks/0/outcome", "\"unsupported\""},
					    {"/checks/0/reason", "\"needs containers\""},
					    {"/checks/1/outcome", "\"unsupported\""},
					    {"/checks/1/reason", "\"needs containers\""},
					    {"/checks/2/outcome", "\"unsupported\""},
					    {"/checks/2/reason", "\"needs a device\""},
					    {"/checks/3/outcome", "\"fail\""},
					    {"/checks/3/reason", "\"needs containers\""}};
	cJSON *from CLEANUP_JSON = read_golden();
	cJSON *to CLEANUP_JSON = read_golden();
	struct comparison comparison CLEANUP_COMPARISON = {0};
	struct text text CLEANUP_TEXT = {0};
	size_t lines = 0;
	struct error err = {0};
	for (size_t i = 0; i < ARRAY_SIZE(edits); i++)
		edit(to, &edits[i]);
	CU_ASSERT_EQUAL_FATAL(comparison_make(from, to, &comparison, &err), 0);
	print(&comparison, &doc_terminal, &text);
	UNIT_CONTAINS(text_string(&text), " and 1 more  pass    unsupported  needs containers\n");
	for (const char *at = text_string(&text); (at = strstr(at, "\nregression ")) != NULL; at++)
		lines++;
	UNIT_INT(lines, 3);
}

/* Two runs of different suites: a line each, not one for each check. */
static void test_suites_of_one_report(void)
{
	cJSON *from CLEANUP_JSON = read_golden();
	cJSON *to CLEANUP_JSON = read_golden();
	cJSON *checks = cJSON_GetObjectItem(to, "checks");
	struct comparison comparison CLEANUP_COMPARISON = {0};
	struct text text CLEANUP_TEXT = {0};
	size_t lines = 0;
	struct error err = {0};
	for (int i = cJSON_GetArraySize(checks) - 1; i >= 0; i--) {
		const char *id = view_string(cJSON_GetArrayItem(checks, i), "/id");
		if (!text_starts_with(id, "isolation."))
			cJSON_DeleteItemFromArray(checks, i);
	}
	CU_ASSERT_EQUAL_FATAL(comparison_make(from, to, &comparison, &err), 0);
	print(&comparison, &doc_terminal, &text);
	UNIT_CONTAINS(text_string(&text), "gone    registration.in-time and 1 more  pass    -");
	UNIT_CONTAINS(text_string(&text), "gone    api.vulkan and 1 more");
	for (const char *at = text_string(&text); (at = strstr(at, "\ngone ")) != NULL; at++)
		lines++;
	UNIT_INT(lines, 2);
}

static void test_files_that_are_no_reports(void)
{
	static const struct {
		const char *content;
		int code;
		const char *part;
	} rows[] = {
		{"", ERROR_FORMAT, "not-a-report.json"},
		{"{}", ERROR_FORMAT, "schema: missing, expected string"},
		{"{\"schema\": \"gpucert-report/9\"}", ERROR_UNSUPPORTED, "gpucert-report/9"},
		{"{\"schema\": \"gpucert-report/2\"}", ERROR_FORMAT, "checks"},
		{"{\"schema\": \"gpucert-report/2\", \"checks\": [{\"id\": \"a\"}]}", ERROR_FORMAT,
		 "checks[0].outcome"},
		{"{\"schema\": \"gpucert-report/2\", \"checks\": [{\"id\": \"a\", \"outcome\": "
		 "\"good\"}]}",
		 ERROR_FORMAT, "'good' is not an outcome"},
	};
	static const char path[] = GPUCERT_BINARY_DIR "/tests/not-a-report.json";
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cJSON *report CLEANUP_JSON = NULL;
		struct error err = {0};
		CU_ASSERT_EQUAL_FATAL(file_write_atomic(path, rows[i].content,
							strlen(rows[i].content), 0644, NULL),
				      0);
		struct view view CLEANUP_VIEW = {0};
		int rc = report_file_read(path, NULL, &report, &err);
		UNIT_INT(rc == 0 ? view_open(report, &view, &err) : rc, rows[i].code);
		UNIT_CONTAINS(err.text, rows[i].part);
	}
}

UNIT_MAIN("compare", {"headlines", test_headlines}, {"followers", test_followers},
	  {"recordings", test_recordings}, {"text and JSON", test_text_and_json},
	  {"Markdown", test_markdown}, {"long Markdown", test_long_markdown}, {"held", test_held},
	  {"changes with one reason are one line", test_alike},
	  {"suites that one report has", test_suites_of_one_report},
	  {"files that are not reports", test_files_that_are_no_reports})
