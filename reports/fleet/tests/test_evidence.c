/* SPDX-License-Identifier: MIT */

/* What a report proves for the AI conformance programme, and the patches of its node. */

#include "base/tests/unit.h"
#include "reports/fleet/fleet.h"

#include "base/file.h"
#include "base/json.h"

#define FOLDER GPUCERT_BINARY_DIR "/tests/evidence"

#define REQUIREMENT(id, verdict)                                                                   \
	"{\"id\": \"" id "\", \"verdict\": \"" verdict "\", \"sentence\": \"The rule | of " id     \
	".\"}"

#define ONE(id) REQUIREMENT(id, "satisfied") ", "
#define SATISFIED                                                                                  \
	ONE("API-01")                                                                              \
	ONE("ISO-01")                                                                              \
	ONE("ISO-02")                                                                              \
	ONE("ISO-03")                                                                              \
	ONE("ISO-08")                                                                              \
	ONE("ENV-01")                                                                              \
	ONE("ENV-02") ONE("SHR-01") ONE("SHR-02") ONE("ISO-04") REQUIREMENT("ISO-13", "satisfied")

/* A report that implements all but the virtual accelerator; rows replace parts of it. */
static const char whole[] =
	"{\"run\": {\"state\": \"complete\", \"started\": \"2026-11-29T10:00:00Z\", \"ended\": "
	"\"2026-11-29T10:05:00Z\", \"journal\": {\"digest\": \"sha256:12\"}, \"harness\": {\"version\": "
	"\"1\"}}, \"environment\": {\"node\": {\"kind\": \"live\"}, \"os\": {\"kernel\": \"6.1\"}, "
	"\"drivers\": [{\"key\": \"nvidia\", \"version\": \"570\", \"software\": false}], "
	"\"devices\": [{\"kind\": \"compute\"}], \"runtime\": {\"name\": \"containerd\", \"version\": "
	"\"2.1\"}, \"redaction\": {}}, \"totals\": {\"checks\": 1}, \"verdict\": {\"exitCode\": 0, "
	"\"conformance\": {\"result\": \"conformant\"}}, \"requirements\": [" SATISFIED "], "
	"\"checks\": [{\"id\": \"isolation.two-containers\", \"requirement\": \"ISO-03\", \"outcome\": "
	"\"pass\", \"reason\": \"\", \"notes\": [\"saw <b>1</b> | device\"]}, {\"id\": \"other.check\", "
	"\"requirement\": \"REG-01\", \"outcome\": \"pass\", \"reason\": \"\"}]}";

/* The report with one part replaced. */
static cJSON *report_with(const char *part, const char *instead)
{
	struct text json CLEANUP_TEXT = {0};
	cJSON *report = NULL;
	const char *at = strstr(whole, part);
	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	text_append(&json, whole, (size_t)(at - whole));
	text_addf(&json, "%s%s", instead, at + strlen(part));
	UNIT_INT(json_parse(text_string(&json), json.size, &report, NULL), 0);
	return report;
}

static char *content(const char *name)
{
	char *path CLEANUP_FREE = text_format(FOLDER "/%s", name);
	char *data = NULL;
	return file_exists(path) && file_read(path, JSON_FILE_MAX, &data, NULL, NULL) == 0 ? data
											   : NULL;
}

static void test_implemented(void)
{
	static const char *const wanted[] = {
		"KAR-0001 driver_runtime_management: Implemented",
		"KAR-0003 gpu_sharing: Implemented",
		"KAR-0004 virtualized_accelerator: not tested: the node has no virtual device",
		"KAR-0049 secure_accelerator_access: Implemented"};
	cJSON *report CLEANUP_JSON = report_with("\"checks\"", "\"checks\"");
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	UNIT_INT(fleet_evidence_write(report, FOLDER, &lines, NULL), 0);
	UNIT_INT((int)lines.count, (int)ARRAY_SIZE(wanted));
	for (size_t i = 0; i < ARRAY_SIZE(wanted) && i < lines.count; i++)
		UNIT_STRING(lines.items[i], wanted[i]);

	char *fragment CLEANUP_FREE = content("PRODUCT-fragment.yaml");
	UNIT_CONTAINS(fragment, "    - id: secure_accelerator_access\n      level: MUST\n      "
				"status: Implemented\n");
	UNIT_CONTAINS(fragment, "        - \"KAR-0049-secure_accelerator_access.md\"\n");
	CU_ASSERT_PTR_NULL(strstr(fragment, "virtualized_accelerator"));
	char *page CLEANUP_FREE = content("KAR-0049-secure_accelerator_access.md");
	UNIT_CONTAINS(page, "**Implemented**\n");
	UNIT_CONTAINS(page, "| isolation.two-containers | pass | saw `<b>1</b>` \\| device |\n");
	CU_ASSERT_PTR_NULL(strstr(page, "other.check"));
}

