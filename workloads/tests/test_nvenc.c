/* SPDX-License-Identifier: MIT */

/* probe-nvenc as a program, with doubles of the driver's libraries that do one thing wrong each. */

#include "workloads/tests/encoder_rig.h"

#define TESTS  GPUCERT_BINARY_DIR "/tests/"
#define DOUBLE "LD_LIBRARY_PATH=" TESTS "cuda:" TESTS "nvenc"

const struct encoder_rig encoder_rig = {
	.probe = {.program = "probe-nvenc", .option = "--timeout=100", .env = {DOUBLE}},
	.always = "",
};

static void test_streams_decode(void)
{
	cJSON *document CLEANUP_JSON = rig_run("", NULL);
	expect_string(document, "/api/loader/version", "12.1");
	expect_string(document, "/devices/0/name", "Double 0");
	expect_string(document, "/devices/0/pciAddress", "0000:40:00.0");
	expect_count(document, "/work/video/encoders", 1);
	expect_string(document, "/work/video/encoders/0/name", "NVENC");
	expect_bool(document, "/work/video/encoders/0/hardware", true);
	expect_string(document, "/work/video/encoders/0/profiles", "baseline high");
	expect_number(document, "/work/video/encoders/0/least/width", 32);
	expect_number(document, "/work/video/encoders/0/most/height", 64);
	expect_number(document, "/work/video/encoders/0/bFrames", 4);
	expect_bool(document, "/work/video/encoders/0/tenBit", false);
	expect_judgement(document, "ok", NULL);
}

/* What conforms, although it is unusual. */
static void test_other_drivers(void)
{
	static const char *const settings[] = {"api=177", "api=208", "hold=5",	 "hold=50",
					       "partial", "busy",    "devices=2"};
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		rig_expect_judgement(settings[i], "ok", NULL);
}

/* AV1 is told from 12.1 on alone. What the double gives is H.264. */
static void test_codecs(void)
{
	cJSON *newest CLEANUP_JSON = rig_run("codecs=all", NULL);
	expect_count(newest, "/work/video/encoders", 3);
	expect_string(newest, "/work/video/encoders/1/codec", "hevc");
	expect_bool(newest, "/work/video/encoders/1/tenBit", true);
	expect_string(newest, "/work/video/encoders/1/profiles", "main main10");
	expect_string(newest, "/work/video/encoders/2/codec", "av1");
	expect_string(newest, "/work/video/streams/0/status", "encoded");
	expect_string(newest, "/work/video/streams/1/status", "wrong");
	expect_string(newest, "/work/video/streams/2/status", "wrong");
	expect_string(newest, "/work/status", "wrong");
	cJSON *old CLEANUP_JSON = rig_run("codecs=all,api=177", NULL);
	expect_count(old, "/work/video/encoders", 2);
}

static void test_faults_that_the_probe_sees(void)
{
	rig_expect_work("drop=4", NULL, "wrong", "h264: the stream holds 11 pictures, not 12");
	rig_expect_work("empty", NULL, "wrong", "h264: the stream is empty");
	rig_expect_work("size", NULL, "wrong", "h264: the stream is 80 by 64, not 64 by 64");
	rig_expect_work("long", NULL, "wrong", "h264: a picture of 16777216 bytes");
	rig_expect_work("hang", NULL, "timeout", "took 12 of 12 frames and then did nothing");
}

/* A device without an encoder is none that fails. */
static void test_no_engine(void)
{
	rig_expect_work("fail=nvEncOpenEncodeSessionEx:2", NULL, "unsupported",
			"the device encodes nothing: nvEncOpenEncodeSessionEx: "
			"NV_ENC_ERR_UNSUPPORTED_DEVICE (2): the device has no encode engine");
	rig_expect_work("fail=nvEncOpenEncodeSessionEx:1", NULL, "unsupported",
			"NV_ENC_ERR_NO_ENCODE_DEVICE (1)");
	rig_expect_work("devices=0", NULL, "unsupported", "no device is visible");
}

