/* SPDX-License-Identifier: MIT */

/* probe-amf as a program, with doubles of AMD's media framework and of a Vulkan driver behind the real
 * loader that do one thing wrong each. */

#include "base/tests/unit.h"
#include "workloads/tests/expect.h"
#include "workloads/tests/judge_stream.h"
#include "workloads/tests/run_probe.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <signal.h>

#define TESTS  GPUCERT_BINARY_DIR "/tests/"
#define VULKAN "VK_DRIVER_FILES=" TESTS "double_vulkan.json"
#define OLDER  "VK_ICD_FILENAMES=" TESTS "double_vulkan.json"
#define DOUBLE "LD_LIBRARY_PATH=" TESTS "amf"

static cJSON *with_double(const char *settings)
{
	char *word CLEANUP_FREE = text_format("GPUCERT_DOUBLE=%s", settings);
	const struct probe probe = {.program = "probe-amf",
				    .option = "--timeout=100",
				    .env = {VULKAN, OLDER, DOUBLE, word}};
	return probe_document(&probe);
}

static void expect_work(const char *settings, const char *status, const char *reason)
{
	cJSON *document CLEANUP_JSON = with_double(settings);
	expect_string(document, "/api/status", "ok");
	expect_string(document, "/work/status", status);
	expect_bool(document, "/work/verified", false);
	UNIT_CONTAINS(string_at(document, "/work/reason"), reason);
}

static void test_streams_decode(void)
{
	cJSON *document CLEANUP_JSON = with_double("");
	expect_string(document, "/api/loader/version", "1.4.30");
	expect_count(document, "/devices", 1);
	expect_count(document, "/work/video/encoders", 1);
	expect_string(document, "/work/video/encoders/0/name", "AMFVideoEncoderVCE_AVC");
	expect_bool(document, "/work/video/encoders/0/hardware", true);
	expect_string(document, "/work/video/encoders/0/profiles", "baseline main high");
	expect_number(document, "/work/video/encoders/0/least/width", 32);
	expect_number(document, "/work/video/encoders/0/most/height", 64);
	expect_number(document, "/work/video/encoders/0/bFrames", 0);
	expect_null(document, "/work/video/encoders/0/tenBit");
	expect_judgement(document, "ok", NULL);
}

/* What conforms, although it is unusual. */
static void test_other_drivers(void)
{
	static const char *const settings[] = {"version=9", "hold=5",	 "hold=50",
					       "full",	    "devices=2", "fail=GetCaps:9"};
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		cJSON *document CLEANUP_JSON = with_double(settings[i]);
		if (strcmp(settings[i], "fail=GetCaps:9") != 0)
			expect_judgement(document, "ok", NULL);
		else
			expect_null(document, "/work/video/encoders/0/most");
	}
}

static void test_codecs(void)
{
	cJSON *document CLEANUP_JSON = with_double("all");
	expect_count(document, "/work/video/encoders", 3);
	expect_string(document, "/work/video/encoders/2/name", "AMFVideoEncoderHW_AV1");
	expect_string(document, "/work/video/streams/0/status", "encoded");
	expect_string(document, "/work/video/streams/1/status", "wrong");
	expect_string(document, "/work/status", "wrong");
}

static void test_faults_that_the_probe_sees(void)
{
	expect_work("drop=4", "wrong", "h264: the stream holds 11 pictures, not 12");
	expect_work("empty", "wrong", "h264: the stream is empty");
	expect_work("long", "wrong", "h264: a picture of 16777216 bytes");
	expect_work("starving", "timeout", "took 12 of 12 frames and then did nothing");
	expect_work("repeating", "timeout", "took 12 of 12 frames and then did nothing");
	expect_work("nowhere", "failed", "gave no memory of 64 by 64");
	expect_work("greedy", "failed", "AMF asks for 1000 extensions");
}

