/* SPDX-License-Identifier: MIT */

/* APIs of which Wine has no library, on doubles of it, which are loaded first and are therefore the
 * libraries of that name. */

#include "base/tests/unit.h"
#include "workloads/cuda/cuda.h"
#include "workloads/hip/hip.h"
#include "workloads/levelzero/levelzero.h"
#include "workloads/nvml/nvml.h"
#include "workloads/tests/expect.h"

#include "base/cleanup.h"
#include "base/library.h"

#include <windows.h>

#define DOUBLES GPUCERT_BINARY_DIR "/tests/doubles/"

/* The members that the report and the work become. The API is closed. */
static cJSON *document_with(const struct api_driver *api, const char *setting)
{
	struct api_report report CLEANUP_API_REPORT = {0};
	struct work_report work CLEANUP_WORK_REPORT = {0};
	struct members members CLEANUP_MEMBERS = members_new();
	const struct work_request request = {.elements = 5000, .seed = 7, .timeout_ms = 20};
	void *session = NULL;
	CU_ASSERT_EQUAL_FATAL(_putenv_s("GPUCERT_DOUBLE", setting), 0);
	api_open(api, &report, &session);
	if (session != NULL) {
		size_t devices = (size_t)cJSON_GetArraySize(report.devices);
		if (api->work != NULL)
			api_work(api, session, devices, &request, &work);
		if (work.status != WORK_TIMED_OUT)
			api_close(api, session);
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
	cJSON *document CLEANUP_JSON = document_with(&levelzero_api, "no-driver");
	cJSON *older CLEANUP_JSON = document_with(&levelzero_api, "fail=zeInitDrivers:2013265921");
	expect_string(older, "/api/status", "ok");
	expect_string(document, "/api/status", "unsupported");
	expect_string(document, "/api/missing", "Level Zero driver");
}

static void test_amf(void)
{
	static const struct {
		const char *setting, *status, *reason;
	} cases[] = {
		{"drop=4", "wrong", "h264: the stream holds 11 pictures"},
		{"starving", "timeout", "took 12 of 12 frames"},
		{"none", "unsupported", "the device encodes nothing"},
		{"fail=InitDX11:17", "unsupported", "AMFContext::InitDX11: AMF_NO_DEVICE (17)"},
		{"fail=InitDX11:18", "failed", "AMF_DIRECTX_FAILED (18)"},
	};
	cJSON *encoded CLEANUP_JSON = document_with(&amf_api, "hold=3");
	expect_string(encoded, "/api/status", "ok");
	expect_string(encoded, "/api/loader/version", "1.4.30");
	expect_string(encoded, "/work/status", "encoded");
	expect_number(encoded, "/work/video/streams/0/pictures", 12);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cJSON *document CLEANUP_JSON = document_with(&amf_api, cases[i].setting);
		expect_string(document, "/work/status", cases[i].status);
		UNIT_CONTAINS(string_at(document, "/work/reason"), cases[i].reason);
	}
}

/* On the adapter that Wine makes up. What verify-video says of such streams, test_nvenc tells. */
static void test_nvenc(void)
{
	static const struct {
		const char *setting, *status, *reason;
	} cases[] = {
		{"drop=4", "wrong", "h264: the stream holds 11 pictures"},
		{"hang", "timeout", "took 12 of 12 frames"},
		{"fail=nvEncOpenEncodeSessionEx:2", "unsupported", "NV_ENC_ERR_UNSUPPORTED_DEVICE"},
		{"fail=nvEncOpenEncodeSessionEx:10", "failed", "NV_ENC_ERR_OUT_OF_MEMORY (10)"},
	};
	cJSON *encoded CLEANUP_JSON = document_with(&nvenc_api, "partial");
	expect_string(encoded, "/api/status", "ok");
	expect_string(encoded, "/api/loader/version", "12.1");
	expect_string(encoded, "/work/status", "encoded");
	expect_number(encoded, "/work/video/streams/0/pictures", 12);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cJSON *document CLEANUP_JSON = document_with(&nvenc_api, cases[i].setting);
		expect_string(document, "/work/status", cases[i].status);
		UNIT_CONTAINS(string_at(document, "/work/reason"), cases[i].reason);
	}
}

