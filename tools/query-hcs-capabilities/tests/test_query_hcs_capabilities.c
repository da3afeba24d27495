/* SPDX-License-Identifier: MIT */
/* query-hcs-capabilities as a program: output and exit codes. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/process.h"
#include "base/tests/unit.h"

enum { TIMEOUT_MS = 300000 };

struct output {
	int code;
	struct text out, err;
};

static void output_free(struct output *output)
{
	text_free(&output->out);
	text_free(&output->err);
}

static struct output run(const char *a, const char *b, const char *c, const char *d, const char *e)
{
	const char *const argv[] = {QUERY_HCS_CAPABILITIES, a, b, c, d, e, NULL};
	struct process_spec spec = {.argv = argv, .timeout_ms = TIMEOUT_MS};
	struct process_result result = {0};
	struct output output = {0};
	UNIT_INT(process_run(&spec, &result, NULL), 0);
	UNIT_INT(result.end, PROCESS_EXITED);
	output.code = result.code;
	text_append(&output.out, text_string(&result.out), result.out.size);
	text_append(&output.err, text_string(&result.err), result.err.size);
	process_result_free(&result);
	return output;
}

static void expect(int code, const char *text, const char *a, const char *b, const char *c,
		   const char *d)
{
	struct output output CLEANUP(output_free) = run(a, b, c, d, NULL);
	UNIT_INT(output.code, code);
	UNIT_CONTAINS(text_string(&output.out), text);
}

static void test_builds(void)
{
	expect(0, "(from the table of builds, documented):\n- 2.5\n", "--build", "20348", NULL,
	       NULL);
	expect(0, "location path (vpci-location-path://...): no", "--build", "17763.5000", NULL,
	       NULL);
	expect(1, "no (since 2.2)", "--build", "17763", "--require", "location-path");
	expect(0, "yes (since 2.1)", "--build", "17763", "--require", "class");
	expect(0, "at least):\n- 2.11\n", "--build", "26100", "--require", "location-path");
	expect(1, "unknown (since 2.1)", "--build", "9600", "--require", "class");
}

static void test_images(void)
{
	expect(0, "runs: the builds are equal", "--build", "20348", "--image-build", "20348.2582");
	expect(1, "refused: the image is newer", "--build", "20348", "--image-build", "26100");
	expect(0, "runtime-dependent: ", "--build", "26200", "--image-build", "20348");
}

static void test_node(void)
{
	expect(0, "Windows Server 2022 Datacenter (OS build 10.0.20348)\n", "--node",
	       GPUCERT_NODES "/windows-4x-tesla-t4.json", NULL, NULL);
}

static void expect_failure(int code, const char *text, const char *a, const char *b, const char *c,
			   const char *d)
{
	struct output output CLEANUP(output_free) = run(a, b, c, d, NULL);
	UNIT_INT(output.code, code);
	UNIT_STRING(text_string(&output.out), "");
	UNIT_CONTAINS(text_string(&output.err), text);
}

static void test_failures(void)
{
	expect_failure(2, "two hosts", "--build", "20348", "--node", "x");
	expect_failure(2, "--build", "--build", "ten", NULL, NULL);
	expect_failure(2, "--image-build", "--build", "20348", "--image-build", "1.2.3.4.5");
	expect_failure(2, "is not a Windows node", "--node", GPUCERT_NODES "/linux-intel-amd.json",
		       NULL, NULL);
	expect_failure(3, "/nonexistent", "--node", "/nonexistent", NULL, NULL);
	expect_failure(2, "location-path", "--require", "everything", NULL, NULL);
}

/* A machine without the service says so, after what it knows all the same. */
static void test_no_service(void)
{
	struct output text CLEANUP(output_free) = run(NULL, NULL, NULL, NULL, NULL);
	struct output json CLEANUP(output_free) = run("--json", NULL, NULL, NULL, NULL);
	cJSON *document CLEANUP_JSON = NULL;
	UNIT_INT(text.code, 3);
	UNIT_CONTAINS(text_string(&text.out), "Operating system version:\n");
	UNIT_CONTAINS(text_string(&text.err), "Host Compute Service");
	UNIT_INT(json.code, 3);
	UNIT_INT(json_parse(text_string(&json.out), json.out.size, &document, NULL), 0);
	CU_ASSERT_TRUE(cJSON_IsString(json_pointer(document, "/hcs/problem")));
	CU_ASSERT_TRUE(cJSON_IsNull(json_pointer(document, "/hcs/supportedSchemaVersions")));
}

UNIT_MAIN("query-hcs-capabilities", {"builds", test_builds}, {"images", test_images},
	  {"node", test_node}, {"failures", test_failures}, {"no service", test_no_service})
