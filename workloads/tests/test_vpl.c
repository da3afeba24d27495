/* SPDX-License-Identifier: MIT */
/* probe-vpl with the real dispatcher and an implementation that is a double. */
#include "workloads/tests/encoder_rig.h"

#include "base/file.h"
#include "base/text.h"

#define TESTS	GPUCERT_BINARY_DIR "/tests/"
#define RUNTIME "ONEVPL_SEARCH_PATH=" TESTS "vpl"

const struct encoder_rig encoder_rig = {
	.probe = {.program = "probe-vpl", .env = {RUNTIME}},
	.always = "",
};

static void test_devices_are_told(void)
{
	cJSON *document CLEANUP_JSON = rig_run("devices=2", "--list");
	cJSON *untold CLEANUP_JSON = rig_run("no-id", "--list");
	expect_string(document, "/api/status", "ok");
	expect_count(document, "/devices", 2);
	expect_string(document, "/devices/0/name", "gpucert double");
	expect_string(document, "/devices/0/apiVersion", "2.8");
	expect_string(document, "/devices/0/pciAddress", "0000:03:00.0");
	expect_string(document, "/devices/1/pciAddress", "0000:04:00.0");
	expect_string(document, "/devices/1/drm/render", "226:191");
	expect_string(document, "/devices/1/deviceId", "0x56a0");
	expect_null(document, "/devices/1/deviceLuid");
	expect_null(document, "/work");
	cJSON *unknown CLEANUP_JSON = rig_run("pci-unknown", "--list");
	expect_null(unknown, "/devices/0/pciAddress");
	expect_string(unknown, "/devices/0/drm/render", "226:190");
	expect_count(untold, "/devices", 1);
	expect_null(untold, "/devices/0/pciAddress");
}

static void test_frames_are_encoded(void)
{
	static const char *const settings[] = {"", "late", "adjusts", "no-id"};
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		cJSON *document CLEANUP_JSON = rig_run(settings[i], "--seed=7");
		cJSON *right CLEANUP_JSON = judge_stream(document, NULL);
		cJSON *other CLEANUP_JSON = judge_stream(document, "8");
		expect_string(document, "/work/status", "encoded");
		expect_bool(document, "/work/verified", false);
		expect_number(document, "/work/video/streams/0/pictures", 12);
		expect_string(right, "/status", "ok");
		expect_string(other, "/status", "wrong");
	}
}

static void test_what_a_device_encodes_is_listed(void)
{
	cJSON *document CLEANUP_JSON = rig_run("devices=2,hevc", "--device=1");
	expect_number(document, "/work/device", 1);
	expect_string(document, "/work/status", "encoded");
	expect_count(document, "/work/video/encoders", 2);
	expect_string(document, "/work/video/encoders/0/profiles", "main high");
	expect_number(document, "/work/video/encoders/0/least/width", 16);
	expect_number(document, "/work/video/encoders/0/most/height", 64);
	expect_bool(document, "/work/video/encoders/0/tenBit", false);
	expect_number(document, "/work/video/encoders/0/bFrames", 0);
	expect_string(document, "/work/video/encoders/1/codec", "hevc");
	expect_bool(document, "/work/video/encoders/1/tenBit", true);
	expect_null(document, "/work/video/encoders/1/bFrames");
	expect_string(document, "/work/video/streams/1/status", "unsupported");
	UNIT_CONTAINS(string_at(document, "/work/video/streams/1/reason"), "(-3)");
}

static void test_wrong_streams_are_told(void)
{
	rig_expect_work("drop=3", NULL, "wrong", "h264: the stream holds 11 pictures, not 12");
	rig_expect_work("empty", NULL, "wrong", "h264: the stream is empty");
	rig_expect_work("size", NULL, "wrong", "h264: the stream is 80 by 64, not 64 by 64");
	rig_expect_work("overfull", NULL, "wrong", "h264: the encoder says that it wrote");
	rig_expect_decoding_faults();
}

