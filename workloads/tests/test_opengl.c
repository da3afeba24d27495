/* SPDX-License-Identifier: MIT */

/* probe-opengl as a program: with the driver of this machine, and with a driver double that does one
 * thing wrong each. The loader is always the real one. */

#include "base/tests/unit.h"
#include "workloads/common/reference.h"
#include "workloads/opengl/opengl.h"
#include "workloads/tests/expect.h"
#include "workloads/tests/run_probe.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"

#include <signal.h>

#define TESTS	      GPUCERT_BINARY_DIR "/tests/"
#define DOUBLE	      "__EGL_VENDOR_LIBRARY_FILENAMES=" TESTS "double_opengl.json"
#define NO_LEAK_CHECK "LSAN_OPTIONS=detect_leaks=0"

static cJSON *on_this_machine(const char *option, const char *setting)
{
	const struct probe probe = {
		.program = "probe-opengl", .option = option, .env = {NO_LEAK_CHECK, setting}};
	return probe_document(&probe);
}

static cJSON *with_double(const char *settings)
{
	char *word CLEANUP_FREE = text_format("GPUCERT_DOUBLE=%s", settings);
	const struct probe probe = {
		.program = "probe-opengl", .option = "--size=5000", .env = {DOUBLE, word}};
	return probe_document(&probe);
}

static void expect_contains(const cJSON *document, const char *pointer, const char *wanted)
{
	UNIT_CONTAINS(string_at(document, pointer), wanted);
}

static void test_the_real_driver_works(void)
{
	cJSON *document CLEANUP_JSON = on_this_machine("--seed=4294967295", NULL);
	char digest[DIGEST_SIZE] = "";
	expect_string(document, "/api/status", "ok");
	expect_string(document, "/work/status", "ok");
	expect_bool(document, "/work/verified", true);
	expect_number(document, "/work/elements", 1 << 20);
	expect_number(document, "/work/render/pixels", 64 * 64);
	expect_contains(document, "/api/loader/path", "libEGL.so.1");
	static const char *const arrays[] = {"values", "y", "pixels"};
	for (size_t i = 0; i < ARRAY_SIZE(arrays); i++) {
		char *pointer CLEANUP_FREE = text_format("/work/digests/%s", arrays[i]);
		CU_ASSERT_EQUAL(work_expected_digest(arrays[i], UINT32_MAX, 1 << 20, digest, NULL),
				0);
		expect_string(document, pointer, digest);
	}
}

/* Sizes around the size of a work group, and one beyond the groups of one dispatch (65535 * 64). */
static void test_odd_sizes_are_computed(void)
{
	static const char *const sizes[] = {"--size=1", "--size=63", "--size=65", "--size=4194305"};
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		cJSON *document CLEANUP_JSON = on_this_machine(sizes[i], NULL);
		expect_string(document, "/work/status", "ok");
	}
}

/* Mesa's switches for versions: without OpenGL 4.3, and without either. */
static void test_embedded_systems(void)
{
	const struct probe old = {.program = "probe-opengl",
				  .env = {NO_LEAK_CHECK, "MESA_GL_VERSION_OVERRIDE=3.3",
					  "MESA_GLES_VERSION_OVERRIDE=3.0"}};
	cJSON *embedded CLEANUP_JSON = on_this_machine(NULL, "MESA_GL_VERSION_OVERRIDE=3.3");
	cJSON *neither CLEANUP_JSON = probe_document(&old);
	expect_contains(embedded, "/devices/0/apiVersion", "OpenGL ES 3.");
	expect_string(embedded, "/work/status", "ok");
	expect_null(embedded, "/work/error");
	expect_string(neither, "/api/status", "ok");
	expect_string(neither, "/work/status", "unsupported");
	expect_contains(neither, "/work/reason", "the work needs OpenGL 4.3 or OpenGL ES 3.1");
}

static void test_no_driver_is_unsupported(void)
{
	static const char *const nowhere[] = {"__EGL_VENDOR_LIBRARY_DIRS=/nonexistent",
					      "__EGL_VENDOR_LIBRARY_FILENAMES=/nonexistent.json"};
	for (size_t i = 0; i < ARRAY_SIZE(nowhere); i++) {
		const struct probe probe = {.program = "probe-opengl", .env = {nowhere[i]}};
		expect_unsupported(&probe, "OpenGL driver");
		cJSON *document CLEANUP_JSON = probe_document(&probe);
		expect_contains(document, "/api/reason", "EGL_BAD_DISPLAY (12296)");
	}
}