static void test_failed_calls(void)
{
	static const struct rig_failure rows[] = {
		{"nvEncOpenEncodeSessionEx", 10,
		 "NV_ENC_ERR_OUT_OF_MEMORY (10): the device has no memory left, or as many sessions"},
		{"nvEncOpenEncodeSessionEx", 15, "NV_ENC_ERR_INVALID_VERSION (15): the driver is"},
		{"nvEncOpenEncodeSessionEx", 99, "unknown result (99)"},
		{"nvEncGetEncodeGUIDs", 20, "NV_ENC_ERR_GENERIC (20)"},
		{"nvEncGetEncodeProfileGUIDs", 9, "NV_ENC_ERR_INVALID_CALL (9)"},
		{"nvEncGetEncodeCaps", 8, "NV_ENC_ERR_INVALID_PARAM (8): libnvidia-encode and"},
		{"nvEncGetEncodePresetConfigEx", 12, "NV_ENC_ERR_UNSUPPORTED_PARAM (12)"},
		{"nvEncInitializeEncoder", 8, "NV_ENC_ERR_INVALID_PARAM (8)"},
		{"nvEncCreateInputBuffer", 10, "NV_ENC_ERR_OUT_OF_MEMORY (10)"},
		{"nvEncCreateBitstreamBuffer", 10, "NV_ENC_ERR_OUT_OF_MEMORY (10)"},
		{"nvEncLockInputBuffer", 16, "NV_ENC_ERR_MAP_FAILED (16)"},
		{"nvEncUnlockInputBuffer", 16, "NV_ENC_ERR_MAP_FAILED (16)"},
		{"nvEncEncodePicture", 5, "NV_ENC_ERR_DEVICE_NOT_EXIST (5): the device is gone"},
		{"nvEncEncodePicture", 17, "nvEncEncodePicture: NV_ENC_ERR_NEED_MORE_INPUT (17)"},
		{"nvEncLockBitstream", 20, "NV_ENC_ERR_GENERIC (20)"},
		{"nvEncUnlockBitstream", 20, "NV_ENC_ERR_GENERIC (20)"},
		{"cuCtxCreate", 2, "CUDA_ERROR_OUT_OF_MEMORY (2)"},
	};
	rig_expect_failures(rows, ARRAY_SIZE(rows));
}

static void test_success_without_a_result(void)
{
	rig_expect_work("null", NULL, "failed", "opened no session");
	rig_expect_work("nowhere", NULL, "failed", "gave no buffer of 64 by 64");
	rig_expect_work("nowhere-out", NULL, "failed",
			"nvEncLockBitstream succeeded and gave no buffer");
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
	expect_api("api=145",
		   "the driver knows NVENC 9.1, and 11.1 is needed: the driver is too old");
	expect_api("hole", "has no function nvEncEncodePicture");
	expect_api("fail=NvEncodeAPICreateInstance:15", "NV_ENC_ERR_INVALID_VERSION (15)");
	expect_api("fail=NvEncodeAPIGetMaxSupportedVersion:6", "NV_ENC_ERR_INVALID_PTR (6)");
	expect_api("fail=cuInit:803", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH");
}

static void test_missing_libraries(void)
{
	const struct probe none = {.program = "probe-nvenc",
				   .env = {"LD_LIBRARY_PATH=" TESTS "absent"}};
	expect_unsupported(&none, "libnvidia-encode.so.1");
	const struct probe encode = {.program = "probe-nvenc",
				     .env = {"LD_LIBRARY_PATH=" TESTS "nvenc"}};
	expect_unsupported(&encode, "libcuda.so.1");
}

/* A device that is not there, and one beside the first. */
static void test_devices(void)
{
	cJSON *document CLEANUP_JSON = rig_run("devices=2", "--device=1");
	cJSON *absent CLEANUP_JSON = rig_run("devices=2", "--device=2");
	expect_string(document, "/work/status", "encoded");
	expect_number(document, "/work/device", 1);
	expect_string(absent, "/work/status", "unsupported");
	UNIT_CONTAINS(string_at(absent, "/work/reason"), "there is no device 2");
}

static void test_a_crash_prints_nothing(void)
{
	rig_expect_crash("crash=NvEncodeAPICreateInstance");
	rig_expect_crash("crash=nvEncEncodePicture");
	rig_expect_crash("crash=nvEncLockBitstream");
}

/* The double tells what was not given back. */
static void test_nothing_is_left(void)
{
	static const char *const settings[] = {"", "fail=nvEncCreateBitstreamBuffer:10",
					       "fail=nvEncLockBitstream:20"};
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		struct process_result result = rig_start(settings[i], NULL);
		UNIT_STRING(text_string(&result.err), "");
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
		{"no engine", test_no_engine},
		{"failed calls", test_failed_calls},
		{"success without a result", test_success_without_a_result},
		{"libraries that do not serve", test_libraries_that_do_not_serve},
		{"missing libraries", test_missing_libraries},
		{"devices", test_devices},
		{"a crash prints nothing", test_a_crash_prints_nothing},
		{"nothing is left", test_nothing_is_left},
		CU_TEST_INFO_NULL,
	};
	return rig_main("nvenc", "nvenc-documents.ndjson", tests);
}
