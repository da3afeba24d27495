/* SPDX-License-Identifier: MIT */

/* The probes as Windows programs, on the drivers of this machine. Under Wine these are llvmpipe,
 * lavapipe and PoCL, behind an adapter that Wine makes up: everything must say that a processor
 * does the work. */

#include "base/tests/unit.h"
#include "workloads/tests/expect.h"
#include "workloads/tests/run_probe.h"

#include "base/cleanup.h"
#include "base/file.h"

static cJSON *document_of(const char *program, const char *option, const char *value)
{
	return probe_document(
		&(struct probe){.program = program, .option = option, .value = value});
}

static void expect_work(const char *program, const char *elements)
{
	cJSON *document CLEANUP_JSON = document_of(program, "--size", elements);
	expect_string(document, "/api/status", "ok");
	expect_null(document, "/api/reason");
	expect_string(document, "/work/status", "ok");
	expect_null(document, "/work/reason");
	expect_bool(document, "/work/verified", true);
	expect_number(document, "/work/elements", strtod(elements, NULL));
	expect_number(document, "/work/mismatches", 0);
	expect_bool(document, "/devices/0/software", true);
	/* The file that was loaded is the system's, not one beside the program. */
	CU_ASSERT_PTR_NOT_NULL(strstr(string_at(document, "/api/loader/path"), "system32"));
}

static void test_compute_is_right(void)
{
	static const char *const programs[] = {"probe-vulkan", "probe-opencl", "probe-opengl",
					       "probe-d3d11", "probe-d3d12"};
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		expect_work(programs[i], "256");
}

/* Around a work group, and one element more than the groups of one dispatch hold. */
static void test_odd_sizes_are_computed(void)
{
	static const char *const sizes[] = {"1", "65", "4194241"};
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		expect_work("probe-d3d11", sizes[i]);
		expect_work("probe-d3d12", sizes[i]);
		expect_work("probe-opengl", sizes[i]);
	}
}

static void test_direct3d_draws(void)
{
	static const char *const programs[] = {"probe-d3d11", "probe-d3d12"};
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		cJSON *document CLEANUP_JSON = document_of(programs[i], "--size", "64");
		expect_number(document, "/work/render/pixels", 64 * 64);
		expect_number(document, "/work/render/mismatches", 0);
		CU_ASSERT_STRING_NOT_EQUAL(string_at(document, "/work/featureLevel"),
					   "(no string)");
	}
}

static void test_opengl_draws(void)
{
	cJSON *document CLEANUP_JSON = document_of("probe-opengl", "--size", "64");
	expect_number(document, "/work/render/pixels", 64 * 64);
	expect_number(document, "/work/render/mismatches", 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(string_at(document, "/devices/0/name"), "llvmpipe"));
	CU_ASSERT_EQUAL(strncmp(string_at(document, "/devices/0/driver/version"), "Mesa ", 5), 0);
	CU_ASSERT_EQUAL(strncmp(string_at(document, "/api/emulator"), "Wine ", 5), 0);
}

static void test_dxgi_lists_adapters(void)
{
	cJSON *document CLEANUP_JSON = document_of("probe-dxgi", NULL, NULL);
	expect_string(document, "/api/status", "ok");
	expect_count(document, "/devices", 1);
	expect_bool(document, "/devices/0/software", true);
	CU_ASSERT_EQUAL(strlen(string_at(document, "/devices/0/deviceLuid")), 16);
	expect_null(document, "/work");
	CU_ASSERT_EQUAL(strncmp(string_at(document, "/api/emulator"), "Wine ", 5), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(string_at(document, "/devices/0/renderer"), "llvmpipe"));
}

/* Wine's encoder of H.264 is a real one, on the processor. Whether the stream is right is what
 * verify-video says, which is no Windows program: the tests of the Wine node have both. */
static void test_media_foundation_encodes(void)
{
	cJSON *document CLEANUP_JSON = document_of("probe-mediafoundation", NULL, NULL);
	expect_string(document, "/api/status", "ok");
	expect_string(document, "/work/status", "encoded");
	expect_bool(document, "/work/verified", false);
	expect_count(document, "/work/video/streams", 1);
	expect_string(document, "/work/video/streams/0/codec", "h264");
	expect_bool(document, "/work/video/streams/0/hardware", false);
	expect_number(document, "/work/video/streams/0/pictures", 12);
	expect_number(document, "/work/video/streams/0/width", 320);
	CU_ASSERT_TRUE(strlen(string_at(document, "/work/video/streams/0/stream")) > 1000);
}

/* Wine's Direct3D 12 encodes nothing; its device is there all the same. */
static void test_direct3d_12_encodes_nothing(void)
{
	cJSON *document CLEANUP_JSON = document_of("probe-d3d12video", NULL, NULL);
	expect_string(document, "/api/status", "ok");
	expect_count(document, "/devices", 1);
	expect_string(document, "/work/status", "unsupported");
	UNIT_CONTAINS(string_at(document, "/work/reason"), "encodes no video with Direct3D 12");
	expect_string(document, "/work/error/name", "E_NOINTERFACE");
}

