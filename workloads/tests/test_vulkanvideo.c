/* SPDX-License-Identifier: MIT */

/* probe-vulkanvideo as a program, with the double of a Vulkan driver behind the real loader. */

#include "base/tests/unit.h"
#include "workloads/tests/expect.h"
#include "workloads/tests/judge_stream.h"
#include "workloads/tests/run_probe.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <signal.h>

#define TESTS  GPUCERT_BINARY_DIR "/tests/"
#define DRIVER "VK_DRIVER_FILES=" TESTS "double_vulkan.json"
#define OLDER  "VK_ICD_FILENAMES=" TESTS "double_vulkan.json"

/* Only one that hangs is not waited for. */
static struct probe probe_with(const char *word)
{
	return (struct probe){.program = "probe-vulkanvideo",
			      .option = strstr(word, "hang") != NULL ? "--timeout=100"
								     : "--timeout=20000",
			      .value = "--seed=7",
			      .env = {DRIVER, OLDER, word}};
}

static cJSON *with_double(const char *settings)
{
	char *word CLEANUP_FREE = text_format("GPUCERT_DOUBLE=%s", settings);
	const struct probe probe = probe_with(word);
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
	cJSON *document CLEANUP_JSON = with_double("video");
	expect_count(document, "/devices", 1);
	expect_string(document, "/devices/0/deviceUuid", "01010101010101010101010101010101");
	expect_string(document, "/devices/0/deviceLuid", "1010101010101010");
	expect_string(document, "/devices/0/pciAddress", "10000:40:00.0");
	expect_count(document, "/work/video/encoders", 1);
	expect_bool(document, "/work/video/encoders/0/hardware", true);
	expect_string(document, "/work/video/encoders/0/profiles", "baseline high");
	expect_number(document, "/work/video/encoders/0/least/width", 32);
	expect_number(document, "/work/video/encoders/0/most/height", 64);
	expect_number(document, "/work/video/encoders/0/bFrames", 0);
	expect_bool(document, "/work/video/encoders/0/tenBit", false);
	expect_number(document, "/work/video/streams/0/profile", 66);
	expect_number(document, "/work/video/streams/0/pictures", 12);
	expect_number(document, "/work/video/streams/0/keys", 1);
	expect_judgement(document, "ok", NULL);
}

/* What conforms, although it is unusual. */
static void test_other_drivers(void)
{
	static const char *const settings[] = {"video,copies", "video,default-rate", "video,high",
					       "video,override", "video,devices=3"};
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		cJSON *document CLEANUP_JSON = with_double(settings[i]);
		expect_judgement(document, "ok", NULL);
	}
}

static void test_codecs(void)
{
	cJSON *document CLEANUP_JSON = with_double("video,all");
	expect_count(document, "/work/video/encoders", 3);
	expect_string(document, "/work/video/encoders/1/profiles", "main main10");
	expect_bool(document, "/work/video/encoders/1/tenBit", true);
	expect_null(document, "/work/video/encoders/1/bFrames");
	expect_string(document, "/work/video/encoders/2/codec", "av1");
	expect_bool(document, "/work/video/encoders/2/tenBit", false);
	expect_string(document, "/work/status", "encoded");
	expect_string(document, "/work/video/streams/1/status", "unsupported");
	UNIT_CONTAINS(string_at(document, "/work/video/streams/2/reason"), "encodes only H.264");
}

static void test_devices_that_do_not_encode(void)
{
	expect_work("", "unsupported", "no VK_KHR_video_encode_queue: the device has no video");
	expect_work("video,no-queue", "unsupported", "no queue family of the device encodes");
	expect_work("video,no-profile", "unsupported", "of H.264, HEVC and AV1 no profile");
	expect_work("video,no-nv12", "unsupported", "the encoder has no format for frames of NV12");
	expect_work("video,intra", "unsupported", "no picture that refers to another one");
	expect_work("devices=0", "unsupported", "");
}

static void test_faults_that_the_probe_sees(void)
{
	expect_work("video,drop=4", "wrong", "h264: the stream holds 11 pictures, not 12");
	expect_work("video,empty", "wrong", "h264: the stream is empty");
	expect_work("video,hang", "timeout", "took 1 of 12 frames and then did nothing");
	expect_work("video,unfinished", "failed", "its feedback has the status 0");
	expect_work("video,broken", "failed", "its feedback has the status -1");
	expect_work("video,beyond", "failed", "tells 4294967295 bytes at 0 of a buffer");
	expect_work("video,many", "failed", "tells 1048576 bytes and had room for");
	expect_work("video,lost=4", "failed", "vkQueueSubmit: VK_ERROR_DEVICE_LOST (-4)");
}

