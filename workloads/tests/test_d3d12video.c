/* SPDX-License-Identifier: MIT */
/* What Wine does not have: a Direct3D 12 that encodes. A double of what encodes stands beside Wine's own
 * Direct3D 12, through which frames go to it. Streams that the probe cannot judge go to a folder, where
 * d3d12video_streams.sh has verify-video decode them. */
#include "base/tests/unit.h"

#include "workloads/d3d12video/d3d12video.h"
#include "workloads/doubles/d3d12video_double.h"
#include "workloads/tests/expect.h"
#include "workloads/video/av1.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/members.h"
#include "base/text.h"

#include <sodium.h>

#define STREAMS GPUCERT_BINARY_DIR "/tests/d3d12video-streams"

static struct api_report report;
static void *session;

static int open_session(void)
{
	const struct work_request request = {.timeout_ms = 1000};
	struct work_report work = {0};
	struct error err = {0};
	api_open(&d3d12video_api, &report, &session);
	if (session == NULL) {
		(void)fprintf(stderr, "no session: %s\n", report.reason);
		return 1;
	}
	struct d3d12_device gpu = {.d3d = session, .request = &request, .report = &work};
	if (d3d12_device_open(&gpu, &err) != 0 || !d3d12video_double_install(&gpu) ||
	    file_make_directories(STREAMS, 0755, NULL) != 0) {
		(void)fprintf(stderr, "no double: %s\n", err.text);
		return 1;
	}
	d3d12_device_free(&gpu);
	return 0;
}

/* Whether anything is left is looked at, but after a timeout. */
static cJSON *run_work(const char *setting)
{
	const struct work_request request = {.seed = 7, .timeout_ms = 300};
	struct work_report work CLEANUP_WORK_REPORT = {0};
	CU_ASSERT_EQUAL_FATAL(_putenv_s("GPUCERT_DOUBLE", setting), 0);
	d3d12video_double_reset();
	api_work(&d3d12video_api, session, 1, &request, &work);
	if (work.status != WORK_TIMED_OUT)
		UNIT_INT(d3d12video_double_alive, 0);
	return work_report_json(&work);
}

static void write_stream(const char *name, const cJSON *work)
{
	char *path CLEANUP_FREE = text_format(STREAMS "/%s.json", name);
	char *json CLEANUP_FREE = cJSON_PrintUnformatted(work);
	CU_ASSERT_EQUAL(file_write_atomic(path, json, strlen(json), 0644, NULL), 0);
}

static void expect(const char *setting, const char *status, const char *reason)
{
	cJSON *work CLEANUP_JSON = run_work(setting);
	expect_string(work, "/status", status);
	UNIT_CONTAINS(string_at(work, "/reason"), reason);
}

/* Each stream begins with its sequence parameter set (profile, constraints, level), the video parameter set
 * of HEVC, or a temporal delimiter and the sequence header of AV1. */
static void test_frames_are_encoded(void)
{
	static const char main_30[] = "AAAAAWdNAB6" /* 00 00 00 01 67 4d 00 1e */;
	static const char hevc[] = "AAAAAUABDAH//wFgAAADALAAAAMAAAMAWq" /* level 90 */;
	static const char av1[] = "EgAK" /* 12 00 0a */;
	static const struct {
		const char *setting, *begin;
	} rows[] = {
		{"plain", main_30},
		{"cqp", main_30},
		{"texture-array", main_30},
		{"high", "AAAAAWdkAB6" /* 64 00 1e */},
		{"parts", main_30},
		{"level=1", "AAAAAWdNEAu" /* 4d 10 0b: 1b */},
		{"new-codec", main_30},
		{"codec=1", hevc},
		{"codec=1,cqp", hevc},
		{"codec=1,texture-array", hevc},
		{"codec=1,parts", hevc},
		{"codec=1,small-trees", hevc},
		{"codec=1,large-blocks", hevc},
		{"codec=1,shallow,plain-tools", hevc},
		{"codec=1,low-delay", hevc},
		{"codec=1,wild-sizes", hevc},
		{"codec=1,region=128", hevc},
		{"codec=1,level=12,high-tier", "AAAAAUABDAH//yFgAAADALAAAAMAAAMAuq"},
		{"codec=2", av1},
		{"codec=2,cqp", av1},
		{"codec=2,texture-array", av1},
		{"codec=2,parts", av1},
		{"codec=2,order", av1},
		{"codec=2,largest", av1},
		{"codec=2,old-question", av1},
		{"codec=2,fresh", av1},
		{"codec=2,remap", av1},
		{"codec=2,features=0", av1},
		{"codec=2,features=67108863,order", av1},
		{"codec=2,level=23,high-tier", av1},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cJSON *work CLEANUP_JSON = run_work(rows[i].setting);
		const char *stream = string_at(work, "/video/streams/0/stream");
		expect_string(work, "/status", "encoded");
		expect_null(work, "/reason");
		expect_null(work, "/error");
		expect_number(work, "/video/streams/0/pictures", VIDEO_FRAMES);
		CU_ASSERT_EQUAL(strncmp(stream, rows[i].begin, strlen(rows[i].begin)), 0);
		write_stream(rows[i].setting, work);
	}
}