static void test_faults_that_decoding_sees(void)
{
	static const struct {
		const char *settings, *status, *reason;
	} rows[] = {
		{"repeat=4", "wrong", "frame 4 shows frame 3"},
		{"black=4", "wrong", "frame 4"},
		{"corrupt=4", "undecodable", "OpenH264 gives up"},
		{"other=99", "wrong", "frame 0"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cJSON *document CLEANUP_JSON = with_double(rows[i].settings);
		expect_judgement(document, rows[i].status, rows[i].reason);
	}
}

static void test_no_encoder(void)
{
	expect_work("none", "unsupported", "the device encodes nothing");
	expect_work("software", "unsupported", "work on a processor");
	expect_work("fail=InitVulkan:17", "unsupported", "AMF_NO_DEVICE (17): it is no device of");
}

static void test_failed_calls(void)
{
	static const struct {
		const char *call, *told;
		int code;
		const char *reason;
	} rows[] = {
		{"CreateContext", "AMFFactory::CreateContext", 1, "AMF_FAIL (1): read the host's"},
		{"QueryInterface", "AMFContext::QueryInterface", 8, "AMF_NO_INTERFACE (8)"},
		{"GetVulkanDeviceExtensions", "AMFContext1::GetVulkanDeviceExtensions", 9,
		 "AMF_NOT_IMPLEMENTED (9)"},
		{"vkCreateDevice", "vkCreateDevice", -3, "VK_ERROR_INITIALIZATION_FAILED"},
		{"InitVulkan", "AMFContext1::InitVulkan", 45,
		 "AMF_VULKAN_FAILED (45): the driver's"},
		{"CreateComponent", "AMFFactory::CreateComponent", 6, "AMF_OUT_OF_MEMORY (6)"},
		{"SetProperty", "AMFComponent::SetProperty", 5,
		 "Usage: AMFComponent::SetProperty: "},
		{"Init", "AMFComponent::Init", 29, "AMF_INVALID_RESOLUTION (29)"},
		{"AllocSurface", "AMFContext::AllocSurface", 6, "AMF_OUT_OF_MEMORY (6)"},
		{"SubmitInput", "AMFComponent::SubmitInput", 2, "AMF_UNEXPECTED (2)"},
		{"QueryOutput", "AMFComponent::QueryOutput", 99, "unknown result (99)"},
		{"Drain", "AMFComponent::Drain", 15, "AMF_WRONG_STATE (15)"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *settings CLEANUP_FREE = text_format("fail=%s:%d", rows[i].call, rows[i].code);
		cJSON *document CLEANUP_JSON = with_double(settings);
		expect_string(document, "/work/status", "failed");
		UNIT_CONTAINS(string_at(document, "/work/reason"), rows[i].reason);
		expect_string(document, "/work/error/call", rows[i].told);
		expect_number(document, "/work/error/code", rows[i].code);
	}
}

static void expect_api(const char *settings, const char *reason)
{
	cJSON *document CLEANUP_JSON = with_double(settings);
	expect_string(document, "/api/status", "failed");
	UNIT_CONTAINS(string_at(document, "/api/reason"), reason);
	expect_null(document, "/work");
}

static void test_libraries_that_do_not_serve(void)
{
	expect_api("version=8", "the driver offers AMF 1.4.8, and 1.4.9 is needed");
	expect_api("fail=AMFInit:1", "AMFInit: AMF_FAIL (1)");
	expect_api("fail=AMFQueryVersion:7", "AMFQueryVersion: AMF_INVALID_POINTER (7)");
	expect_api("fail=vkEnumeratePhysicalDevices:-1", "VK_ERROR_OUT_OF_HOST_MEMORY");
	const struct probe none = {.program = "probe-amf", .env = {VULKAN, OLDER}};
	expect_unsupported(&none, "libamfrt64.so.1");
}

static void test_a_crash_prints_nothing(void)
{
	static const char *const settings[] = {
		"GPUCERT_DOUBLE=crash=AMFInit",
		"GPUCERT_DOUBLE=crash=SubmitInput",
		"GPUCERT_DOUBLE=crash=QueryOutput",
	};
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		const struct probe probe = {.program = "probe-amf",
					    .env = {VULKAN, OLDER, DOUBLE, settings[i]}};
		struct process_result result = probe_run(&probe);
		CU_ASSERT_EQUAL(result.end, PROCESS_SIGNALLED);
		CU_ASSERT_EQUAL(result.code, SIGSEGV);
		CU_ASSERT_EQUAL(result.out.size, 0);
		process_result_free(&result);
	}
}

/* The double tells what was not given back. */
static void test_nothing_is_left(void)
{
	static const char *const settings[] = {"GPUCERT_DOUBLE=", "GPUCERT_DOUBLE=fail=Init:29",
					       "GPUCERT_DOUBLE=fail=QueryOutput:2",
					       "GPUCERT_DOUBLE=fail=SubmitInput:2",
					       "GPUCERT_DOUBLE=fail=InitVulkan:1"};
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		const struct probe probe = {.program = "probe-amf",
					    .env = {VULKAN, OLDER, DOUBLE, settings[i]}};
		struct process_result result = probe_run(&probe);
		CU_ASSERT_PTR_NULL(strstr(text_string(&result.err), "are left"));
		process_result_free(&result);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"streams decode", test_streams_decode},
		{"other drivers", test_other_drivers},
		{"codecs", test_codecs},
		{"faults that the probe sees", test_faults_that_the_probe_sees},
		{"faults that decoding sees", test_faults_that_decoding_sees},
		{"no encoder", test_no_encoder},
		{"failed calls", test_failed_calls},
		{"libraries that do not serve", test_libraries_that_do_not_serve},
		{"a crash prints nothing", test_a_crash_prints_nothing},
		{"nothing is left", test_nothing_is_left},
		CU_TEST_INFO_NULL,
	};
	int code = probe_documents_open("amf-documents.ndjson");
	if (code == 0)
		code = unit_run("AMF", tests);
	return code != 0 ? code : probe_documents_close();
}
