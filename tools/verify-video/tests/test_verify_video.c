/* SPDX-License-Identifier: MIT */
/* The program: streams of real encoders, each fault for its own reason, and what is hostile. */
#include "base/tests/unit.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "base/process.h"
#include "workloads/doubles/h264_pcm.h"

#define VIDEO_FRAMES_PROGRAM GPUCERT_BINARY_DIR "/tests/video_frames"
#define CORPUS		     GPUCERT_SOURCE_DIR "/workloads/video/fuzz/corpus/"

static const char program[] = GPUCERT_BINARY_DIR "/libexec/gpucert/verify-video";
static char *directory;

static cJSON *verify(const char *codec, const char *seed, const char *path)
{
	const char *const argv[] = {program, "--codec",	 codec, "--seed", seed, "--width",
				    "64",    "--height", "64",	path,	  NULL};
	const struct process_spec spec = {.argv = argv, .timeout_ms = 300000};
	struct process_result result = {0};
	cJSON *document = NULL;
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(process_run(&spec, &result, &err), 0);
	if (result.end != PROCESS_EXITED || result.code != 0)
		(void)fprintf(stderr, "%s: %s\n", path, text_string(&result.err));
	UNIT_INT(result.end, PROCESS_EXITED);
	UNIT_INT(result.code, 0);
	CU_ASSERT_EQUAL_FATAL(
		json_parse(text_string(&result.out), result.out.size, &document, &err), 0);
	process_result_free(&result);
	return document;
}

static const char *member(const cJSON *document, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(document, key));
	return text != NULL ? text : "";
}

static void expect(const char *codec, const char *seed, const char *path, const char *status,
		   const char *reason)
{
	cJSON *document CLEANUP_JSON = verify(codec, seed, path);
	UNIT_STRING(member(document, "status"), status);
	UNIT_CONTAINS(member(document, "reason"), reason);
}

/* A stream of the double with this fault. */
static char *faulty_stream(const char *fault)
{
	struct h264_pcm writer = {.source = {.seed = 7, .width = 64, .height = 64}};
	struct text stream CLEANUP_TEXT = {0};
	uint8_t memory[64 * 64 * 3 / 2] = {0};
	const struct video_planes planes = video_planes_of(&writer.source, VIDEO_NV12, memory);
	char *path = path_join(directory, "stream");
	CU_ASSERT_FATAL(path != NULL && setenv("GPUCERT_DOUBLE", fault, 1) == 0);
	for (unsigned i = 0; i < VIDEO_FRAMES; i++) {
		video_fill(&writer.source, i, VIDEO_NV12, &planes);
		h264_pcm_add(&writer, VIDEO_NV12, &planes, &stream);
	}
	h264_pcm_free(&writer);
	CU_ASSERT_EQUAL_FATAL(
		file_write_atomic(path, text_string(&stream), stream.size, 0600, NULL), 0);
	return path;
}