static void test_what_a_device_encodes_is_listed(void)
{
	cJSON *work CLEANUP_JSON = run_work("all-codecs");
	expect_string(work, "/status", "encoded");
	expect_count(work, "/video/encoders", 3);
	expect_string(work, "/video/encoders/0/profiles", "main high high10");
	expect_bool(work, "/video/encoders/0/tenBit", true);
	expect_null(work, "/video/encoders/0/bFrames");
	expect_number(work, "/video/encoders/0/least/width", 16);
	expect_number(work, "/video/encoders/0/most/height", 64);
	expect_string(work, "/video/encoders/1/profiles", "main main10");
	expect_string(work, "/video/encoders/2/codec", "av1");
	expect_string(work, "/video/streams/0/status", "encoded");
	expect_string(work, "/video/streams/1/status", "encoded");
	expect_string(work, "/video/streams/1/codec", "hevc");
	expect_string(work, "/video/streams/2/status", "encoded");
	expect_string(work, "/video/streams/2/codec", "av1");
	cJSON *plain CLEANUP_JSON = run_work("plain");
	expect_count(plain, "/video/encoders", 1);
	expect_bool(plain, "/video/encoders/0/tenBit", false);
	expect_number(plain, "/video/encoders/0/bFrames", 0);
}

static void test_what_cannot_encode_is_unsupported(void)
{
	static const struct {
		const char *setting, *reason;
	} rows[] = {
		{"no-video", "encodes no video with Direct3D 12: "
			     "ID3D12Device::QueryInterface(ID3D12VideoDevice3): E_NOINTERFACE"},
		{"none", "the device encodes nothing"},
		{"refuse=2048", "h264: the encoder does not accept I and P pictures (validation "
				"flags 0x800)"},
		{"refuse=576", "does not accept the bit rate, the size (validation flags 0x240)"},
		{"refuse=2", "does not accept these settings"},
		{"codec=1,no-such-sizes",
		 "hevc: the encoder accepts no sizes of blocks and transforms that HEVC has"},
		{"codec=2,small-transforms",
		 "av1: the driver has no transforms but those of 4 by 4"},
		{"codec=2,refuse=4096", "does not accept one tile (validation flags 0x1000)"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		expect(rows[i].setting, "unsupported", rows[i].reason);
}

static void test_who_cannot_is_told(void)
{
	const struct os_version old = {.build = 20348}, new = {.build = 26100};
	const struct os_version wine = {.build = 19043, .wine = "10.0"};
	struct error err = {0};
	UNIT_INT(d3d12video_refuse(&old, &err), ERROR_UNSUPPORTED);
	UNIT_CONTAINS(err.text, "Windows build 20348 encodes no video with Direct3D 12, which does "
				"so since build 22000");
	UNIT_INT(d3d12video_refuse(&new, &err), ERROR_UNSUPPORTED);
	UNIT_CONTAINS(err.text, "the device's driver encodes no video");
	UNIT_INT(d3d12video_refuse(&wine, &err), ERROR_UNSUPPORTED);
	UNIT_CONTAINS(err.text, "Wine 10.0 encodes no video");
}

static void test_failing_calls_are_told(void)
{
	static const struct {
		const char *method, *call;
	} rows[] = {
		{"CheckFeatureSupport", "ID3D12VideoDevice3::CheckFeatureSupport"},
		{"CreateVideoEncoder", "ID3D12VideoDevice3::CreateVideoEncoder"},
		{"CreateVideoEncoderHeap", "ID3D12VideoDevice3::CreateVideoEncoderHeap"},
		{"CreateCommittedResource", "ID3D12Device::CreateCommittedResource"},
		{"CreateCommandQueue", "ID3D12Device::CreateCommandQueue"},
		{"Close", "ID3D12VideoEncodeCommandList2::Close"},
		{"Reset", "ID3D12VideoEncodeCommandList2::Reset"},
		{"Signal", "ID3D12CommandQueue::Signal"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *setting CLEANUP_FREE =
			text_format("fail=%s:%d", rows[i].method, (int)E_OUTOFMEMORY);
		cJSON *work CLEANUP_JSON = run_work(setting);
		expect_string(work, "/status", "failed");
		expect_string(work, "/error/call", rows[i].call);
		expect_string(work, "/error/name", "E_OUTOFMEMORY");
		expect_number(work, "/error/code", (int)E_OUTOFMEMORY);
	}
}

static void test_what_the_driver_says_is_told(void)
{
	static const struct {
		const char *setting, *status, *reason;
	} rows[] = {
		{"flags=4", "failed",
		 "h264: ID3D12VideoEncodeCommandList2::EncodeFrame: "
		 "D3D12_VIDEO_ENCODER_ENCODE_ERROR_FLAG_INVALID_REFERENCE_PICTURES (4)"},
		{"flags=3", "failed", "EncodeFrame: unknown result (3)"},
		{"removed=3", "failed",
		 "ID3D12Device::GetDeviceRemovedReason: DXGI_ERROR_DEVICE_HUNG (0x887a0006)"},
		{"silent", "wrong", "reported nothing about the picture"},
		{"overfull", "wrong", "larger than the memory for it"},
		{"crowded", "wrong", "more than 64 parts of one picture"},
		{"greedy", "wrong", "makes no sense: metadata of 4294967295 bytes"},
		{"small-layout", "wrong", "no room for a frame of NV12"},
		{"level=20", "wrong", "suggests level 20, which is not a level"},
		{"drop=3", "wrong", "h264: the stream holds 11 pictures"},
		{"empty", "wrong", "h264: "},
		{"codec=1,level=13", "wrong", "suggests level 13, which is not a level"},
		{"codec=1,region=12", "wrong", "in regions of 12 samples, and blocks have 8"},
		{"codec=1,region=0", "wrong", "in regions of 0 samples"},
		{"codec=1,drop=3", "wrong", "hevc: the stream holds 11 pictures"},
		{"codec=1,empty", "wrong", "hevc: "},
		{"codec=2,level=24", "wrong", "suggests level 24, which is not a level"},
		{"codec=2,segments", "wrong", "what the driver reports on a picture"},
		{"codec=2,compound", "wrong", "what the driver reports on a picture"},
		{"codec=2,columns", "wrong", "what the driver reports on a picture"},
		{"codec=2,no-such-quantiser", "wrong", "what the driver reports on a picture"},
		{"codec=2,no-such-reference", "wrong", "what the driver reports on a picture"},
		{"codec=2,drop=3", "wrong", "av1: what the driver reports on a picture"},
		{"codec=2,empty", "wrong", "av1: what the driver reports on a picture"},
		{"codec=2,silent", "wrong", "reported nothing about the picture"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		expect(rows[i].setting, rows[i].status, rows[i].reason);
}

/* The double looks at each part of what it is told. */
static void test_pictures_are_described(void)
{
	static const char *const spoilt[] = {
		"codec=1,spoil=order",	     "codec=1,spoil=type",    "codec=1,spoil=set",
		"codec=1,spoil=list",	     "codec=1,spoil=before",  "codec=1,spoil=unused",
		"codec=1,spoil=descriptors", "codec=2,spoil=order",   "codec=2,spoil=number",
		"codec=2,spoil=type",	     "codec=2,spoil=slot",    "codec=2,spoil=before",
		"codec=2,spoil=primary",     "codec=2,spoil=refresh", "codec=2,spoil=transforms",
	};
	for (size_t i = 0; i < ARRAY_SIZE(spoilt); i++)
		expect(spoilt[i], "failed", "CODEC_PICTURE_CONTROL_NOT_SUPPORTED");
}

/* Headers of AV1 hold what the driver tells, also where nothing decodes them: a tile without loss has no
 * filters. */
static void test_headers_hold_what_is_told(void)
{
	static const struct av1_sequence sequence = {
		.width = 64,
		.height = 64,
		.seq_level_idx = AV1_LEVEL,
		.enable_cdef = true,
		.enable_restoration = true,
		.separate_uv_delta_q = true,
	};
	static const struct av1_frame frame = {
		.key = true,
		.base_q_idx = 200,
		.y_dc_delta_q = -1,
		.uv_dc_delta_q = 2,
		.uv_ac_delta_q = -3,
		.v_dc_delta_q = 4,
		.v_ac_delta_q = -5,
		.using_qmatrix = true,
		.qm_y = 6,
		.qm_uv = 7,
		.qm_v = 8,
		.delta_q_present = true,
		.delta_q_res = 2,
		.delta_lf_present = true,
		.delta_lf_multi = true,
		.delta_lf_res = 3,
		.loop_filter_level = {11, 12, 13, 14},
		.loop_filter_sharpness = 5,
		.loop_filter_delta_enabled = true,
		.loop_filter_delta_update = true,
		.loop_filter_mode_deltas_kept = true,
		.loop_filter_ref_deltas = {-64, -3, -2, -1, 1, 2, 3, 63},
		.cdef_bits = 1,
		.cdef_damping_minus_3 = 2,
		.cdef_y_pri_strength = {15, 1},
		.cdef_uv_pri_strength = {14, 2},
		.cdef_y_sec_strength = {3, 1},
		.cdef_uv_sec_strength = {2, 3},
		.tx_mode_select = true,
	};
	cJSON *work CLEANUP_JSON = run_work("codec=2,filters");
	const char *stream = string_at(work, "/video/streams/0/stream");
	struct text headers CLEANUP_TEXT = {0};
	uint8_t begin[128] = {0};
	size_t size = 0;
	av1_add_obu(AV1_TEMPORAL_DELIMITER, NULL, 0, 0, &headers);
	av1_add_sequence_header(&sequence, 0, &headers);
	av1_add_frame_header(&sequence, &frame, 0, NULL, &headers);
	(void)sodium_base642bin(begin, sizeof(begin), stream, 4 * sizeof(begin) / 3, NULL, &size,
				NULL, sodium_base64_VARIANT_ORIGINAL);
	CU_ASSERT_FATAL(headers.size <= sizeof(begin));
	CU_ASSERT_EQUAL(memcmp(begin, headers.data, headers.size), 0);
}

/* What the probe does not see: verify-video does. */
static void test_streams_go_to_whoever_decodes(void)
{
	static const char *const faults[] = {
		"repeat=4",	    "black=4",	       "corrupt=5",	    "other=99",
		"codec=1,repeat=4", "codec=1,black=4", "codec=1,corrupt=5", "codec=1,other=99",
		"codec=2,repeat=4", "codec=2,black=4", "codec=2,corrupt=5", "codec=2,other=99",
	};
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		cJSON *work CLEANUP_JSON = run_work(faults[i]);
		expect_string(work, "/status", "encoded");
		expect_bool(work, "/verified", false);
		write_stream(faults[i], work);
	}
}

/* The last test: what is stuck is left alone. */
static void test_a_hang_times_out(void)
{
	expect("hang", "timeout", "took 1 of 12 frames");
	CU_ASSERT_TRUE(d3d12video_double_alive != 0);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"frames are encoded", test_frames_are_encoded},
		{"what a device encodes is listed", test_what_a_device_encodes_is_listed},
		{"what cannot encode is unsupported", test_what_cannot_encode_is_unsupported},
		{"who cannot is told", test_who_cannot_is_told},
		{"failing calls are told", test_failing_calls_are_told},
		{"what the driver says is told", test_what_the_driver_says_is_told},
		{"pictures are described", test_pictures_are_described},
		{"headers hold what is told", test_headers_hold_what_is_told},
		{"streams go to whoever decodes", test_streams_go_to_whoever_decodes},
		{"a hang times out", test_a_hang_times_out},
		CU_TEST_INFO_NULL,
	};
	return unit_run_in("Direct3D 12 video", open_session, NULL, tests);
}