/* FFmpeg of cmake/ffmpeg, where it was made: Wine has no NVENC, no encoder in hardware, and one of Media
 * Foundation that FFmpeg cannot use. None of that is taken for a stream. */
static void test_ffmpeg(void)
{
	static const struct {
		size_t attempt;
		const char *status, *reason;
	} rows[] = {
		{0, "failed", "Cannot load nvcuda.dll"},
		{1, "unsupported", "Unknown encoder 'h264_amf'"},
		{5, "unsupported", "could not find any MFT"},
		{6, "failed", "MF_E_TRANSFORM_TYPE_NOT_SET"},
	};
	if (!file_exists(GPUCERT_BINARY_DIR "/libexec/gpucert/ffmpeg.exe")) {
		expect_unsupported(&(struct probe){.program = "probe-ffmpeg"}, "ffmpeg");
		return;
	}
	cJSON *document CLEANUP_JSON = document_of("probe-ffmpeg", NULL, NULL);
	expect_string(document, "/api/status", "ok");
	expect_string(document, "/work/status", "failed");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const cJSON *attempt = cJSON_GetArrayItem(
			json_pointer(document, "/work/video/attempts"), (int)rows[i].attempt);
		expect_string(attempt, "/status", rows[i].status);
		UNIT_CONTAINS(string_at(attempt, "/reason"), rows[i].reason);
	}
}

/* Wine has no DirectML, and a dxcore.dll without adapters. */
static void test_missing_libraries_are_named(void)
{
	expect_unsupported(&(struct probe){.program = "probe-directml"}, "DirectML.dll");
	expect_unsupported(&(struct probe){.program = "probe-dxcore"}, "DXCore");
}

/* Every interface tells the same adapter. */
static void test_interfaces_agree(void)
{
	static const char *const names[] = {"vulkan", "opencl", "cuda", "levelzero",
					    "hip",    "dxcore", "dxgi"};
	cJSON *document CLEANUP_JSON = document_of("probe-visibility", NULL, NULL);
	const char *luid = string_at(document, "/apis/6/devices/0/deviceLuid");
	expect_count(document, "/apis", ARRAY_SIZE(names));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char pointer[64] = "";
		(void)snprintf(pointer, sizeof(pointer), "/apis/%zu/api/name", i);
		expect_string(document, pointer, names[i]);
	}
	CU_ASSERT_EQUAL(strlen(luid), 16);
	expect_string(document, "/apis/0/devices/0/deviceLuid", luid);
}

static void test_an_interface_that_does_not_answer_is_told(void)
{
	cJSON *document CLEANUP_JSON = document_of("probe-visibility", "--timeout", "1");
	expect_string(document, "/apis/0/api/status", "failed");
	expect_string(document, "/apis/0/api/reason",
		      "the driver did not list its devices within 1 ms");
}

static void test_an_unknown_interface_is_told(void)
{
	struct process_result result = probe_run(&(struct probe){
		.program = "probe-visibility", .option = "--api", .value = "glide"});
	CU_ASSERT_EQUAL(result.code, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(text_string(&result.err), "glide"));
	process_result_free(&result);
}

static void test_absent_devices_are_told(void)
{
	static const char *const programs[] = {"probe-d3d11", "probe-d3d12"};
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		cJSON *document CLEANUP_JSON = document_of(programs[i], "--device", "7");
		expect_string(document, "/work/status", "unsupported");
		expect_string(document, "/work/reason",
			      "there is no device 7: the devices are 0 to 0");
	}
}

static void test_usage_errors_are_exit_code_2(void)
{
	struct process_result result =
		probe_run(&(struct probe){.program = "probe-d3d12", .option = "--elephant"});
	CU_ASSERT_EQUAL(result.end, PROCESS_EXITED);
	CU_ASSERT_EQUAL(result.code, 2);
	process_result_free(&result);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"compute is right", test_compute_is_right},
		{"odd sizes are computed", test_odd_sizes_are_computed},
		{"Direct3D draws", test_direct3d_draws},
		{"OpenGL draws", test_opengl_draws},
		{"DXGI lists adapters", test_dxgi_lists_adapters},
		{"Media Foundation encodes", test_media_foundation_encodes},
		{"Direct3D 12 encodes nothing", test_direct3d_12_encodes_nothing},
		{"FFmpeg", test_ffmpeg},
		{"missing libraries are named", test_missing_libraries_are_named},
		{"interfaces agree", test_interfaces_agree},
		{"an interface that does not answer is told",
		 test_an_interface_that_does_not_answer_is_told},
		{"an unknown interface is told", test_an_unknown_interface_is_told},
		{"absent devices are told", test_absent_devices_are_told},
		{"usage errors are exit code 2", test_usage_errors_are_exit_code_2},
		CU_TEST_INFO_NULL,
	};
	int code = probe_documents_open("windows-probe-documents.ndjson");
	if (code == 0)
		code = unit_run("Windows probes", tests);
	return code == 0 ? probe_documents_close() : code;
}
