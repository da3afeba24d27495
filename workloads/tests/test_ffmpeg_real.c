/* SPDX-License-Identifier: MIT */

/* probe-ffmpeg beside a real ffmpeg, which cmake/ffmpeg/make-ffmpeg.sh makes once: encoders in hardware fail
 * for their own reasons, and OpenH264 encodes. Skipped (77) where it cannot be made. */

#include "base/tests/unit.h"
#include "workloads/tests/expect.h"
#include "workloads/tests/judge_stream.h"
#include "workloads/tests/run_probe.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/process.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#define FOLDER GPUCERT_BINARY_DIR "/tests/ffmpeg-real/"

enum { MAKE_TIMEOUT_MS = 1500000, PROGRAM_MAX = 256 * 1024 * 1024 };

static int copy(const char *from, const char *to, struct error *err)
{
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	int rc = file_read(from, PROGRAM_MAX, &data, &size, err);
	return rc == 0 ? file_write_atomic(to, data, size, 0755, err) : rc;
}

static int make(struct error *err)
{
	static const char *const argv[] = {GPUCERT_SOURCE_DIR "/cmake/ffmpeg/make-ffmpeg.sh",
					   "linux", NULL};
	const struct process_spec spec = {.argv = argv, .timeout_ms = MAKE_TIMEOUT_MS};
	char *path CLEANUP_FREE = NULL;
	int rc = process_ask(&spec, &path, err);
	if (rc != 0)
		return rc;
	path[strcspn(path, "\n")] = '\0';
	if (mkdir(FOLDER, 0755) != 0 && errno != EEXIST)
		return error_system(err, errno, FOLDER);
	rc = copy(path, FOLDER "ffmpeg", err);
	return rc == 0 ? copy(GPUCERT_BINARY_DIR "/libexec/gpucert/probe-ffmpeg",
			      FOLDER "probe-ffmpeg", err)
		       : rc;
}

/* lavapipe does it, where it is installed; on hardware the same holds. */
static void expect_transfer(const cJSON *document)
{
	const bool vulkan = json_pointer(document, "/devices/0/apiVersion") != NULL;
	expect_string(document, "/work/video/vulkan/status", vulkan ? "ok" : "unsupported");
	if (vulkan)
		expect_string(document, "/work/video/vulkan/device",
			      string_at(document, "/devices/0/name"));
}

/* Without a Vulkan device the rest is as it was. */
static void test_no_vulkan(void)
{
	const struct probe probe = {.program = "../../tests/ffmpeg-real/probe-ffmpeg",
				    .env = {"VK_DRIVER_FILES=/nonexistent"}};
	cJSON *document CLEANUP_JSON = probe_document(&probe);
	expect_string(document, "/work/video/vulkan/status", "unsupported");
	expect_string(document, "/work/video/vulkan/reason", "Vulkan reports no device here");
	expect_judgement(document, "ok", NULL);
}

static void test_real(void)
{
	static const struct {
		const char *encoder, *status, *message;
	} rows[] = {
		{"h264_nvenc", "failed", "[h264_nvenc] Cannot load libcuda.so.1"},
		{"h264_amf", "unsupported", "Unknown encoder 'h264_amf'"},
		{"h264_qsv", "failed", "[h264_qsv] Error initializing an internal MFX session"},
		{"h264_vaapi", "failed", "Device creation failed: "},
		{"h264_vulkan", "unsupported", "Unknown encoder 'h264_vulkan'"},
		{"h264_mf", "unsupported", "Unrecognized option 'hw_encoding'."},
		{"h264_mf", "unsupported", "Unknown encoder 'h264_mf'"},
		{"libx264", "unsupported", "Unknown encoder 'libx264'"},
		{"libopenh264", "encoded", ""},
	};
	const struct probe probe = {.program = "../../tests/ffmpeg-real/probe-ffmpeg"};
	cJSON *document CLEANUP_JSON = probe_document(&probe);
	const cJSON *attempts = json_pointer(document, "/work/video/attempts");
	expect_transfer(document);
	if (cJSON_IsTrue(json_pointer(
		    document, "/work/video/streams/0/hardware"))) { /* this machine has a GPU */
		expect_judgement(document, "ok", NULL);
		return;
	}
	UNIT_INT(cJSON_GetArraySize(attempts), ARRAY_SIZE(rows));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const cJSON *attempt = cJSON_GetArrayItem(attempts, (int)i);
		expect_string(attempt, "/encoder", rows[i].encoder);
		expect_string(attempt, "/status", rows[i].status);
		if (rows[i].message[0] != '\0')
			UNIT_CONTAINS(string_at(attempt, "/messages/0"), rows[i].message);
	}
	expect_bool(document, "/work/video/decoding/hardware", false);
	expect_string(document, "/work/video/decoding/pixelFormat", "yuv420p");
	expect_judgement(document, "ok", NULL);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"real FFmpeg", test_real}, {"no Vulkan", test_no_vulkan}, CU_TEST_INFO_NULL};
	struct error err = {0};
	int rc = make(&err);
	if (rc != 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		return rc == ERROR_UNSUPPORTED ? PROCESS_CANNOT_RUN : 1;
	}
	int code = probe_documents_open("ffmpeg-real-documents.ndjson");
	if (code == 0)
		code = unit_run("FFmpeg", tests);
	return code != 0 ? code : probe_documents_close();
}
