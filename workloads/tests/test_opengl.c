/* SPDX-License-Identifier: MIT */

/* probe-opengl as a program: with the driver of this machine, and with a driver double that does one
 * thing wrong each. The loader is always the real one. */

#include "base/tests/unit.h"
#include "workloads/opengl/opengl.h"
#include "workloads/tests/expect.h"
#include "workloads/tests/with_double.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"

#define TESTS	      GPUCERT_BINARY_DIR "/tests/"
#define DOUBLE	      "__EGL_VENDOR_LIBRARY_FILENAMES=" TESTS "double_opengl.json"
#define NO_LEAK_CHECK "LSAN_OPTIONS=detect_leaks=0"

static cJSON *on_this_machine(const char *option, const char *setting)
{
	const struct probe probe = {
		.program = "probe-opengl", .option = option, .env = {NO_LEAK_CHECK, setting}};
	return probe_document(&probe);
}

static const struct probe doubled = {.program = "probe-opengl", .env = {DOUBLE}};

static cJSON *with_double(const char *settings)
{
	return probe_with(&doubled, settings, "--size=5000");
}

static void test_the_real_driver_works(void)
{
	static const char *const arrays[] = {"values", "y", "pixels", NULL};
	cJSON *document CLEANUP_JSON = on_this_machine("--seed=4294967295", NULL);
	expect_number(document, "/work/render/pixels", 64 * 64);
	expect_contains(document, "/api/loader/path", "libEGL.so.1");
	expect_digests(document, arrays);
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
	expect_selection(&doubled);
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

static const struct failing_call failing_calls[] = {
	{"eglInitialize", 0x3001, "EGL_NOT_INITIALIZED", NULL, false},
	{"eglCreateContext", 0x3005, "EGL_BAD_CONFIG", NULL, false},
	{"eglMakeCurrent", 0x3002, "EGL_BAD_ACCESS", NULL, false},
	{"glGetString", 0x0507, "GL_CONTEXT_LOST", NULL, false},
	{"glGenBuffers", 0x0505, "GL_OUT_OF_MEMORY", "memory", false},
	{"glBufferData", 0x0505, "GL_OUT_OF_MEMORY", "upload", false},
	{"glFenceSync", 0x0502, "GL_INVALID_OPERATION", "upload", false},
	{"glClientWaitSync", 0x0507, "GL_CONTEXT_LOST", "upload", false},
	{"glDispatchCompute", 0x0501, "GL_INVALID_VALUE", "dispatch", false},
	{"glMapBufferRange", 0x0505, "GL_OUT_OF_MEMORY", "download", false},
	{"glCheckFramebufferStatus", 0x8CDD, NULL, "render", false},
	{"glDrawArrays", 0x0506, "GL_INVALID_FRAMEBUFFER_OPERATION", "render", false},
	{"glReadPixels", 0x1234, NULL, "render", false},
};

static void test_a_failing_call_is_told(void)
{
	expect_failing_calls(&doubled, failing_calls, ARRAY_SIZE(failing_calls));
}

/* Failures that OpenGL tells otherwise than by an error. */
static void test_other_failures_are_told(void)
{
	static const struct {
		const char *setting, *stage, *reason;
	} cases[] = {
		{"broken", "build", "glCompileShader: GL_FALSE (0)"},
		{"unmapped", "download", "glMapBufferRange returned no address"},
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

static void test_wrong_results_are_told(void)
{
	static const struct wrong_result cases[] = {
		{"wrong=4321", "values", 4321, false},
		{"overrun", "values", 5000, true},
		{"idle", "values", 0, false},
		{"twice", "values", 0, false},
	};
	expect_wrong_results(&doubled, cases, ARRAY_SIZE(cases));
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
	expect_timeout(&doubled, "upload");
}

static void test_a_crash_prints_nothing(void)
{
	expect_crash(&doubled, "eglInitialize");
	expect_crash(&doubled, "glDispatchCompute");
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
	return probe_tests("OpenGL", "opengl-documents.ndjson", tests);
}
