/* SPDX-License-Identifier: MIT */

/* What probes do for checks of neighbours, on the drivers of this machine, and on the double of a
 * device that does not keep its users apart. */

#include "base/cleanup.h"
#include "base/file.h"
#include "base/tests/unit.h"
#include "workloads/tests/expect.h"
#include "workloads/tests/run_probe.h"

#include <signal.h>

#define TESTS	      GPUCERT_BINARY_DIR "/tests/"
#define SHARED	      TESTS "neighbours-shared"
#define LINE	      TESTS "neighbours-line"
#define OPENCL_DOUBLE "OCL_ICD_VENDORS=" TESTS "opencl/"
#define VULKAN	      "VK_DRIVER_FILES=" TESTS "double_vulkan.json"
#define OLDER	      "VK_ICD_FILENAMES=" TESTS "double_vulkan.json"
#define NO_LEAK_CHECK "LSAN_OPTIONS=detect_leaks=0"

static const char *const real[] = {"probe-vulkan", "probe-opencl", "probe-opengl"};

/* Two words behind the program. */
static cJSON *run_real(const char *program, const char *word, const char *second)
{
	return probe_document(&(struct probe){
		.program = program, .option = word, .value = second, .env = {NO_LEAK_CHECK}});
}

static cJSON *run_double(const char *settings, const char *word, const char *second)
{
	return probe_document(&(struct probe){.program = "probe-opencl",
					      .option = word,
					      .value = second,
					      .env = {OPENCL_DOUBLE, settings}});
}

static void make_file(const char *path, const char *content)
{
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(path, content, strlen(content), 0600, &err), 0);
}

static void test_real_memory_is_clean(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(real); i++) {
		cJSON *first CLEANUP_JSON = run_real(real[i], "--seed=7", "--size=300000");
		cJSON *second CLEANUP_JSON = run_real(real[i], "--look-for=7", "--size=300000");
		expect_string(first, "/work/status", "ok");
		expect_string(second, "/work/status", "ok");
		expect_number(second, "/work/residue/seed", 7);
		expect_number(second, "/work/residue/bytes", 3 * 4 * 300000);
		expect_number(second, "/work/residue/found", 0);
		expect_null(second, "/work/residue/first");
		CU_ASSERT_PTR_NULL(json_pointer(first, "/work/residue"));
		CU_ASSERT_PTR_NULL(json_pointer(first, "/work/timings/lookMs"));
		CU_ASSERT_PTR_NOT_NULL(json_pointer(second, "/work/timings/lookMs"));
	}
}

static void test_residue_is_found(void)
{
	static const char settings[] = "GPUCERT_DOUBLE=residue,shared=" SHARED;
	make_file(SHARED, "");
	cJSON *first CLEANUP_JSON = run_double(settings, "--seed=7", "--size=5000");
	cJSON *other CLEANUP_JSON = run_double(settings, "--look-for=8", "--size=5000");
	cJSON *again CLEANUP_JSON = run_double(settings, "--seed=7", "--size=5000");
	cJSON *second CLEANUP_JSON = run_double(settings, "--look-for=7", "--size=5000");
	expect_string(first, "/work/status", "ok");
	expect_number(other, "/work/residue/found", 0);
	expect_number(second, "/work/residue/found", 4997);
	expect_number(second, "/work/residue/first", 0);
	expect_string(second, "/work/status", "ok"); /* what it does with it is its own affair */
}

static void test_what_is_not_looked_at_is_told(void)
{
	cJSON *document CLEANUP_JSON = run_real("probe-d3d12", "--look-for=7", NULL);
	expect_string(document, "/work/status", "unsupported");
	CU_ASSERT_PTR_NULL(json_pointer(document, "/work/residue"));
}

static void test_rounds_are_counted(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(real); i++) {
		cJSON *document CLEANUP_JSON = run_real(real[i], "--rounds=1", "--seed=9");
		expect_string(document, "/work/status", "ok");
		expect_number(document, "/work/seed", 9);
		CU_ASSERT(cJSON_GetNumberValue(json_pointer(document, "/work/rounds/count")) >= 9);
		CU_ASSERT(cJSON_GetNumberValue(json_pointer(document, "/work/rounds/firstEndMs")) <
			  cJSON_GetNumberValue(json_pointer(document, "/work/rounds/lastEndMs")));
	}
	cJSON *wrong CLEANUP_JSON = run_double("GPUCERT_DOUBLE=wrong=5", "--rounds=60000", NULL);
	expect_string(wrong, "/work/status", "wrong");
	CU_ASSERT_PTR_NULL(json_pointer(wrong, "/work/rounds"));
}

static void test_a_pause_is_waited_for(void)
{
	static const struct {
		const char *content, *status, *stage;
	} rows[] = {{"go on\n", "ok", "verify"}, {"", "failed", "upload"}};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		make_file(LINE, rows[i].content);
		cJSON *document CLEANUP_JSON = run_real("probe-vulkan", "--pause", LINE);
		expect_string(document, "/work/status", rows[i].status);
		expect_string(document, "/work/stage", rows[i].stage);
	}
	cJSON *absent CLEANUP_JSON = run_real("probe-vulkan", "--pause", "/nonexistent/line");
	expect_string(absent, "/work/status", "failed");
}