static void test_faults_that_decoding_sees(void)
{
	static const struct {
		const char *settings, *status, *reason;
	} rows[] = {
		{"video,repeat=4", "wrong", "frame 4 shows frame 3"},
		{"video,black=4", "wrong", "frame 4"},
		{"video,corrupt=4", "undecodable", "OpenH264 gives up"},
		{"video,other=99", "wrong", "frame 0"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cJSON *document CLEANUP_JSON = with_double(rows[i].settings);
		expect_judgement(document, rows[i].status, rows[i].reason);
	}
}

static void test_failed_calls(void)
{
	static const char *const calls[] = {
		"vkGetPhysicalDeviceVideoCapabilitiesKHR",
		"vkGetPhysicalDeviceVideoFormatPropertiesKHR",
		"vkCreateDevice",
		"vkCreateImage",
		"vkBindImageMemory",
		"vkCreateImageView",
		"vkAllocateMemory",
		"vkCreateVideoSessionKHR",
		"vkGetVideoSessionMemoryRequirementsKHR",
		"vkBindVideoSessionMemoryKHR",
		"vkCreateVideoSessionParametersKHR",
		"vkGetEncodedVideoSessionParametersKHR",
		"vkCreateBuffer",
		"vkMapMemory",
		"vkCreateSemaphore",
		"vkCreateFence",
		"vkCreateQueryPool",
		"vkCreateCommandPool",
		"vkAllocateCommandBuffers",
		"vkBeginCommandBuffer",
		"vkEndCommandBuffer",
		"vkQueueSubmit",
		"vkWaitForFences",
		"vkResetFences",
		"vkGetQueryPoolResults",
	};
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		char *settings CLEANUP_FREE = text_format("video,fail=%s:-1", calls[i]);
		cJSON *document CLEANUP_JSON = with_double(settings);
		expect_string(document, "/work/status", "failed");
		expect_string(document, "/work/error/call", calls[i]);
		expect_string(document, "/work/error/name", "VK_ERROR_OUT_OF_HOST_MEMORY");
	}
}

static void test_a_crash_prints_nothing(void)
{
	static const char *const words[] = {
		"GPUCERT_DOUBLE=video,crash=vkCreateVideoSessionKHR",
		"GPUCERT_DOUBLE=video,crash=vkQueueSubmit",
		"GPUCERT_DOUBLE=video,crash=vkDestroyDevice",
	};
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const struct probe probe = probe_with(words[i]);
		struct process_result result = probe_run(&probe);
		CU_ASSERT_EQUAL(result.end, PROCESS_SIGNALLED);
		CU_ASSERT_EQUAL(result.code, SIGSEGV);
		CU_ASSERT_EQUAL(result.out.size, 0);
		process_result_free(&result);
	}
}

static void test_no_driver(void)
{
	const struct probe none = {
		.program = "probe-vulkanvideo",
		.env = {"VK_DRIVER_FILES=/nonexistent", "VK_ICD_FILENAMES=/nonexistent"}};
	expect_unsupported(&none, "Vulkan driver");
}

/* lavapipe, where it is installed. */
static void test_software_renderers(void)
{
	const struct probe probe = {.program = "probe-vulkanvideo",
				    .env = {"LSAN_OPTIONS=detect_leaks=0"}}; /* real drivers leak */
	cJSON *document CLEANUP_JSON = probe_document(&probe);
	if (strcmp(string_at(document, "/api/status"), "ok") != 0)
		return;
	expect_string(document, "/work/status", "unsupported");
	UNIT_CONTAINS(string_at(document, "/work/reason"), "the device has no video queue");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"streams decode", test_streams_decode},
		{"other drivers", test_other_drivers},
		{"codecs", test_codecs},
		{"devices that do not encode", test_devices_that_do_not_encode},
		{"faults that the probe sees", test_faults_that_the_probe_sees},
		{"faults that decoding sees", test_faults_that_decoding_sees},
		{"failed calls", test_failed_calls},
		{"a crash prints nothing", test_a_crash_prints_nothing},
		{"no driver", test_no_driver},
		{"software renderers", test_software_renderers},
		CU_TEST_INFO_NULL,
	};
	int code = probe_documents_open("vulkanvideo-documents.ndjson");
	if (code == 0)
		code = unit_run("Vulkan Video", tests);
	return code != 0 ? code : probe_documents_close();
}