/* What the answer of a plugin forgets: the library behind the manifest, and what that opens. */
static void test_a_driver_that_cannot_be_loaded_failed(void)
{
	cJSON *library CLEANUP_JSON =
		on_this_machine(NULL, "__EGL_VENDOR_LIBRARY_FILENAMES=" TESTS "absent_opengl.json");
	cJSON *more CLEANUP_JSON = on_this_machine(NULL, "LIBGL_DRIVERS_PATH=/nonexistent");
	expect_string(library, "/api/status", "failed");
	expect_contains(library, "/api/reason", "cannot load the driver that its manifest names");
	expect_contains(library, "/api/reason", "EGL_BAD_DISPLAY (12296)");
	expect_string(more, "/api/status", "failed");
	expect_contains(more, "/api/reason", "EGL_NOT_INITIALIZED (12289): ");
	expect_contains(more, "/api/messages/0", "failed to load driver");
}

/* A library that is none, as one of another machine is; found before the real one. */
static void test_a_loader_that_cannot_be_loaded_failed(void)
{
	static const char folder[] = TESTS "no-egl";
	static const char library[] = TESTS "no-egl/libEGL.so.1";
	const struct probe probe = {.program = "probe-opengl",
				    .env = {"LD_LIBRARY_PATH=" TESTS "no-egl"}};
	CU_ASSERT_EQUAL(file_make_directories(folder, 0755, NULL), 0);
	CU_ASSERT_EQUAL(file_write_atomic(library,
					  "\x7f"
					  "ELF",
					  4, 0644, NULL),
			0);
	cJSON *document CLEANUP_JSON = probe_document(&probe);
	expect_string(document, "/api/status", "failed");
	expect_contains(document, "/api/reason", "libEGL.so.1");
	expect_null(document, "/api/missing");
	expect_count(document, "/devices", 0);
}

/* More devices than are believed, and a driver that tells more than it hands out. */
static void test_too_many_devices(void)
{
	cJSON *many CLEANUP_JSON = with_double("devices=300");
	cJSON *empty CLEANUP_JSON = with_double("devices=300,unwritten");
	expect_count(many, "/devices", 256);
	expect_string(many, "/work/status", "ok");
	expect_count(empty, "/devices", 16);
}

static void test_devices_are_told_apart(void)
{
	cJSON *document CLEANUP_JSON = with_double("devices=3");
	expect_count(document, "/devices", 3);
	expect_string(document, "/devices/2/name", "Double 2 \xef\xbf\xbd");
	expect_string(document, "/devices/2/deviceUuid", "03030303030303030303030303030303");
	expect_string(document, "/devices/2/driverUuid", "d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0");
	expect_string(document, "/devices/2/drm/primary", "226:2");
	expect_string(document, "/devices/2/drm/render", "226:130");
	expect_string(document, "/devices/2/driver/version", "Double 1.2.3");
	expect_bool(document, "/devices/2/software", false);
	expect_string(document, "/work/status", "ok");
}

static void test_a_device_is_selected(void)
{
	struct probe probe = {.program = "probe-opengl",
			      .option = "--device",
			      .value = "1",
			      .env = {DOUBLE, "GPUCERT_DOUBLE=devices=2"}};
	cJSON *second CLEANUP_JSON = probe_document(&probe);
	expect_number(second, "/work/device", 1);
	expect_string(second, "/work/status", "ok");
	probe.value = "2";
	cJSON *third CLEANUP_JSON = probe_document(&probe);
	expect_string(third, "/work/status", "unsupported");
	expect_string(third, "/work/reason", "there is no device 2: the devices are 0 to 1");
}

static void test_no_device_is_told(void)
{
	cJSON *document CLEANUP_JSON = with_double("devices=0");
	expect_string(document, "/api/status", "ok");
	expect_count(document, "/devices", 0);
	expect_string(document, "/work/reason", "no device is visible");
}

/* A software renderer is told as one, is left out beside hardware, and is what is left where the
 * hardware does not answer. */