static void test_hip(void)
{
	static const struct {
		const char *setting, *status;
	} cases[] = {
		{"devices=2", "ok"},	      {"arch=11", "ok"},
		{"wrong=7", "wrong"},	      {"null", "wrong"},
		{"hang", "timeout"},	      {"fail=hipModuleLoadData:209", "failed"},
		{"devices=0", "unsupported"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cJSON *document CLEANUP_JSON = document_with(&hip_api, cases[i].setting);
		expect_string(document, "/api/status", "ok");
		expect_string(document, "/work/status", cases[i].status);
	}
}

static void test_cuda_is_verified(void)
{
	cJSON *document CLEANUP_JSON = document_with(&cuda_api, "devices=2,luid");
	expect_string(document, "/api/status", "ok");
	expect_count(document, "/devices", 2);
	expect_string(document, "/devices/1/deviceLuid", "1111111111111111");
	expect_string(document, "/work/status", "ok");
	expect_bool(document, "/work/verified", true);
}

static void test_faults_of_cuda_are_told(void)
{
	static const struct {
		const char *setting, *status;
	} cases[] = {
		{"wrong=7", "wrong"},	      {"idle", "wrong"},
		{"biased", "wrong"},	      {"fail=cuModuleLoadDataEx:222", "failed"},
		{"hang", "timeout"},	      {"fail=cuMemAlloc:2", "failed"},
		{"devices=0", "unsupported"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cJSON *document CLEANUP_JSON = document_with(&cuda_api, cases[i].setting);
		expect_string(document, "/work/status", cases[i].status);
	}
	cJSON *mismatch CLEANUP_JSON = document_with(&cuda_api, "fail=cuInit:803");
	expect_string(mismatch, "/api/status", "failed");
}

static void test_nvml_tells_the_same_devices(void)
{
	cJSON *cuda CLEANUP_JSON = document_with(&cuda_api, "devices=2");
	cJSON *nvml CLEANUP_JSON = document_with(&nvml_api, "devices=2");
	cJSON *absent CLEANUP_JSON = document_with(&nvml_api, "fail=nvmlInit:9");
	for (int i = 0; i < 2; i++) {
		char pointer[64] = "";
		(void)snprintf(pointer, sizeof(pointer), "/devices/%d/deviceUuid", i);
		expect_string(nvml, pointer, string_at(cuda, pointer));
	}
	expect_string(nvml, "/devices/1/driver/version", "555.1.2");
	expect_string(absent, "/api/missing", "NVIDIA driver");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"the work is verified", test_the_work_is_verified},
		{"faults are told", test_faults_are_told},
		{"no driver is unsupported", test_no_driver_is_unsupported},
		{"NVENC", test_nvenc},
		{"AMF", test_amf},
		{"HIP", test_hip},
		{"CUDA is verified", test_cuda_is_verified},
		{"faults of CUDA are told", test_faults_of_cuda_are_told},
		{"NVML tells the same devices", test_nvml_tells_the_same_devices},
		CU_TEST_INFO_NULL,
	};
	static const char *const doubles[] = {DOUBLES "ze_loader.dll",	   DOUBLES "amfrt64.dll",
					      DOUBLES "nvEncodeAPI64.dll", DOUBLES "amdhip64_6.dll",
					      DOUBLES "nvcuda.dll",	   DOUBLES "nvml.dll"};
	for (size_t i = 0; i < ARRAY_SIZE(doubles); i++) {
		struct error err = {0};
		void *handle = NULL;
		if (library_open(doubles[i], &handle, &err) != 0) {
			(void)fprintf(stderr, "%s\n", err.text);
			return 2;
		}
	}
	int code = unit_run("loaded doubles", tests);
	/* Wine has crashed in its own code at the end of a process that has a display. */
	(void)fflush(NULL);
	(void)TerminateProcess(GetCurrentProcess(), (UINT)code);
	return code;
}