static void test_a_failing_call_is_told(void)
{
	static const struct rig_failure rows[] = {
		{"MFXVideoENCODE_Query", -15, "MFX_ERR_INVALID_VIDEO_PARAM"},
		{"MFXVideoENCODE_Init", -17, "MFX_ERR_DEVICE_FAILED"},
		{"MFXVideoENCODE_EncodeFrameAsync", -5, "MFX_ERR_NOT_ENOUGH_BUFFER"},
		{"MFXVideoCORE_SyncOperation", -21, "MFX_ERR_GPU_HANG"},
	};
	rig_expect_failures(rows, ARRAY_SIZE(rows));
	cJSON *document CLEANUP_JSON = rig_run("fail=MFXInitialize:-9", NULL);
	expect_string(document, "/work/status", "failed");
	expect_string(document, "/work/error/call", "MFXCreateSession");
	expect_number(document, "/work/error/code", -9);
	expect_string(document, "/work/error/name", "MFX_ERR_NOT_FOUND");
}

/* -10 for ever: the encoder takes all frames and gives nothing. */
static void test_more_data_for_ever(void)
{
	cJSON *document CLEANUP_JSON = rig_run("fail=MFXVideoENCODE_EncodeFrameAsync:-10", NULL);
	expect_string(document, "/work/status", "wrong");
	UNIT_CONTAINS(string_at(document, "/work/reason"), "the stream is empty");
}

static void test_a_processor_does_not_count(void)
{
	cJSON *partial CLEANUP_JSON = rig_run("partial", NULL);
	cJSON *software CLEANUP_JSON = rig_run("software", NULL);
	expect_string(partial, "/work/status", "failed");
	expect_string(partial, "/work/error/name", "MFX_WRN_PARTIAL_ACCELERATION");
	expect_string(software, "/api/status", "unsupported");
	expect_string(software, "/api/missing", "oneVPL runtime");
	UNIT_CONTAINS(string_at(software, "/api/reason"), "only implementations in software");
}

static void test_what_cannot_be_done_is_unsupported(void)
{
	cJSON *none CLEANUP_JSON = rig_run("no-codec", NULL);
	cJSON *refused CLEANUP_JSON = rig_run("fail=MFXVideoENCODE_Query:-3", NULL);
	expect_string(none, "/work/status", "unsupported");
	expect_string(refused, "/work/status", "unsupported");
	UNIT_CONTAINS(string_at(refused, "/work/reason"),
		      "MFXVideoENCODE_Query: MFX_ERR_UNSUPPORTED (-3)");
}

static void test_a_hang_times_out(void)
{
	cJSON *document CLEANUP_JSON = rig_run("hang", "--timeout=200");
	cJSON *busy CLEANUP_JSON =
		rig_run("fail=MFXVideoENCODE_EncodeFrameAsync:2", "--timeout=200");
	expect_string(document, "/work/status", "timeout");
	UNIT_CONTAINS(string_at(document, "/work/reason"), "took 1 of 12 frames");
	expect_string(busy, "/work/status", "timeout");
	UNIT_CONTAINS(string_at(busy, "/work/reason"), "took 0 of 12 frames");
}

static void test_a_crash_prints_nothing(void)
{
	rig_expect_crash("crash=MFXVideoENCODE_Init");
}

static void test_what_is_missing_is_told(void)
{
	expect_unsupported(
		&(struct probe){.program = "probe-vpl", .env = {"ONEVPL_SEARCH_PATH=/nonexistent"}},
		"oneVPL runtime");
	CU_ASSERT_EQUAL_FATAL(file_make_directories(TESTS "vpl-broken", 0755, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(TESTS "vpl-broken/libvpl.so.2", "?", 1, 0644, NULL),
			      0);
	cJSON *broken CLEANUP_JSON = probe_document(&(struct probe){
		.program = "probe-vpl", .env = {"LD_LIBRARY_PATH=" TESTS "vpl-broken"}});
	expect_string(broken, "/api/status", "failed");
	UNIT_CONTAINS(string_at(broken, "/api/reason"), "libvpl.so.2");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"devices are told", test_devices_are_told},
		{"frames are encoded", test_frames_are_encoded},
		{"what a device encodes is listed", test_what_a_device_encodes_is_listed},
		{"wrong streams are told", test_wrong_streams_are_told},
		{"a failing call is told", test_a_failing_call_is_told},
		{"more data for ever", test_more_data_for_ever},
		{"a processor does not count", test_a_processor_does_not_count},
		{"what cannot be done is unsupported", test_what_cannot_be_done_is_unsupported},
		{"a hang times out", test_a_hang_times_out},
		{"a crash prints nothing", test_a_crash_prints_nothing},
		{"what is missing is told", test_what_is_missing_is_told},
		CU_TEST_INFO_NULL,
	};
	return rig_main("oneVPL", "vpl-documents.ndjson", tests);
}
