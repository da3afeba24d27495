/* SPDX-License-Identifier: MIT */

/* probe-vulkanvideo as a program, with the double of a Vulkan driver behind the real loader. */

#include "workloads/tests/encoder_rig.h"
#include "workloads/vulkanvideo/encode_abi.h"

#define TESTS  GPUCERT_BINARY_DIR "/tests/"
#define DRIVER "VK_DRIVER_FILES=" TESTS "double_vulkan_av1.json"
#define OLDER  "VK_ICD_FILENAMES=" TESTS "double_vulkan_av1.json"

const struct encoder_rig encoder_rig = {
	.probe = {.program = "probe-vulkanvideo",
		  .option = "--timeout=20000",
		  .value = "--seed=7",
		  .env = {DRIVER, OLDER}},
	.always = "video,",
};

static void test_streams_decode(void)
{
	cJSON *document CLEANUP_JSON = rig_run("", NULL);
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
	static const char *const settings[] = {"copies", "default-rate", "high", "override",
					       "devices=3"};
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		rig_expect_judgement(settings[i], "ok", NULL);
}

static void test_codecs(void)
{
	cJSON *document CLEANUP_JSON = rig_run("all", NULL);
	expect_count(document, "/work/video/encoders", 3);
	expect_string(document, "/work/video/encoders/1/profiles", "main main10");
	expect_bool(document, "/work/video/encoders/1/tenBit", true);
	expect_null(document, "/work/video/encoders/1/bFrames");
	expect_string(document, "/work/video/encoders/2/codec", "av1");
	expect_bool(document, "/work/video/encoders/2/tenBit", false);
	expect_string(document, "/work/status", "encoded");
	expect_string(document, "/work/video/streams/0/codec", "h264");
	expect_string(document, "/work/video/streams/1/status", "encoded");
	expect_string(document, "/work/video/streams/2/status", "encoded");
}

/* Whatever the driver tells of trees, transforms, superblocks, and names of references. */
static void test_streams_of_other_codecs_decode(void)
{
	static const struct {
		const char *settings;
		int units;
	} rows[] = {
		{"hevc", 15},
		{"hevc,default-rate", 15},
		{"hevc,copies", 15},
		{"hevc,small-trees", 15},
		{"hevc,large-transforms", 15},
		{"av1", 37},
		{"av1,default-rate", 37},
		{"av1,copies", 37},
		{"av1,large-superblocks", 37},
		{"av1,golden", 37},
		{"av1,no-points", 37},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cJSON *document CLEANUP_JSON = rig_run(rows[i].settings, NULL);
		cJSON *other CLEANUP_JSON = judge_stream(document, "8");
		expect_judgement(document, "ok", NULL);
		expect_string(other, "/status", "wrong");
		expect_number(document, "/work/video/streams/0/pictures", 12);
		expect_number(document, "/work/video/streams/0/keys", 1);
		expect_number(document, "/work/video/streams/0/units", rows[i].units);
	}
	/* Described as it has to be, which is all that is looked at. */
	rig_expect_work("av1,no-primary", NULL, "encoded", "");
}

/* The double refuses each of these, which shows that it looks. */
static void test_wrong_descriptions_are_refused(void)
{
	static const struct {
		const char *codec, *call, *what[16];
	} rows[] = {
		{"hevc",
		 "vkCreateVideoSessionParametersKHR",
		 {"width", "profile", "level", "tree", "transform", "references", "picture-set"}},
		{"hevc",
		 "vkEndCommandBuffer",
		 {"key", "type", "order", "list", "slice", "merge", "slot-order"}},
		{"av1",
		 "vkCreateVideoSessionParametersKHR",
		 {"width", "colours", "superblocks", "hints", "level"}},
		{"av1",
		 "vkEndCommandBuffer",
		 {"key", "shown", "order", "refresh", "kept", "name", "primary", "mode", "group",
		  "slot-order"}},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (size_t k = 0; rows[i].what[k] != NULL; k++) {
			char *word CLEANUP_FREE =
				text_format("%s,spoil=%s", rows[i].codec, rows[i].what[k]);
			char *reason CLEANUP_FREE =
				text_format("%s: %s: VK_ERROR_INVALID_VIDEO_STD_PARAMETERS_KHR",
					    rows[i].codec, rows[i].call);
			rig_expect_work(word, NULL, "failed", reason);
		}
	}
}

static void test_faults_of_other_codecs(void)
{
	rig_expect_work("hevc,drop=4", NULL, "wrong", "hevc: the stream holds 11 pictures, not 12");
	rig_expect_work("av1,drop=4", NULL, "wrong", "av1: the stream holds 11 pictures, not 12");
	rig_expect_work("hevc,empty", NULL, "wrong", "hevc: the stream is empty");
	rig_expect_work("av1,empty", NULL, "wrong", "av1: the stream is empty");
	rig_expect_work("hevc,huge-transforms", NULL, "unsupported",
			"hevc: the driver has no transforms of 4 by 4 or 8 by 8: "
			"transformBlockSizes is 0xc");
	rig_expect_work("hevc,intra", NULL, "unsupported", "no picture that refers to another one");
	rig_expect_work("av1,intra", NULL, "unsupported", "no picture that refers to another one");
	rig_expect_judgement("hevc,repeat=4", "wrong", "frame 4 shows frame 3");
	rig_expect_judgement("av1,repeat=4", "wrong", "frame 4 shows frame 3");
	rig_expect_judgement("hevc,black=4", "wrong", "frame 4 ");
	rig_expect_judgement("av1,black=4", "wrong", "frame 4 ");
	rig_expect_judgement("hevc,other=99", "wrong", "frame 0 ");
	rig_expect_judgement("av1,other=99", "wrong", "frame 0 ");
}