/* Whatever is missing, nothing is called implemented, and the fragment of an earlier run goes. */
static void test_refused(void)
{
	static const struct {
		const char *part, *instead, *why;
	} rows[] = {
		{"\"state\": \"complete\"", "\"state\": \"incomplete\"", "the run did not finish"},
		{"\"exitCode\": 0", "\"exitCode\": 5", "the run's exit code is 5"},
		{"\"result\": \"conformant\"", "\"result\": \"violated\", \"must\": [\"ISO-01\"]",
		 "not conformant, violated: ISO-01"},
		{"\"result\": \"conformant\"", "\"result\": \"incomplete\"",
		 "conformance not proven"},
		{"\"kind\": \"live\"", "\"kind\": \"wine\"", "the node is not a live one: 'wine'"},
		{"\"software\": false", "\"software\": true",
		 "the node has no accelerator, only software"},
		{"\"drivers\": [{", "\"driver\": [{", "the node has no accelerator, only software"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cJSON *report CLEANUP_JSON = report_with(rows[i].part, rows[i].instead);
		struct text_list lines CLEANUP_TEXT_LIST = {0};
		struct text why CLEANUP_TEXT = {0};
		CU_ASSERT_EQUAL(file_make_directories(FOLDER, 0755, NULL), 0);
		CU_ASSERT_EQUAL(
			file_write_atomic(FOLDER "/PRODUCT-fragment.yaml", "x", 1, 0644, NULL), 0);
		fleet_add_refusal(report, &why);
		UNIT_STRING(text_string(&why), rows[i].why);
		UNIT_INT(fleet_evidence_write(report, FOLDER, &lines, NULL), 0);
		UNIT_STRING(lines.items[3], "KAR-0049 secure_accelerator_access: not proven");
		CU_ASSERT_FALSE(file_exists(FOLDER "/PRODUCT-fragment.yaml"));
		char *page CLEANUP_FREE = content("KAR-0049-secure_accelerator_access.md");
		CU_ASSERT_PTR_NULL(strstr(page, "Implemented"));
	}
}

static void test_open(void)
{
	static const struct {
		const char *part, *instead;
		size_t line;
		const char *wanted;
	} rows[] = {
		{REQUIREMENT("ISO-03", "satisfied"), REQUIREMENT("ISO-03", "not-applicable"), 3,
		 "KAR-0049 secure_accelerator_access: not tested: ISO-03 is not-applicable"},
		{REQUIREMENT("ISO-04", "satisfied"), REQUIREMENT("ISO-04", "violated"), 1,
		 "KAR-0003 gpu_sharing: Not Implemented: ISO-04 is violated"},
		{REQUIREMENT("SHR-02", "satisfied"), REQUIREMENT("SHR-99", "satisfied"), 1,
		 "KAR-0003 gpu_sharing: not tested: SHR-02 is unknown"},
		{"\"version\": \"570\"", "\"version\": \"\"", 0,
		 "KAR-0001 driver_runtime_management: not tested: the version of a driver or "
		 "of the container runtime is unknown"},
		{"\"kind\": \"compute\"", "\"kind\": \"virtual\"", 2,
		 "KAR-0004 virtualized_accelerator: Implemented"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cJSON *report CLEANUP_JSON = report_with(rows[i].part, rows[i].instead);
		struct text_list lines CLEANUP_TEXT_LIST = {0};
		UNIT_INT(fleet_evidence_write(report, FOLDER, &lines, NULL), 0);
		UNIT_STRING(lines.items[rows[i].line], rows[i].wanted);
	}
}

static int patch_of(const cJSON *report, const char *json, cJSON **out, struct error *err)
{
	cJSON *node CLEANUP_JSON = NULL;
	UNIT_INT(json_parse(json, strlen(json), &node, NULL), 0);
	return fleet_patch_make(report, node, out, err);
}

#define NODE(rest)                                                                                 \
	"{\"kind\": \"Node\", \"metadata\": {\"name\": \"n\", \"resourceVersion\": \"7\"}" rest "}"

static void test_patch(void)
{
	cJSON *report CLEANUP_JSON =
		report_with("\"result\": \"conformant\"", "\"result\": \"violated\"");
	cJSON *good CLEANUP_JSON = report_with("\"checks\"", "\"checks\"");
	cJSON *patch CLEANUP_JSON = NULL;
	cJSON *again CLEANUP_JSON = NULL;
	static const char node[] = NODE(
		", \"spec\": {\"taints\": [{\"key\": \"a\", \"effect\": \"NoExecute\"}, {\"key\": "
		"\"gpucert.internal/violated\", \"effect\": \"NoSchedule\"}]}, \"status\": "
		"{\"conditions\": [{\"type\": \"gpucert.internal/Conformant\", \"status\": "
		"\"True\", \"lastTransitionTime\": \"2026-01-01T00:00:00Z\"}]}");
	UNIT_INT(patch_of(report, node, &patch, NULL), 0);
	UNIT_STRING(json_pointer_string(patch, "/node"), "n");
	UNIT_STRING(json_pointer_string(patch, "/condition/patch/status/conditions/0/status"),
		    "False");
	UNIT_STRING(json_pointer_string(patch,
					"/condition/patch/status/conditions/0/lastTransitionTime"),
		    "2026-11-29T10:05:00Z");
	UNIT_STRING(json_pointer_string(patch,
					"/labels/patch/metadata/labels/gpucert.internal~1result"),
		    "violated");
	UNIT_STRING(json_pointer_string(patch, "/taint/patch/metadata/resourceVersion"), "7");
	UNIT_STRING(json_pointer_string(patch, "/taint/patch/spec/taints/0/key"), "a");
	UNIT_STRING(json_pointer_string(patch, "/taint/patch/spec/taints/1/key"),
		    "gpucert.internal/violated");
	UNIT_INT(cJSON_GetArraySize(json_pointer(patch, "/taint/patch/spec/taints")), 2);
	UNIT_INT(json_write_file(GPUCERT_BINARY_DIR "/tests/fleet-patch.json", patch, NULL), 0);

	UNIT_INT(patch_of(good, node, &again, NULL), 0);
	UNIT_INT(cJSON_GetArraySize(json_pointer(again, "/taint/patch/spec/taints")), 1);
	UNIT_STRING(json_pointer_string(again,
					"/condition/patch/status/conditions/0/lastTransitionTime"),
		    "2026-01-01T00:00:00Z");
}

static void test_bad_patch(void)
{
	static const struct {
		const char *part, *instead, *node, *error;
	} rows[] = {
		{"\"checks\"", "\"checks\"", "{}", "kind: expected Node"},
		{"\"checks\"", "\"checks\"", "{\"kind\": \"Pod\"}", "kind: expected Node"},
		{"\"checks\"", "\"checks\"",
		 "{\"kind\": \"Node\", \"metadata\": {\"name\": \"n\"}}",
		 "metadata: name or resourceVersion"},
		{"\"kind\": \"live\"", "\"kind\": \"recorded\"", NODE(""), "not on a live node"},
		{"\"redaction\": {}",
		 "\"redaction\": {\"facts\": [{\"kind\": \"host\", \"value\": \"m\"}]}", NODE(""),
		 "the report of host 'm', not of node 'n'"},
		{"\"checks\"", "\"checks\"",
		 NODE(", \"status\": {\"nodeInfo\": {\"kernelVersion\": \"6.2\"}}"),
		 "the report is of kernel '6.1', the node has '6.2'"},
		{"\"result\": \"conformant\"", "\"result\": \"fine\"", NODE(""),
		 "verdict.conformance.result: not a result"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cJSON *report CLEANUP_JSON = report_with(rows[i].part, rows[i].instead);
		cJSON *patch CLEANUP_JSON = NULL;
		struct error err = {0};
		UNIT_INT(patch_of(report, rows[i].node, &patch, &err), ERROR_FORMAT);
		UNIT_CONTAINS(err.text, rows[i].error);
	}
}

UNIT_MAIN("fleet evidence", {"requirements that are implemented", test_implemented},
	  {"runs that prove nothing", test_refused}, {"requirements that are open", test_open},
	  {"patches of a node", test_patch}, {"nodes that are not the report's", test_bad_patch})