static void test_software_renderers(void)
{
	cJSON *alone CLEANUP_JSON = with_double("software");
	cJSON *beside CLEANUP_JSON = with_double("devices=3,software=1");
	cJSON *instead CLEANUP_JSON = with_double("devices=2,software=1,uninitialized=0");
	expect_bool(alone, "/devices/0/software", true);
	expect_string(alone, "/devices/0/type", "cpu");
	expect_count(beside, "/devices", 2);
	expect_string(beside, "/devices/1/drm/render", "226:130");
	expect_contains(beside, "/api/messages/0", "left out");
	expect_count(instead, "/devices", 1);
	expect_bool(instead, "/devices/0/software", true);
	expect_contains(instead, "/api/messages/0", "EGL_NOT_INITIALIZED");
	CU_ASSERT_TRUE(renderer_is_software("GDI Generic"));
	CU_ASSERT_FALSE(renderer_is_software("NVIDIA H200/PCIe/SSE2"));
}

/* One failing call each: where the work stops, and what is told of the call. */
static const struct {
	const char *call;
	int code;
	const char *name;
	const char *stage; /* NULL: the API fails */
} failing_calls[] = {
	{"eglInitialize", 0x3001, "EGL_NOT_INITIALIZED", NULL},
	{"eglCreateContext", 0x3005, "EGL_BAD_CONFIG", NULL},
	{"eglMakeCurrent", 0x3002, "EGL_BAD_ACCESS", NULL},
	{"glGetString", 0x0507, "GL_CONTEXT_LOST", NULL},
	{"glGenBuffers", 0x0505, "GL_OUT_OF_MEMORY", "memory"},
	{"glBufferData", 0x0505, "GL_OUT_OF_MEMORY", "upload"},
	{"glFenceSync", 0x0502, "GL_INVALID_OPERATION", "upload"},
	{"glClientWaitSync", 0x0507, "GL_CONTEXT_LOST", "upload"},
	{"glDispatchCompute", 0x0501, "GL_INVALID_VALUE", "dispatch"},
	{"glMapBufferRange", 0x0505, "GL_OUT_OF_MEMORY", "download"},
	{"glCheckFramebufferStatus", 0x8CDD, NULL, "render"},
	{"glDrawArrays", 0x0506, "GL_INVALID_FRAMEBUFFER_OPERATION", "render"},
	{"glReadPixels", 0x1234, NULL, "render"},
};

static void test_a_failing_call_is_told(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(failing_calls); i++) {
		const int code = failing_calls[i].code;
		const char *name = failing_calls[i].name;
		char *settings CLEANUP_FREE =
			text_format("fail=%s:%d", failing_calls[i].call, code);
		char *text CLEANUP_FREE = text_format("%s: %s (%d)", failing_calls[i].call,
						      name != NULL ? name : "unknown result", code);
		cJSON *document CLEANUP_JSON = with_double(settings);
		if (failing_calls[i].stage == NULL) {
			expect_string(document, "/api/status", "failed");
			expect_string(document, "/api/reason", text);
			expect_null(document, "/work");
			continue;
		}
		expect_string(document, "/work/status", "failed");
		expect_string(document, "/work/stage", failing_calls[i].stage);
		expect_string(document, "/work/reason", text);
		expect_string(document, "/work/error/call", failing_calls[i].call);
		expect_number(document, "/work/error/code", code);
	}
}

