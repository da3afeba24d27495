/* SPDX-License-Identifier: MIT */
/* query-hcs-capabilities where System32 has a computecore.dll, which is a double: the versions are
 * the service's. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/process.h"
#include "base/tests/unit.h"

static void expect(const char *variable, int code, const char *out, const char *err)
{
	const char *const argv[] = {QUERY_HCS_CAPABILITIES, "--require", "location-path", NULL};
	const char *const env[] = {variable, NULL};
	struct process_spec spec = {.argv = argv, .env = env, .timeout_ms = 300000};
	struct process_result result = {0};
	UNIT_INT(process_run(&spec, &result, NULL), 0);
	UNIT_INT(result.code, code);
	UNIT_CONTAINS(text_string(&result.out), out);
	UNIT_CONTAINS(text_string(&result.err), err);
	process_result_free(&result);
}

static void test_versions_of_the_service(void)
{
	static const char path[] = DOUBLE_DIRECTORY "/hcs-versions.json";
	static const char answer[] = "{\"Properties\":[{\"SupportedSchemaVersions\":[{\"Major\":2,"
				     "\"Minor\":1},{\"Major\":1,\"Minor\":0}]}]}";
	UNIT_INT(file_write_atomic(path, answer, strlen(answer), 0644, NULL), 0);
	expect("HCS_DOUBLE_ANSWER=" DOUBLE_DIRECTORY "/hcs-versions.json", 1,
	       "(asked of computecore.dll):\n- 1.0\n- 2.1\n", "");
	UNIT_INT(remove(path), 0);
}

static void test_service_that_fails(void)
{
	expect("HCS_DOUBLE_ERROR=0x80370114", 3, "from the table of builds",
	       "HCS_E_SERVICE_NOT_AVAILABLE");
}

UNIT_MAIN("query the service", {"versions of the service", test_versions_of_the_service},
	  {"a service that fails", test_service_that_fails})
