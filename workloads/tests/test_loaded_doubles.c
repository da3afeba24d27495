/* SPDX-License-Identifier: MIT */

/* APIs of which Wine has no library, on doubles of it, which are loaded first and are therefore the
 * libraries of that name. */

#include "base/tests/unit.h"
#include "workloads/levelzero/levelzero.h"
#include "workloads/tests/expect.h"

#include "base/cleanup.h"
#include "base/library.h"

#define DOUBLES GPUCERT_BINARY_DIR "/tests/doubles/"

/* The members that the report and the work become. The API is closed. */
static cJSON *document_with(const struct api_driver *api, const char *setting)
{
	struct api_report report CLEANUP_API_REPORT = {0};
	struct work_report work CLEANUP_WORK_REPORT = {0};
	struct members members CLEANUP_MEMBERS = members_new();
	const struct work_request request = {.elements = 5000, .seed = 7, .timeout_ms = 20};
	struct error err = {0};
	void *session = NULL;
	CU_ASSERT_EQUAL_FATAL(_putenv_s("GPUCERT_DOUBLE", setting), 0);
	CU_ASSERT_EQUAL_FATAL(api_open(api, &report, &session, &err), 0);
	if (session != NULL) {
		size_t devices = (size_t)cJSON_GetArraySize(report.devices);
		CU_ASSERT_EQUAL(api_work(api, session, devices, &request, &work, &err), 0);
		if (work.status != WORK_TIMED_OUT)
			api->close(session);
		member_item(&members, "work", work_report_json(&work));
	}
	api_report_members(&report, &members);
	return members_take(&members);
}

static void test_the_work_is_verified(void)
{
	cJSON *document CLEANUP_JSON = document_with(&levelzero_api, "devices=2");
	expect_string(document, "/api/status", "ok");
	expect_count(document, "/devices", 2);
	expect_string(document, "/devices/1/deviceLuid", "1111111111111111");
	expect_string(document, "/work/status", "ok");
	expect_bool(document, "/work/verified", true);
}

static void test_faults_are_told(void)
{
	static const struct {
		const char *setting, *status;
	} cases[] = {
		{"wrong=7", "wrong"},	      {"null", "wrong"},
		{"hang", "timeout"},	      {"fail=zeFenceHostSynchronize:1879048193", "failed"},
		{"devices=0", "unsupported"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cJSON *document CLEANUP_JSON = document_with(&levelzero_api, cases[i].setting);
		expect_string(document, "/work/status", cases[i].status);
	}
}

static void test_no_driver_is_unsupported(void)
{
	cJSON *document CLEANUP_JSON =
		document_with(&levelzero_api, "fail=zeInitDrivers:2013265921");
	expect_string(document, "/api/status", "unsupported");
	expect_string(document, "/api/missing", "Level Zero driver");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"the work is verified", test_the_work_is_verified},
		{"faults are told", test_faults_are_told},
		{"no driver is unsupported", test_no_driver_is_unsupported},
		CU_TEST_INFO_NULL,
	};
	struct error err = {0};
	void *handle = NULL;
	if (library_open(DOUBLES "ze_loader.dll", &handle, &err) != 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	return unit_run("loaded doubles", tests);
}
