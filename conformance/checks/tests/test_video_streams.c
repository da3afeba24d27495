/* SPDX-License-Identifier: MIT */
/* What encoders made counts when it decodes to the frames of the launch, and for no other reason. */
#include "base/file.h"
#include "base/gpu_apis.h"
#include "base/json.h"
#include "base/path.h"
#include "conformance/checks/authenticity.h"
#include "conformance/checks/tests/recorder.h"
#include "conformance/checks/video.h"
#include "workloads/doubles/h264_pcm.h"
#include "workloads/video/video.h"

#include <sodium.h>

static char *directory;
static const char *document_text, *program;

static void body(struct check_run *run)
{
	cJSON *document CLEANUP_JSON = cJSON_Parse(document_text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(document);
	(void)video_expect_streams(run, "probe", document, 7, program);
}

static void expect_of(check_body *what, const char *text, enum report_outcome outcome,
		      const char *why)
{
	document_text = text;
	struct result result CLEANUP_RESULT = recorder_run_in(what, directory);
	const char *reason = "";
	UNIT_INT(result_outcome(&result, &reason), outcome);
	UNIT_CONTAINS(reason, why);
}

static void expect(const char *text, enum report_outcome outcome, const char *why)
{
	expect_of(body, text, outcome, why);
}

/* A stream of the double with this fault, in base64. */
static char *stream_of(const char *fault)
{
	struct h264_pcm writer = {.source = {.seed = 7, .width = 64, .height = 64}};
	struct text stream CLEANUP_TEXT = {0};
	uint8_t memory[64 * 64 * 3 / 2] = {0};
	const struct video_planes planes = video_planes_of(&writer.source, VIDEO_I420, memory);
	CU_ASSERT_FATAL(setenv("GPUCERT_DOUBLE", fault, 1) == 0);
	for (unsigned i = 0; i < VIDEO_FRAMES; i++) {
		video_fill(&writer.source, i, VIDEO_I420, &planes);
		h264_pcm_add(&writer, VIDEO_I420, &planes, &stream);
	}
	h264_pcm_free(&writer);
	const size_t length =
		sodium_base64_ENCODED_LEN(stream.size, sodium_base64_VARIANT_ORIGINAL);
	char *base64 = malloc(length);
	CU_ASSERT_PTR_NOT_NULL_FATAL(base64);
	return sodium_bin2base64(base64, length, (const unsigned char *)text_string(&stream),
				 stream.size, sodium_base64_VARIANT_ORIGINAL);
}

static char *document_of(const char *fault, const char *codec, const char *status, unsigned width)
{
	char *stream CLEANUP_FREE = stream_of(fault);
	return text_format("{\"work\": {\"video\": {\"streams\": [{\"codec\": \"%s\", \"status\": "
			   "\"%s\", \"reason\": \"because\", \"width\": %u, \"height\": 64, "
			   "\"stream\": \"%s\"}]}}}",
			   codec, status, width, stream);
}

static void expect_fault(const char *fault, enum report_outcome outcome, const char *why)
{
	char *text CLEANUP_FREE = document_of(fault, "h264", "encoded", 64);
	expect(text, outcome, why);
}

static void test_streams(void)
{
	expect_fault("", REPORT_PASS, "");
	expect_fault("drop=4", REPORT_FAIL, "holds 11 pictures, not 12");
	expect_fault("repeat=4", REPORT_FAIL, "frame 4 shows frame 3");
	expect_fault("black=0", REPORT_FAIL, "frame 0 is of one colour");
	expect_fault("corrupt=11", REPORT_FAIL, "undecodable");
	expect_fault("cut=3", REPORT_FAIL, "undecodable");
	expect_fault("other=8", REPORT_FAIL, "frame 0 is unlike");
	expect_fault("empty", REPORT_FAIL, "the stream is empty");
}

static void test_documents(void)
{
	static const struct {
		const char *codec, *status;
		unsigned width;
		enum report_outcome outcome;
		const char *why;
	} rows[] = {
		{"h264", "failed", 64, REPORT_FAIL, "/status"},
		{"h264", "ok", 64, REPORT_FAIL, "/status"},
		{"h264", "unsupported", 64, REPORT_FAIL, "none, or too many"},
		{"vp8", "encoded", 64, REPORT_FAIL, "'vp8' of 64 by 64"},
		{"../x", "encoded", 64, REPORT_FAIL, "'../x'"},
		{"h264", "encoded", 65, REPORT_FAIL, "65 by 64, which no probe encodes"},
		{"h264", "encoded", 4000000000u, REPORT_FAIL, "0 by 64, which no probe encodes"},
		{"hevc", "encoded", 64, REPORT_FAIL, "undecodable"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text CLEANUP_FREE =
			document_of("", rows[i].codec, rows[i].status, rows[i].width);
		expect(text, rows[i].outcome, rows[i].why);
	}
	expect("{}", REPORT_FAIL, "none, or too many");
	expect("{\"work\": {\"video\": {\"streams\": [{\"codec\": \"h264\", \"status\": "
	       "\"encoded\", \"width\": 64, \"height\": 64, \"stream\": \"%%%\"}]}}}",
	       REPORT_FAIL, "base64");
}

static struct document_launch launch = {
	.nonce = "00112233445566778899aabbccddeeff",
	.seed = 7,
};

static void launched(struct check_run *run)
{
	cJSON *document CLEANUP_JSON = cJSON_Parse(document_text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(document);
	(void)document_expect_launch(run, "probe", document, &launch);
}

/* An encoder's own word is no proof: neither "ok", nor digests, nor streams of another seed or
 * from a file. */
static void attack(const char *api, char *const streams[3])
{
	const char *const stream = streams[0];
	const struct {
		const char *status;
		unsigned seed;
		const char *streams;
		enum report_outcome outcome;
		const char *why;
	} rows[] = {
		{"encoded", 7, stream, REPORT_PASS, ""},
		{"ok", 7, stream, REPORT_PASS, ""}, /* api.mediafoundation wants "encoded" */
		{"ok", 7, NULL, REPORT_FAIL, "/work/video/streams"},
		{"encoded", 7, NULL, REPORT_FAIL, "/work/video/streams"},
		{"encoded", 8, stream, REPORT_FAIL, "/work/seed"},
		{"failed", 7, NULL, REPORT_PASS, ""},
		{"encoded", 7, streams[1], REPORT_FAIL, "frame 0 is unlike"},
		{"encoded", 7, streams[2], REPORT_FAIL, "frame 0 is of one colour"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text CLEANUP_FREE = text_format(
			"{\"schema\": \"gpucert-probe/1\", \"probe\": \"%s\", "
			"\"version\": \"%s\", \"nonce\": \"%s\", \"work\": {\"status\": \"%s\", "
			"\"seed\": %u, \"digests\": {}, \"video\": {\"streams\": [%s%s%s]}}}",
			api, GPUCERT_VERSION, launch.nonce, rows[i].status, rows[i].seed,
			rows[i].streams != NULL
				? "{\"codec\": \"h264\", \"status\": \"encoded\", \"width\": 64, "
				  "\"height\": 64, \"stream\": \""
				: "",
			rows[i].streams != NULL ? rows[i].streams : "",
			rows[i].streams != NULL ? "\"}" : "");
		expect_of(launched, text, rows[i].outcome, rows[i].why);
	}
}

static void test_the_word_of_each_encoder(void)
{
	char *const streams[] = {stream_of(""), stream_of("other=8"), stream_of("black=0")};
	for (const struct gpu_api *api = gpu_apis; api->name != NULL; api++) {
		char *probe CLEANUP_FREE = text_format("probe-%s", api->name);
		launch.probe = probe;
		if (api->encodes)
			attack(api->name, streams);
	}
	for (size_t i = 0; i < ARRAY_SIZE(streams); i++)
		free(streams[i]);
}

/* In the place of verify-video, a program that ends as a decoder may end. */
static char *make_program(const char *script)
{
	char *path = path_join(directory, "verifier");
	UNIT_INT(file_write_atomic(path, script, strlen(script), 0700, NULL), 0);
	return path;
}

static bool offers_vaapi(const struct discovery_device *device, const struct gpu_api *api)
{
	(void)device;
	return strcmp(api->name, "vaapi") == 0;
}

static bool offers_nothing(const struct discovery_device *device, const struct gpu_api *api)
{
	(void)device;
	(void)api;
	return false;
}

static video_offers_api *offers;
static struct grant grant;
static struct discovery_device device = {.id = "gpu"};

static void hardware_body(struct check_run *run)
{
	cJSON *document CLEANUP_JSON = cJSON_Parse(document_text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(document);
	(void)check_expect(run, true, "streams", "decode", "decode");
	if (json_pointer(document, "/api/missing") != NULL)
		video_expect_ffmpeg(run, &device, document, offers);
	else
		video_expect_hardware(run, &device, &grant, document, offers);
}

/* FFmpeg falls back to a processor and exits with 0: that is what was promised on a device without
 * encoders alone. */
static void test_ffmpeg(void)
{
	static const struct {
		video_offers_api *offers;
		const char *software, *hardware, *status;
		enum report_outcome outcome;
		const char *why;
	} rows[] = {
		{offers_vaapi, "false", "true", "encoded", REPORT_PASS, ""},
		{offers_vaapi, "false", "false", "failed", REPORT_FAIL, "false: no display"},
		{offers_vaapi, "false", "false", "wrong", REPORT_FAIL,
		 "true, for the device offers vaapi"},
		{offers_vaapi, "false", "false", "timeout", REPORT_FAIL, "no display"},
		{offers_vaapi, "false", "false", "unsupported", REPORT_UNSUPPORTED,
		 "gpu: no display"},
		{offers_nothing, "false", "false", "failed", REPORT_PASS, ""},
		{offers_vaapi, "true", "false", "failed", REPORT_PASS, ""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text CLEANUP_FREE = text_format(
			"{\"devices\": [{\"software\": %s}], \"work\": {\"video\": {\"streams\": "
			"[{\"encoder\": \"x\", \"hardware\": %s}], \"attempts\": [{\"api\": "
			"\"nvenc\", \"status\": \"failed\", \"reason\": \"no library\"}, "
			"{\"api\": \"vaapi\", \"status\": \"%s\", \"reason\": \"no display\"}, "
			"{\"api\": null, \"status\": \"encoded\"}]}}}",
			rows[i].software, rows[i].hardware, rows[i].status);
		offers = rows[i].offers;
		expect_of(hardware_body, text, rows[i].outcome, rows[i].why);
	}
}

/* What FFmpeg does on Vulkan is told; frames that are not right fail. */
static void test_ffmpeg_on_vulkan(void)
{
	static const struct {
		const char *status;
		enum report_outcome outcome;
		const char *why;
	} rows[] = {
		{"ok", REPORT_PASS, ""},
		{"unsupported", REPORT_PASS, ""},
		{"failed", REPORT_PASS, ""},
		{"wrong", REPORT_FAIL, "frame 1"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text CLEANUP_FREE = text_format(
			"{\"work\": {\"video\": {\"streams\": [{\"encoder\": \"x\", \"hardware\": "
			"true}], \"vulkan\": {\"status\": \"%s\", \"reason\": \"frame 1\"}}}}",
			rows[i].status);
		offers = offers_nothing;
		expect_of(hardware_body, text, rows[i].outcome, rows[i].why);
	}
}

/* A program that the answer brings says what it likes. */
static void test_ffmpeg_of_the_answer(void)
{
	static const char text[] =
		"{\"api\": {\"loader\": {\"path\": \"/usr/bin/ffmpeg\"}}, \"work\": {\"video\": "
		"{\"streams\": [{\"encoder\": \"x\", \"hardware\": true}]}}}";
	static struct grant_entry mount = {.host_path = "/opt", .container_path = "/usr/lib"};
	offers = offers_vaapi;
	grant.mounts.items = &mount;
	grant.mounts.count = 1;
	expect_of(hardware_body, text, REPORT_PASS, "");
	mount.container_path = "/usr/bin";
	expect_of(hardware_body, text, REPORT_FAIL, "/usr/bin/ffmpeg, which the answer mounts");
	mount.container_path = "/usr/bin/ffmpeg";
	expect_of(hardware_body, text, REPORT_FAIL, "an ffmpeg of the image");
	grant.mounts = (struct grant_list){0};
}

static void test_no_ffmpeg(void)
{
	static const char text[] =
		"{\"api\": {\"missing\": \"ffmpeg\", \"reason\": \"there is no ffmpeg\"}}";
	offers = offers_vaapi;
	expect_of(hardware_body, text, REPORT_UNSUPPORTED, "gpu: there is no ffmpeg");
	device.kind = DISCOVERY_SOFTWARE;
	expect_of(hardware_body, text, REPORT_NOT_APPLICABLE, "gpu offers no encoder");
	device.kind = DISCOVERY_DISPLAY;
	offers = offers_nothing;
	expect_of(hardware_body, text, REPORT_NOT_APPLICABLE, "gpu offers no encoder");
}

/* Devices without an encoder are not the plugin's fault, unless something may be missing. */
static void test_no_encoder(void)
{
	static const struct {
		const char *os, *user_mode, *reason;
		bool none;
	} rows[] = {
		{"linux", "", VIDEO_NOTHING ": NV_ENC_ERR_NO_ENCODE_DEVICE", true},
		{"linux", "Mesa 25.0.7", "the driver offers no queue: " VIDEO_NO_QUEUE, true},
		{"linux", "", "the driver offers no queue: " VIDEO_NO_QUEUE, false},
		{"linux", "Mesa 25.0.7", "the Vulkan loader knows nothing of it", false},
		{"windows", "", VIDEO_NOTHING, false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct discovery_snapshot node = {.system.os = rows[i].os};
		const struct discovery_device gpu = {.user_mode_driver = rows[i].user_mode};
		UNIT_INT(video_has_no_encoder(&node, &gpu, rows[i].reason), rows[i].none);
	}
}

static void test_ends_of_the_decoder(void)
{
	static const struct {
		const char *script;
		enum report_outcome outcome;
		const char *why;
	} rows[] = {
		{"#!/bin/sh\nkill -SEGV $$\n", REPORT_FAIL, "killed by signal 11"},
		{"#!/bin/sh\nkill -XCPU $$\n", REPORT_FAIL, "killed by signal 24"},
		{"#!/bin/sh\necho out of memory >&2\nexit 1\n", REPORT_BROKEN, "out of memory"},
		{"#!/bin/sh\necho hello\n", REPORT_BROKEN, "verify-video"},
		{"#!/bin/sh\necho '{}'\n", REPORT_FAIL, "streams/0"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *path CLEANUP_FREE = make_program(rows[i].script);
		program = path;
		expect_fault("", rows[i].outcome, rows[i].why);
	}
	program = "/nonexistent/verify-video";
	expect_fault("", REPORT_UNSUPPORTED, "there is no verify-video");
	program = NULL;
}

static int open_directory(void)
{
	return file_make_temporary(NULL, "video-streams-", &directory, NULL);
}

static int close_directory(void)
{
	int rc = file_remove_tree(directory, NULL);
	free(directory);
	return rc;
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"streams", test_streams},
		{"documents", test_documents},
		{"the word of each encoder", test_the_word_of_each_encoder},
		{"ends of the decoder", test_ends_of_the_decoder},
		{"FFmpeg in hardware", test_ffmpeg},
		{"FFmpeg on Vulkan", test_ffmpeg_on_vulkan},
		{"FFmpeg of the answer", test_ffmpeg_of_the_answer},
		{"no FFmpeg", test_no_ffmpeg},
		{"no encoder", test_no_encoder},
		CU_TEST_INFO_NULL,
	};
	return unit_run_in("streams of encoders", open_directory, close_directory, tests);
}