/* Failures that OpenGL tells otherwise than by an error. */
static void test_other_failures_are_told(void)
{
	static const struct {
		const char *setting, *stage, *reason;
	} cases[] = {
		{"broken", "build", "glCompileShader: GL_FALSE (0)"},
		{"unmapped", "download", "glMapBufferRange told no address"},
		{"lost", "download", "glUnmapBuffer: the contents of the buffer were lost"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cJSON *document CLEANUP_JSON = with_double(cases[i].setting);
		expect_string(document, "/work/status", "failed");
		expect_string(document, "/work/stage", cases[i].stage);
		expect_string(document, "/work/reason", cases[i].reason);
		if (i == 0)
			expect_string(document, "/work/buildLog",
				      "double: error: the shader does not please");
	}
}

static void test_versions_of_devices(void)
{
	cJSON *es CLEANUP_JSON = with_double("es");
	cJSON *old CLEANUP_JSON = with_double("old");
	expect_string(es, "/work/status", "ok");
	expect_string(es, "/devices/0/driver/version", "Double 1.2.3");
	expect_string(old, "/work/status", "unsupported");
	expect_string(old, "/work/stage", "device");
	expect_null(old, "/devices/0/deviceUuid");
}

static void test_more_than_fits_is_unsupported(void)
{
	const struct probe probe = {"probe-opengl", "--size", "67108864", {DOUBLE}};
	cJSON *document CLEANUP_JSON = probe_document(&probe);
	expect_string(document, "/work/status", "unsupported");
	expect_string(document, "/work/stage", "memory");
}

/* What a device may do to the data, and where the first wrong element is. */
static void test_wrong_results_are_told(void)
{
	static const struct {
		const char *setting;
		double first;
		bool guard;
	} cases[] = {
		{"wrong=4321", 4321, false},
		{"overrun", 5000, true},
		{"idle", 0, false},
		{"twice", 0, false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cJSON *document CLEANUP_JSON = with_double(cases[i].setting);
		expect_string(document, "/work/status", "wrong");
		expect_bool(document, "/work/verified", false);
		expect_number(document, "/work/firstMismatch/index", cases[i].first);
		expect_bool(document, "/work/firstMismatch/guard", cases[i].guard);
	}
}

static void test_wrong_pixels_are_told(void)
{
	cJSON *one CLEANUP_JSON = with_double("pixel=99");
	cJSON *none CLEANUP_JSON = with_double("nothing");
	expect_string(one, "/work/status", "wrong");
	expect_number(one, "/work/render/mismatches", 1);
	expect_number(one, "/work/render/firstMismatch/x", 35);
	expect_number(one, "/work/render/firstMismatch/y", 1);
	expect_number(one, "/work/mismatches", 0);
	expect_number(none, "/work/render/mismatches", 1176);
	expect_bool(none, "/work/verified", false);
}

static void test_a_hang_times_out(void)
{
	const struct probe probe = {
		"probe-opengl", "--timeout", "20", {DOUBLE, "GPUCERT_DOUBLE=hang"}};
	cJSON *document CLEANUP_JSON = probe_document(&probe);
	expect_string(document, "/work/status", "timeout");
	expect_string(document, "/work/stage", "upload");
	expect_contains(document, "/work/reason", "within 20 ms");
}

static void test_a_crash_prints_nothing(void)
{
	static const char *const settings[] = {"GPUCERT_DOUBLE=crash=eglInitialize",
					       "GPUCERT_DOUBLE=crash=glDispatchCompute"};
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		struct process_result result = probe_run(
			&(struct probe){.program = "probe-opengl", .env = {DOUBLE, settings[i]}});
		CU_ASSERT_EQUAL(result.end, PROCESS_SIGNALLED);
		CU_ASSERT_EQUAL(result.code, SIGSEGV);
		CU_ASSERT_EQUAL(result.out.size, 0);
		process_result_free(&result);
	}
}

/* What drivers print does not reach the document. */
static void test_noise_goes_elsewhere(void)
{
	cJSON *document CLEANUP_JSON = with_double("noise");
	expect_string(document, "/work/status", "ok");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"the real driver works", test_the_real_driver_works},
		{"odd sizes are computed", test_odd_sizes_are_computed},
		{"embedded systems", test_embedded_systems},
		{"no driver is unsupported", test_no_driver_is_unsupported},
		{"a driver that cannot be loaded failed",
		 test_a_driver_that_cannot_be_loaded_failed},
		{"a loader that cannot be loaded failed",
		 test_a_loader_that_cannot_be_loaded_failed},
		{"too many devices", test_too_many_devices},
		{"devices are told apart", test_devices_are_told_apart},
		{"a device is selected", test_a_device_is_selected},
		{"no device is told", test_no_device_is_told},
		{"software renderers", test_software_renderers},
		{"a failing call is told", test_a_failing_call_is_told},
		{"other failures are told", test_other_failures_are_told},
		{"versions of devices", test_versions_of_devices},
		{"more than fits is unsupported", test_more_than_fits_is_unsupported},
		{"wrong results are told", test_wrong_results_are_told},
		{"wrong pixels are told", test_wrong_pixels_are_told},
		{"a hang times out", test_a_hang_times_out},
		{"a crash prints nothing", test_a_crash_prints_nothing},
		{"noise goes elsewhere", test_noise_goes_elsewhere},
		CU_TEST_INFO_NULL,
	};
	if (probe_documents_open("opengl-documents.ndjson") != 0)
		return 2;
	int code = unit_run("OpenGL", tests);
	return probe_documents_close() != 0 ? 2 : code;
}
