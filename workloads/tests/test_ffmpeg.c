/* SPDX-License-Identifier: MIT */

/* probe-ffmpeg as a program, in a folder of its own beside an ffmpeg that does one thing wrong each. */

#include "base/tests/unit.h"
#include "workloads/tests/expect.h"
#include "workloads/tests/judge_stream.h"
#include "workloads/tests/run_probe.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define TESTS	  GPUCERT_BINARY_DIR "/tests/"
#define PROGRAM	  "../../tests/ffmpeg/probe-ffmpeg" /* from where probes are */
#define OTHER	  "../../tests/ffmpeg-other/probe-ffmpeg"
#define NO_VULKAN "VK_DRIVER_FILES=/nonexistent"
#define PROCESSOR "LD_LIBRARY_PATH=/nonexistent"
#define NVIDIA	  "LD_LIBRARY_PATH=" TESTS "cuda"
#define VULKAN	  "VK_DRIVER_FILES=" TESTS "double_vulkan.json"
/* All tries together have three times that, on a busy machine too. */
#define UNHURRIED "--timeout=10000"

static cJSON *run(const char *settings, const char *libraries)
{
	char *word CLEANUP_FREE = text_format("GPUCERT_DOUBLE=%s", settings);
	const struct probe probe = {
		.program = PROGRAM, .option = UNHURRIED, .env = {word, NO_VULKAN, libraries}};
	return probe_document(&probe);
}

static const char *attempt_at(const cJSON *document, size_t index, const char *member)
{
	char pointer[64] = "";
	(void)snprintf(pointer, sizeof(pointer), "/work/video/attempts/%zu/%s", index, member);
	return string_at(document, pointer);
}

/* Software alone: every encoder in hardware was tried before, in order, and is told. */
static void test_software(void)
{
	static const char *const tried[] = {"h264_nvenc",  "h264_amf", "h264_qsv", "h264_vaapi",
					    "h264_vulkan", "h264_mf",  "h264_mf",  "libx264"};
	cJSON *document CLEANUP_JSON = run("libx264", PROCESSOR);
	expect_string(document, "/api/loader/version", "5.1.9-double");
	UNIT_CONTAINS(string_at(document, "/api/loader/path"), "/tests/ffmpeg/ffmpeg");
	expect_string(document, "/devices/0/name", "processor");
	expect_bool(document, "/devices/0/software", true);
	expect_count(document, "/work/video/attempts", ARRAY_SIZE(tried));
	for (size_t i = 0; i < ARRAY_SIZE(tried); i++)
		UNIT_STRING(attempt_at(document, i, "encoder"), tried[i]);
	expect_string(document, "/work/video/attempts/0/status", "failed");
	expect_string(
		document, "/work/video/attempts/0/reason",
		"h264: h264_nvenc: exited with code 1: [h264_nvenc] Cannot load libcuda.so.1");
	expect_number(document, "/work/video/attempts/0/exitCode", 1);
	expect_string(document, "/work/video/attempts/0/messages/0",
		      "[h264_nvenc] Cannot load libcuda.so.1");
	expect_string(document, "/work/video/attempts/1/status", "unsupported");
	expect_string(document, "/work/video/attempts/7/status", "encoded");
	expect_null(document, "/work/video/attempts/7/api");
	expect_number(document, "/work/video/attempts/7/exitCode", 0);
	expect_count(document, "/work/video/streams", 1);
	expect_string(document, "/work/video/streams/0/encoder", "libx264");
	expect_bool(document, "/work/video/streams/0/hardware", false);
	expect_judgement(document, "ok", NULL);
}

static void test_hardware_comes_first(void)
{
	cJSON *document CLEANUP_JSON = run("h264_vaapi,libx264", NVIDIA);
	expect_string(document, "/devices/0/name", "Double 0");
	expect_count(document, "/work/video/attempts", 4);
	expect_string(document, "/work/video/streams/0/encoder", "h264_vaapi");
	expect_string(document, "/work/video/attempts/3/api", "vaapi");
	expect_bool(document, "/work/video/streams/0/hardware", true);
	expect_judgement(document, "ok", NULL);
}