static void test_faults(void)
{
	static const struct {
		const char *fault, *status, *reason;
	} rows[] = {
		{"", "ok", ""},
		{"drop=4", "wrong", "holds 11 pictures, not 12"},
		{"repeat=4", "wrong", "frame 4 shows frame 3"},
		{"black=4", "wrong", "frame 4 is of one colour"},
		{"corrupt=4", "undecodable", "OpenH264 gives up"},
		{"cut=4", "undecodable", "OpenH264 gives up"},
		{"other=8", "wrong", "frame 0 is unlike what was to be encoded"},
		{"size", "wrong", "the stream is 80 by 64, not 64 by 64"},
		{"empty", "undecodable", "the stream is empty"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *path CLEANUP_FREE = faulty_stream(rows[i].fault);
		expect("h264", "7", path, rows[i].status, rows[i].reason);
	}
}

/* Every sample comes back as it was given: the double's streams are without loss. */
static void test_without_loss(void)
{
	char *path CLEANUP_FREE = faulty_stream("");
	cJSON *document CLEANUP_JSON = verify("h264", "7", path);
	const cJSON *psnr = NULL;
	size_t count = 0;
	cJSON_ArrayForEach (psnr, cJSON_GetObjectItem(document, "psnr")) {
		CU_ASSERT_TRUE(psnr->valuedouble == 99);
		count++;
	}
	UNIT_INT(count, VIDEO_FRAMES);
}

static void test_real_streams(void)
{
	static const struct {
		const char *codec, *path;
	} rows[] = {
		{"h264", CORPUS "high.h264"},
		{"h264", CORPUS "baseline.h264"},
		{"hevc", CORPUS "main.hevc"},
		{"av1", CORPUS "main.av1"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		expect(rows[i].codec, "7", rows[i].path, "ok", "");
		expect(rows[i].codec, "8", rows[i].path, "wrong", "frame 0 is unlike");
	}
	expect("hevc", "7", CORPUS "high.h264", "undecodable", "byte ");
	expect("av1", "7", CORPUS "main.hevc", "undecodable", "byte ");
}

static void test_hostile_streams(void)
{
	static const struct {
		const char *codec, *path, *status, *reason;
	} rows[] = {
		{"h264", CORPUS "huge-size.h264", "undecodable", "makes no sense"},
		{"h264", CORPUS "order-counts.h264", "undecodable", "makes no sense"},
		{"h264", CORPUS "picture-first.h264", "undecodable", "before the first"},
		{"h264", CORPUS "cut.h264", "wrong", "pictures, not 12"},
		{"hevc", CORPUS "cut.hevc", "wrong", "pictures, not 12"},
		{"av1", CORPUS "cut.av1", "undecodable", "ends after the stream"},
		{"h264", CORPUS "damaged.h264", "", ""},
		{"hevc", CORPUS "damaged.hevc", "", ""},
		{"av1", CORPUS "damaged.av1", "", ""},
		{"av1", CORPUS "long-size.av1", "undecodable", "ends after the stream"},
		{"h264", CORPUS "zeros", "undecodable", "no start code"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cJSON *document CLEANUP_JSON = verify(rows[i].codec, "7", rows[i].path);
		UNIT_CONTAINS(member(document, "status"), rows[i].status);
		UNIT_CONTAINS(member(document, "reason"), rows[i].reason);
		CU_ASSERT_STRING_NOT_EQUAL(member(document, "status"), "ok");
	}
}

/* What SVT-AV1 writes around the stream: a header of 32 bytes, and 12 in front of each part, the first
 * four of which tell its size. */
static void unpack(const char *path)
{
	char *data CLEANUP_FREE = NULL;
	struct text stream CLEANUP_TEXT = {0};
	size_t size = 0;
	CU_ASSERT_EQUAL_FATAL(file_read(path, 1 << 20, &data, &size, NULL), 0);
	const uint8_t *bytes = (const uint8_t *)data;
	for (size_t at = 32; at + 12 < size;) {
		const size_t part = bytes[at] | (size_t)bytes[at + 1] << 8 |
				    (size_t)bytes[at + 2] << 16 | (size_t)bytes[at + 3] << 24;
		CU_ASSERT_FATAL(part <= size - at - 12);
		text_append(&stream, data + at + 12, part);
		at += 12 + part;
	}
	UNIT_INT(file_write_atomic(path, text_string(&stream), stream.size, 0600, NULL), 0);
}

/* An encoder of this machine, where there is one, with frames of another seed. */
static void expect_encoder(const char *const *command, const char *codec)
{
	char *frames CLEANUP_FREE = path_join(directory, "frames.yuv");
	char *stream CLEANUP_FREE = path_join(directory, "encoded");
	char *make CLEANUP_FREE = text_format("%s 12345 64 64 >%s", VIDEO_FRAMES_PROGRAM, frames);
	char *encode CLEANUP_FREE =
		text_format("%s %s %s%s", command[1], stream, command[2], frames);
	struct process_result result = {0};
	char *found CLEANUP_FREE = NULL;
	if (process_find_program(command[0], &found, NULL) != 0)
		return;
	char *both CLEANUP_FREE = text_format("%s && %s", make, encode);
	const char *const argv[] = {"sh", "-c", both, NULL};
	CU_ASSERT_EQUAL_FATAL(
		process_run(&(struct process_spec){.argv = argv, .timeout_ms = 300000}, &result,
			    NULL),
		0);
	UNIT_INT(result.code, 0);
	process_result_free(&result);
	if (strcmp(codec, "av1") == 0)
		unpack(stream);
	expect(codec, "12345", stream, "ok", "");
}

static void test_encoders_of_this_machine(void)
{
	static const char *const x264[] = {
		"x264", "x264 --quiet --fps 30 --input-res 64x64 --demuxer raw --muxer raw -o", ""};
	static const char *const x265[] = {
		"x265", "x265 --log-level none --fps 30 --input-res 64x64 -o", "--input "};
	static const char *const svt_av1[] = {
		"SvtAv1EncApp", "SvtAv1EncApp -w 64 -h 64 --fps 30 --preset 8 -b", "-i "};
	expect_encoder(svt_av1, "av1");
	expect_encoder(x264, "h264");
	expect_encoder(x265, "hevc");
}

static void test_usage(void)
{
	static const char *const wrong[][4] = {
		{"--width", "63", CORPUS "high.h264", NULL},
		{"--codec", "mpeg1", CORPUS "high.h264", NULL},
		{CORPUS "absent", NULL, NULL, NULL},
	};
	static const int codes[] = {2, 2, 1};
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		const char *const argv[] = {program, wrong[i][0], wrong[i][1], wrong[i][2], NULL};
		struct process_result result = {0};
		CU_ASSERT_EQUAL_FATAL(
			process_run(&(struct process_spec){.argv = argv}, &result, NULL), 0);
		UNIT_INT(result.code, codes[i]);
		process_result_free(&result);
	}
}

static int open_directory(void)
{
	return file_make_temporary(NULL, "verify-video-", &directory, NULL);
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
		{"faults", test_faults},
		{"without loss", test_without_loss},
		{"streams of real encoders", test_real_streams},
		{"hostile streams", test_hostile_streams},
		{"encoders of this machine", test_encoders_of_this_machine},
		{"usage", test_usage},
		CU_TEST_INFO_NULL,
	};
	return unit_run_in("verify-video", open_directory, close_directory, tests);
}