static uint32_t word_of(const void *flags)
{
	uint32_t word = 0;
	memcpy(&word, flags, sizeof(word));
	return word;
}

/* Where the specification has the flags, which vulkanvideo_abi.c cannot ask for. */
static void test_flags(void)
{
#define BIT(type, flag, bit)                                                                       \
	do {                                                                                       \
		const type value = {.flags = {.flag = 1}};                                         \
		UNIT_INT(word_of(&value.flags), (int64_t)1 << (bit));                              \
	} while (0)
	BIT(StdVideoEncodeH264PictureInfo, IdrPicFlag, 0);
	BIT(StdVideoEncodeH264PictureInfo, is_reference, 1);
	BIT(StdVideoEncodeH265PictureInfo, is_reference, 0);
	BIT(StdVideoEncodeH265PictureInfo, IrapPicFlag, 1);
	BIT(StdVideoEncodeH265PictureInfo, pic_output_flag, 5);
	BIT(StdVideoEncodeH265PictureInfo, no_output_of_prior_pics_flag, 6);
	BIT(StdVideoEncodeH265PictureInfo, short_term_ref_pic_set_sps_flag, 7);
	BIT(StdVideoEncodeH265PictureInfo, slice_temporal_mvp_enabled_flag, 8);
	BIT(StdVideoEncodeH265SliceSegmentHeader, first_slice_segment_in_pic_flag, 0);
	BIT(StdVideoAV1SequenceHeader, reduced_still_picture_header, 1);
	BIT(StdVideoAV1SequenceHeader, use_128x128_superblock, 2);
	BIT(StdVideoAV1SequenceHeader, enable_order_hint, 9);
	BIT(StdVideoEncodeAV1PictureInfo, error_resilient_mode, 0);
	BIT(StdVideoEncodeAV1PictureInfo, show_frame, 27);
	BIT(StdVideoEncodeAV1PictureInfo, showable_frame, 28);
#undef BIT
}

static void test_devices_that_do_not_encode(void)
{
	static const struct {
		const char *settings, *reason;
	} rows[] = {
		{"no-queue", "no queue family encodes"},
		{"no-profile", "no profile of 4:2:0 of H.264"},
		{"no-nv12", "the encoder has no format for frames of NV12"},
		{"intra", "no picture that refers to another one"},
		{"devices=0", ""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		rig_expect_work(rows[i].settings, NULL, "unsupported", rows[i].reason);
	struct probe probe = encoder_rig.probe;
	probe.env[2] = "GPUCERT_DOUBLE=";
	cJSON *document CLEANUP_JSON = probe_document(&probe);
	expect_string(document, "/api/status", "ok");
	expect_string(document, "/work/status", "unsupported");
	UNIT_CONTAINS(string_at(document, "/work/reason"),
		      "no VK_KHR_video_encode_queue: the device has no video");
}

static void test_faults_that_the_probe_sees(void)
{
	static const struct {
		const char *settings, *status, *reason;
	} rows[] = {
		{"drop=4", "wrong", "h264: the stream holds 11 pictures, not 12"},
		{"empty", "wrong", "h264: the stream is empty"},
		{"unfinished", "failed", "its feedback has the status 0"},
		{"broken", "failed", "its feedback has the status -1"},
		{"beyond", "failed", "reports 4294967295 bytes at 0 of a buffer"},
		{"many", "failed", "reports 1048576 bytes and had room for"},
		{"memories=40", "failed", "asks for 40 memories, and there is room for 32"},
		{"lost=4", "failed", "vkQueueSubmit: VK_ERROR_DEVICE_LOST (-4)"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		rig_expect_work(rows[i].settings, NULL, rows[i].status, rows[i].reason);
	/* Only one that hangs is not waited for. */
	rig_expect_work("hang", "--timeout=100", "timeout",
			"took 1 of 12 frames and then did nothing");
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
		const struct rig_failure row = {calls[i], -1, "VK_ERROR_OUT_OF_HOST_MEMORY"};
		rig_expect_failures(&row, 1);
	}
}

static void test_a_crash_prints_nothing(void)
{
	rig_expect_crash("crash=vkCreateVideoSessionKHR");
	rig_expect_crash("crash=vkQueueSubmit");
	rig_expect_crash("crash=vkDestroyDevice");
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
		{"streams of other codecs decode", test_streams_of_other_codecs_decode},
		{"wrong descriptions are refused", test_wrong_descriptions_are_refused},
		{"faults of other codecs", test_faults_of_other_codecs},
		{"flags", test_flags},
		{"devices that do not encode", test_devices_that_do_not_encode},
		{"faults that the probe sees", test_faults_that_the_probe_sees},
		{"faults that decoding sees", rig_expect_decoding_faults},
		{"failed calls", test_failed_calls},
		{"a crash prints nothing", test_a_crash_prints_nothing},
		{"no driver", test_no_driver},
		{"software renderers", test_software_renderers},
		CU_TEST_INFO_NULL,
	};
	return rig_main("Vulkan Video", "vulkanvideo-documents.ndjson", tests);
}