/* The exit code says nothing of what decoded; the frames do. */
static void test_decoding(void)
{
	cJSON *software CLEANUP_JSON = run("libx264", PROCESSOR);
	expect_string(software, "/work/video/decoding/pixelFormat", "yuv420p");
	expect_bool(software, "/work/video/decoding/hardware", false);
	expect_number(software, "/work/video/decoding/exitCode", 0);
	UNIT_CONTAINS(string_at(software, "/work/video/decoding/message"), "no device found");
	cJSON *device CLEANUP_JSON = run("libx264,nv12", PROCESSOR);
	expect_string(device, "/work/video/decoding/pixelFormat", "nv12");
	expect_bool(device, "/work/video/decoding/hardware", true);
}

/* What an attempt is that exits with 0 and made no such stream, and what follows it. */
static void test_exit_code_0_proves_nothing(void)
{
	static const struct {
		const char *settings, *status, *reason;
	} rows[] = {
		{"empty,h264_nvenc,libx264", "wrong", "the stream is empty"},
		{"deaf,h264_nvenc,libx264", "wrong", "the stream is empty"},
		{"signed,h264_nvenc,libx264", "wrong", "the stream says that x264 made it"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cJSON *document CLEANUP_JSON = run(rows[i].settings, PROCESSOR);
		expect_string(document, "/work/video/attempts/0/status", rows[i].status);
		expect_number(document, "/work/video/attempts/0/exitCode", 0);
		UNIT_CONTAINS(attempt_at(document, 0, "reason"), rows[i].reason);
		expect_count(document, "/work/video/attempts", 8 + (i < 2));
	}
}

static void test_a_failure_with_a_stream(void)
{
	cJSON *document CLEANUP_JSON = run("fails,libopenh264", PROCESSOR);
	expect_string(document, "/work/status", "failed");
	expect_number(document, "/work/video/attempts/8/exitCode", 3);
	UNIT_CONTAINS(string_at(document, "/work/reason"), "exited with code 3");
}

static void test_other_frames(void)
{
	cJSON *document CLEANUP_JSON = run("other=99,libx264", PROCESSOR);
	expect_judgement(document, "wrong", "frame 0");
}

static cJSON *run_briefly(const char *settings)
{
	char *word CLEANUP_FREE = text_format("GPUCERT_DOUBLE=%s", settings);
	const struct probe probe = {
		.program = PROGRAM, .option = "--timeout=500", .env = {word, NO_VULKAN, PROCESSOR}};
	return probe_document(&probe);
}

/* One that hangs is ended, and the others have their turn; but all of them together have the time of
 * three. */
static void test_hang(void)
{
	cJSON *one CLEANUP_JSON = run("hangs,libx264", PROCESSOR);
	expect_string(one, "/work/video/attempts/0/status", "timeout");
	expect_null(one, "/work/video/attempts/0/exitCode");
	UNIT_CONTAINS(attempt_at(one, 0, "reason"), "h264_nvenc: timed out after");
	expect_judgement(one, "ok", NULL);
	cJSON *all CLEANUP_JSON = run_briefly("stuck");
	expect_string(all, "/work/status", "timeout");
	UNIT_CONTAINS(attempt_at(all, 8, "reason"), "no time was left");
}

static void test_huge_output(void)
{
	cJSON *document CLEANUP_JSON = run_briefly("huge,libx264");
	expect_string(document, "/work/video/attempts/7/status", "timeout");
	expect_string(document, "/work/status", "timeout");
}

static void test_messages_are_clean(void)
{
	cJSON *document CLEANUP_JSON = run("controls,libx264", PROCESSOR);
	expect_count(document, "/work/video/attempts/0/messages", 8);
	expect_string(document, "/work/video/attempts/0/messages/3",
		      "\\x1b[31mred\\x07 \\xff\\xfe 3");
	expect_judgement(document, "ok", NULL);
}

/* The work is what the encoders came to that the device could have had. */
static void test_nothing_encodes(void)
{
	cJSON *software CLEANUP_JSON = run("", PROCESSOR);
	expect_string(software, "/work/status", "unsupported");
	UNIT_CONTAINS(string_at(software, "/work/reason"), "none of 9 encoders made the stream");
	cJSON *hardware CLEANUP_JSON = run("", NVIDIA);
	expect_string(hardware, "/work/status", "failed");
	UNIT_CONTAINS(string_at(hardware, "/work/reason"), "Cannot load libcuda.so.1");
	cJSON *absent CLEANUP_JSON = run("absent", NVIDIA);
	expect_string(absent, "/work/status", "unsupported");
	expect_string(absent, "/work/video/attempts/0/status", "unsupported");
}

/* Encoders of another vendor are not tried on a device that tells its own. */
static void test_vendors(void)
{
	const struct probe probe = {.program = PROGRAM,
				    .env = {"GPUCERT_DOUBLE=libx264", VULKAN, PROCESSOR}};
	cJSON *document CLEANUP_JSON = probe_document(&probe);
	expect_bool(document, "/devices/0/software", false);
	expect_string(document, "/work/video/attempts/0/status", "failed");
	expect_string(document, "/work/video/attempts/1/status", "unsupported");
	UNIT_CONTAINS(attempt_at(document, 1, "reason"), "for devices of the vendor 0x1002");
	expect_null(document, "/work/video/attempts/1/exitCode");
}

static cJSON *run_on_vulkan(const char *settings)
{
	char *word CLEANUP_FREE = text_format("GPUCERT_DOUBLE=libx264,%s", settings);
	const struct probe probe = {
		.program = PROGRAM, .option = UNHURRIED, .env = {word, VULKAN, PROCESSOR}};
	return probe_document(&probe);
}

/* Frames go to the Vulkan device and back: bytes and the device's name tell, not the exit code. What
 * was encoded is what it is. */
static void test_vulkan_frames(void)
{
	static const struct {
		const char *settings, *status, *reason;
		int exit_code; /* -1: null */
	} rows[] = {
		{"vulkan", "ok", NULL, 0},
		{"vulkan,stale", "wrong", "frame 1 is not that of the seed from byte 0 on", 0},
		{"vulkan,short", "wrong", "49152 bytes of 73728 came back", 0},
		{"vulkan,copied", "wrong", "18432 bytes of 73728 came back", 0},
		{"vulkan,elsewhere", "wrong", "FFmpeg reported 'Other (TM)'", 0},
		{"vulkan,fallback", "wrong", "expected the device 'Double 0", 0},
		{"vulkan,late", "timeout", "timed out after", -1},
		{"gone", "failed", "[error] Unable to find device with index 0!", 1},
		{"plain", "unsupported", "No such filter: 'scale_vulkan'", 1},
		{"none", "unsupported", "Device creation failed: -12.", 1},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cJSON *document CLEANUP_JSON = run_on_vulkan(rows[i].settings);
		expect_string(document, "/work/video/vulkan/status", rows[i].status);
		if (rows[i].reason != NULL)
			expect_contains(document, "/work/video/vulkan/reason", rows[i].reason);
		else
			expect_null(document, "/work/video/vulkan/reason");
		if (rows[i].exit_code >= 0)
			expect_number(document, "/work/video/vulkan/exitCode", rows[i].exit_code);
		else
			expect_null(document, "/work/video/vulkan/exitCode");
		expect_judgement(document, "ok", NULL);
	}
}

static void test_vulkan_messages(void)
{
	cJSON *right CLEANUP_JSON = run_on_vulkan("vulkan");
	expect_string(right, "/work/video/vulkan/device", "Double 0 \xef\xbf\xbd");
	expect_count(right, "/work/video/vulkan/messages", 0);
	cJSON *gone CLEANUP_JSON = run_on_vulkan("gone");
	expect_null(gone, "/work/video/vulkan/device");
	expect_string(gone, "/work/video/vulkan/messages/0",
		      "[AVHWDeviceContext] [error] Unable to find device with index 0!");
	cJSON *absent CLEANUP_JSON = run("libx264,vulkan", PROCESSOR);
	expect_string(absent, "/work/video/vulkan/status", "unsupported");
	expect_string(absent, "/work/video/vulkan/reason", "Vulkan reports no device here");
	expect_null(absent, "/work/video/vulkan/exitCode");
}

static void expect_failed(const char *settings, const char *reason)
{
	cJSON *document CLEANUP_JSON = run(settings, PROCESSOR);
	expect_string(document, "/api/status", "failed");
	UNIT_CONTAINS(string_at(document, "/api/reason"), reason);
	expect_null(document, "/work");
}

static void test_programs_that_do_not_serve(void)
{
	expect_failed("broken", "-version: exited with code 127: error while loading shared");
	expect_failed("stranger", "-version: it does not say that it is ffmpeg");
}

/* The program is a file with this content instead. */
static void expect_file(const char *content, size_t size, unsigned mode, const char *reason)
{
	const struct probe probe = {.program = OTHER, .env = {NO_VULKAN, PROCESSOR}};
	CU_ASSERT_EQUAL_FATAL(
		file_write_atomic(TESTS "ffmpeg-other/ffmpeg", content, size, mode, NULL), 0);
	cJSON *document CLEANUP_JSON = probe_document(&probe);
	expect_string(document, "/api/status", "failed");
	UNIT_CONTAINS(string_at(document, "/api/reason"), reason);
}

static void test_files_that_do_not_run(void)
{
	static const char arm[64] = "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\267\0\1";
	expect_file(arm, sizeof(arm), 0755, "Exec format error");
	expect_file("#!/nonexistent\n", 15, 0755, "its interpreter does not exist");
	expect_file("#!/bin/sh\n", 10, 0644, "Permission denied");
	expect_file("#!/bin/sh\nkill -9 $$\n", 21, 0755, "killed by signal 9");
}

static void test_missing(void)
{
	const struct probe probe = {.program = OTHER, .env = {NO_VULKAN, PROCESSOR}};
	(void)unlink(TESTS "ffmpeg-other/ffmpeg");
	if (file_exists("/usr/bin/ffmpeg") || file_exists("/usr/local/bin/ffmpeg"))
		return; /* it is used */
	expect_unsupported(&probe, "ffmpeg");
}

/* The probe looks beside itself. */
static int place(const char *folder)
{
	char *data = NULL;
	size_t size = 0;
	char *to CLEANUP_FREE = text_format("%s/probe-ffmpeg", folder);
	int rc = mkdir(folder, 0755);
	rc = rc == 0 || errno == EEXIST
		     ? file_read(GPUCERT_BINARY_DIR "/libexec/gpucert/probe-ffmpeg", 256u << 20,
				 &data, &size, NULL)
		     : rc;
	if (rc == 0)
		rc = file_write_atomic(to, data, size, 0755, NULL);
	free(data);
	return rc;
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"software", test_software},
		{"hardware comes first", test_hardware_comes_first},
		{"decoding", test_decoding},
		{"exit code 0 proves nothing", test_exit_code_0_proves_nothing},
		{"a failure with a stream", test_a_failure_with_a_stream},
		{"other frames", test_other_frames},
		{"hang", test_hang},
		{"huge output", test_huge_output},
		{"messages are clean", test_messages_are_clean},
		{"nothing encodes", test_nothing_encodes},
		{"vendors", test_vendors},
		{"frames on Vulkan", test_vulkan_frames},
		{"messages of Vulkan", test_vulkan_messages},
		{"programs that do not serve", test_programs_that_do_not_serve},
		{"files that do not run", test_files_that_do_not_run},
		{"missing", test_missing},
		CU_TEST_INFO_NULL,
	};
	int code = probe_documents_open("ffmpeg-documents.ndjson");
	if (code == 0 && (place(TESTS "ffmpeg") != 0 || place(TESTS "ffmpeg-other") != 0))
		code = 2;
	if (code == 0)
		code = unit_run("ffmpeg", tests);
	return code != 0 ? code : probe_documents_close();
}
