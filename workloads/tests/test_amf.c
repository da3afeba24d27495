/* SPDX-License-Identifier: MIT */

/* probe-amf as a program, with doubles of AMD's media framework and of a Vulkan driver behind the real
 * loader that do one thing wrong each. */

#include "workloads/tests/encoder_rig.h"

#define TESTS  GPUCERT_BINARY_DIR "/tests/"
#define VULKAN "VK_DRIVER_FILES=" TESTS "double_vulkan.json"
#define OLDER  "VK_ICD_FILENAMES=" TESTS "double_vulkan.json"
#define DOUBLE "LD_LIBRARY_PATH=" TESTS "amf"

const struct encoder_rig encoder_rig = {
	.probe = {.program = "probe-amf",
		  .option = "--timeout=100",
		  .env = {VULKAN, OLDER, DOUBLE}},
	.always = "",
};

static void test_streams_decode(void)
{
	cJSON *document CLEANUP_JSON = rig_run("", NULL);
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
	static const char *const settings[] = {"version=9",  "hold=5",	      "hold=50",
					       "full",	     "devices=2",     "families=40",
					       "extensions", "fail=GetCaps:9"};
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		cJSON *document CLEANUP_JSON = rig_run(settings[i], NULL);
		if (strcmp(settings[i], "fail=GetCaps:9") != 0)
			expect_judgement(document, "ok", NULL);
		else
			expect_null(document, "/work/video/encoders/0/most");
	}
}

static void test_codecs(void)
{
	cJSON *document CLEANUP_JSON = rig_run("all", NULL);
	expect_count(document, "/work/video/encoders", 3);
	expect_string(document, "/work/video/encoders/2/name", "AMFVideoEncoderHW_AV1");
	expect_string(document, "/work/video/streams/0/status", "encoded");
	expect_string(document, "/work/video/streams/1/status", "wrong");
	expect_string(document, "/work/status", "wrong");
}

static void test_faults_that_the_probe_sees(void)
{
	rig_expect_work("drop=4", NULL, "wrong", "h264: the stream holds 11 pictures, not 12");
	rig_expect_work("empty", NULL, "wrong", "h264: the stream is empty");
	rig_expect_work("long", NULL, "wrong", "h264: a picture of 16777216 bytes");
	rig_expect_work("starving", NULL, "timeout", "took 12 of 12 frames and then did nothing");
	rig_expect_work("repeating", NULL, "timeout", "took 12 of 12 frames and then did nothing");
	rig_expect_work("nowhere", NULL, "failed", "gave no memory of 64 by 64");
	rig_expect_work("greedy", NULL, "failed", "AMF asks for 1000 extensions");
	rig_expect_work("growing", NULL, "failed", "AMF asks for 1000 extensions");
}

static void test_no_encoder(void)
{
	rig_expect_work("none", NULL, "unsupported", "the device encodes nothing");
	rig_expect_work("software", NULL, "unsupported", "work on a processor");
	rig_expect_work("fail=InitVulkan:17", NULL, "unsupported",
			"AMF_NO_DEVICE (17): it is not a device of");
}

static void test_failed_calls(void)
{
	static const struct rig_failure rows[] = {
		{"CreateContext", 1, "AMFFactory::CreateContext: AMF_FAIL (1): read the host's"},
		{"QueryInterface", 8, "AMFContext::QueryInterface: AMF_NO_INTERFACE (8)"},
		{"GetVulkanDeviceExtensions", 9,
		 "AMFContext1::GetVulkanDeviceExtensions: AMF_NOT_IMPLEMENTED (9)"},
		{"vkCreateDevice", -3, "vkCreateDevice: VK_ERROR_INITIALIZATION_FAILED"},
		{"InitVulkan", 45, "AMFContext1::InitVulkan: AMF_VULKAN_FAILED (45): the driver's"},
		{"CreateComponent", 6, "AMFFactory::CreateComponent: AMF_OUT_OF_MEMORY (6)"},
		{"SetProperty", 5, "Usage: AMFComponent::SetProperty: "},
		{"Init", 29, "AMFComponent::Init: AMF_INVALID_RESOLUTION (29)"},
		{"AllocSurface", 6, "AMFContext::AllocSurface: AMF_OUT_OF_MEMORY (6)"},
		{"SubmitInput", 2, "AMFComponent::SubmitInput: AMF_UNEXPECTED (2)"},
		{"QueryOutput", 99, "AMFComponent::QueryOutput: unknown result (99)"},
		{"Drain", 15, "AMFComponent::Drain: AMF_WRONG_STATE (15)"},
	};
	rig_expect_failures(rows, ARRAY_SIZE(rows));
}

static void expect_api(const char *settings, const char *reason)
{
	cJSON *document CLEANUP_JSON = rig_run(settings, NULL);
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
	rig_expect_crash("crash=AMFInit");
	rig_expect_crash("crash=SubmitInput");
	rig_expect_crash("crash=QueryOutput");
}

/* The double tells what was not given back. */
static void test_nothing_is_left(void)
{
	static const char *const settings[] = {"", "fail=Init:29", "fail=QueryOutput:2",
					       "fail=SubmitInput:2", "fail=InitVulkan:1"};
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		struct process_result result = rig_start(settings[i], NULL);
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
		{"faults that decoding sees", rig_expect_decoding_faults},
		{"no encoder", test_no_encoder},
		{"failed calls", test_failed_calls},
		{"libraries that do not serve", test_libraries_that_do_not_serve},
		{"a crash prints nothing", test_a_crash_prints_nothing},
		{"nothing is left", test_nothing_is_left},
		CU_TEST_INFO_NULL,
	};
	return rig_main("AMF", "amf-documents.ndjson", tests);
}