static void test_a_pause_after_the_work(void)
{
	static const char *const probes[] = {"probe-vulkan", "probe-opengl"};
	make_file(LINE, "go on\n");
	for (size_t i = 0; i < ARRAY_SIZE(probes); i++) {
		cJSON *document CLEANUP_JSON = run_real(probes[i], "--pause-after", LINE);
		expect_string(document, "/work/status", "ok");
	}
	cJSON *absent CLEANUP_JSON = run_real("probe-vulkan", "--pause-after", "/nonexistent/line");
	expect_string(absent, "/work/status", "failed");
}

static void test_endless_work_times_out(void)
{
	for (size_t i = 0; i < 2; i++) { /* OpenGL's llvmpipe does not come back */
		cJSON *document CLEANUP_JSON =
			run_real(real[i], "--fault=endless", "--timeout=1000");
		expect_string(document, "/work/status", "timeout");
		expect_string(document, "/work/stage", "dispatch");
	}
}

static void test_a_crash_ends_the_probe(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(real); i++) {
		const struct probe probe = {
			.program = real[i], .option = "--fault=crash", .env = {NO_LEAK_CHECK}};
		struct process_result result = probe_run(&probe);
		CU_ASSERT(result.end != PROCESS_EXITED || result.code != 0);
		CU_ASSERT_EQUAL(result.out.size, 0);
		process_result_free(&result);
	}
}

/* What a device lost to one program it has lost for the next. */
static void test_a_lost_device_is_told(void)
{
	static const char settings[] = "GPUCERT_DOUBLE=lost,shared=" SHARED;
	make_file(SHARED, "");
	cJSON *before CLEANUP_JSON = run_double(settings, "--size=5000", NULL);
	cJSON *endless CLEANUP_JSON = run_double(settings, "--fault=endless", "--timeout=10");
	cJSON *after CLEANUP_JSON = run_double(settings, "--size=5000", NULL);
	expect_string(before, "/work/status", "ok");
	expect_string(endless, "/work/status", "timeout");
	expect_string(after, "/work/error/name", "CL_OUT_OF_RESOURCES");
}

static void test_free_memory_is_reported(void)
{
	cJSON *cuda CLEANUP_JSON = probe_document(
		&(struct probe){.program = "probe-cuda",
				.option = "--look-for=7",
				.env = {"LD_LIBRARY_PATH=" TESTS "cuda", "GPUCERT_DOUBLE=clean"}});
	expect_string(cuda, "/work/status", "ok");
	expect_number(cuda, "/work/memoryFreeBytes", 64 << 20);
	expect_number(cuda, "/work/residue/found", 0);

	cJSON *hip CLEANUP_JSON = probe_document(
		&(struct probe){.program = "probe-hip", .env = {"LD_LIBRARY_PATH=" TESTS "hip"}});
	expect_number(hip, "/work/memoryFreeBytes", 12 << 20);

	/* What belongs to the device: its budget, less what the process uses. */
	cJSON *vulkan CLEANUP_JSON =
		probe_document(&(struct probe){.program = "probe-vulkan", .env = {VULKAN, OLDER}});
	expect_number(vulkan, "/work/memoryFreeBytes", 1020 << 20);
	cJSON *old CLEANUP_JSON = probe_document(&(struct probe){
		.program = "probe-vulkan", .env = {VULKAN, OLDER, "GPUCERT_DOUBLE=old"}});
	CU_ASSERT(json_pointer_number(old, "/work/memoryFreeBytes") <= 0);

	/* Unknown: the device works as well. */
	static const struct probe refused[] = {
		{.program = "probe-cuda",
		 .env = {"LD_LIBRARY_PATH=" TESTS "cuda", "GPUCERT_DOUBLE=fail=cuMemGetInfo:999"}},
		{.program = "probe-hip",
		 .env = {"LD_LIBRARY_PATH=" TESTS "hip", "GPUCERT_DOUBLE=fail=hipMemGetInfo:1"}},
	};
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		cJSON *document CLEANUP_JSON = probe_document(&refused[i]);
		expect_string(document, "/work/status", "ok");
		CU_ASSERT_PTR_NULL(json_pointer(document, "/work/memoryFreeBytes"));
	}
}

int main(void)
{
	static CU_TestInfo tests[] = {
		{"real memory is clean", test_real_memory_is_clean},
		{"residue is found", test_residue_is_found},
		{"what is not looked at is told", test_what_is_not_looked_at_is_told},
		{"rounds are counted", test_rounds_are_counted},
		{"a pause is waited for", test_a_pause_is_waited_for},
		{"a pause after the work is waited for", test_a_pause_after_the_work},
		{"endless work times out", test_endless_work_times_out},
		{"a crash ends the probe", test_a_crash_ends_the_probe},
		{"a lost device is told", test_a_lost_device_is_told},
		{"free memory is reported", test_free_memory_is_reported},
		CU_TEST_INFO_NULL,
	};
	int rc = probe_documents_open("neighbour-documents.ndjson");
	if (rc == 0)
		rc = unit_run("neighbours", tests);
	return probe_documents_close() != 0 ? 2 : rc;
}
