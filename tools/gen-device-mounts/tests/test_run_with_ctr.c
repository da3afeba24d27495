/* SPDX-License-Identifier: MIT */
/*
 * gen-device-mounts --run with the real ctr and a private containerd: a probe in an image without
 * drivers finds the software renderer that the flags bring, and none without them.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "base/tests/unit.h"
#include "containers/tests/rig.h"

#define PROGRAMS GPUCERT_BINARY_DIR "/libexec/gpucert"

enum { TIMEOUT_MS = 300000 };

static struct rig rig;

/* The probe's document; the exit code is that of the program in the container. */
static cJSON *run(const char *const *argv, int *code)
{
	const struct runtime_description *runtime = runtime_describe(rig.runtime);
	char *address CLEANUP_FREE =
		text_format("CONTAINERD_ADDRESS=%s", runtime->address + strlen("unix://"));
	const char *const env[] = {address, "CONTAINERD_NAMESPACE=k8s.io", NULL};
	struct process_spec spec = {.argv = argv, .env = env, .timeout_ms = TIMEOUT_MS};
	struct process_result result = {0};
	cJSON *document = NULL;
	struct error err = {0};
	UNIT_INT(process_run(&spec, &result, &err), 0);
	UNIT_INT(result.end, PROCESS_EXITED);
	*code = result.code;
	if (json_parse(text_string(&result.out), result.out.size, &document, &err) < 0)
		(void)printf("\n%s\n%s\n%s\n", err.text, text_string(&result.out),
			     text_string(&result.err));
	process_result_free(&result);
	CU_ASSERT_PTR_NOT_NULL_FATAL(document);
	return document;
}

static void test_with_flags(void)
{
	const char *const argv[] = {GEN_DEVICE_MOUNTS,
				    "--vendor",
				    "Mesa",
				    "--run",
				    "--",
				    "--snapshotter",
				    runtime_describe(rig.runtime)->snapshotter,
				    "--env",
				    "LSAN_OPTIONS=detect_leaks=0",
				    rig.images.probe.reference,
				    "with-flags",
				    "/libexec/gpucert/probe-vulkan",
				    NULL};
	int code = -1;
	cJSON *document CLEANUP_JSON = run(argv, &code);
	UNIT_INT(code, 0);
	CU_ASSERT_TRUE(cJSON_IsTrue(json_pointer(document, "/work/verified")));
	UNIT_CONTAINS(cJSON_GetStringValue(json_pointer(document, "/devices/0/name")), "llvmpipe");
}

/* The control: without the flags the same image has no driver. */
static void test_without_flags(void)
{
	const char *const argv[] = {"ctr",
				    "run",
				    "--rm",
				    "--snapshotter",
				    runtime_describe(rig.runtime)->snapshotter,
				    "--env",
				    "LSAN_OPTIONS=detect_leaks=0",
				    rig.images.probe.reference,
				    "without-flags",
				    "/libexec/gpucert/probe-vulkan",
				    NULL};
	int code = -1;
	cJSON *document CLEANUP_JSON = run(argv, &code);
	UNIT_STRING(cJSON_GetStringValue(json_pointer(document, "/api/missing")), "Vulkan driver");
	UNIT_INT(cJSON_GetArraySize(json_pointer(document, "/devices")), 0);
	UNIT_INT(code, 0);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"with flags", test_with_flags},
		{"without flags", test_without_flags},
		CU_TEST_INFO_NULL,
	};
	const char *reason = rig_reason_to_skip();
	int code = 0;
	if (reason == NULL && !file_exists(PROGRAMS "/probe-vulkan"))
		reason = "needs the probes";
	if (reason != NULL) {
		(void)printf("skipped: %s\n", reason);
		return RIG_SKIP;
	}
	rig_open_with(&rig, rig_base("ctr"), PROGRAMS);
	code = unit_run("run with ctr", tests);
	rig_close(&rig);
	return code;
}
