/* SPDX-License-Identifier: MIT */
/* gen-device-mounts as a program: what goes to stdout, what to stderr, and exit codes. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "base/tests/unit.h"

static const char windows_node[] = GPUCERT_NODES "/windows-4x-tesla-t4.json";
static const char nvidia_node[] = GPUCERT_NODES "/linux-2x-tesla-t4.json";
static const char software_node[] = GPUCERT_NODES "/linux-software.json";
static const char linux_node[] = GPUCERT_NODES "/linux-intel-amd.json";

enum { TIMEOUT_MS = 300000 };

struct output {
	int code;
	struct text out, err;
};

static void output_free(struct output *output)
{
	text_free(&output->out);
	text_free(&output->err);
}

/* The program with these arguments; `path` is the PATH it sees, or NULL. */
#define RUN(path, ...) run(path, (const char *const[]){GEN_DEVICE_MOUNTS, __VA_ARGS__, NULL})

static struct output run(const char *path, const char *const *argv)
{
	const char *env[] = {"CONTAINER_TOOL_CODE=7", path, NULL};
	struct process_spec spec = {.argv = argv, .timeout_ms = TIMEOUT_MS, .env = env};
	struct process_result result = {0};
	struct output output = {0};
	UNIT_INT(process_run(&spec, &result, NULL), 0);
	UNIT_INT(result.end, PROCESS_EXITED);
	output.code = result.code;
	text_append(&output.out, text_string(&result.out), result.out.size);
	text_append(&output.err, text_string(&result.err), result.err.size);
	process_result_free(&result);
	return output;
}

static void test_json(void)
{
	CLEANUP(output_free)
	struct output output = RUN(NULL, "--node", windows_node, "--index", "0,3", "--format",
				   "json", "--skip-runtime-mounts", "--verbose");
	cJSON *json CLEANUP_JSON = NULL;
	UNIT_INT(output.code, 0);
	UNIT_INT(json_parse(text_string(&output.out), output.out.size, &json, NULL), 0);
	UNIT_INT(cJSON_GetArraySize(json), 4);
	UNIT_STRING(cJSON_GetStringValue(cJSON_GetArrayItem(json, 0)), "--device");
	UNIT_STRING(cJSON_GetStringValue(cJSON_GetArrayItem(json, 3)),
		    "vpci-location-path://PCIROOT(0)#PCI(1E00)");
	UNIT_CONTAINS(text_string(&output.err), "device 3: ");
}

/* Only the flags go to stdout; what is told goes to stderr. */
static void test_text(void)
{
	CLEANUP(output_free)
	struct output output = RUN(NULL, "--node", windows_node, "--luid", "7048070", "--verbose",
				   "--format", "sh");
	UNIT_INT(output.code, 0);
	CU_ASSERT_TRUE(text_starts_with(
		text_string(&output.out),
		"--device 'vpci-location-path://PCIROOT(0)#PCI(1B00)' --mount 'src=C:\\Windows\\"));
	UNIT_CONTAINS(text_string(&output.out),
		      "dst=C:\\Windows\\System32\\nvcuda.dll,options=ro'");
	CU_ASSERT_PTR_EQUAL(strchr(text_string(&output.out), '\n') + 1,
			    text_string(&output.out) + output.out.size);
}

static void test_docker(void)
{
	CLEANUP(output_free)
	struct output output = RUN(NULL, "--node", windows_node, "--index", "0", "--for", "docker",
				   "--format", "sh");
	CLEANUP(output_free)
	struct output refused = RUN(NULL, "--node", windows_node, "--index", "0", "--for", "docker",
				    "--allocation", "location-path");
	UNIT_INT(output.code, 0);
	CU_ASSERT_TRUE(text_starts_with(
		text_string(&output.out),
		"--isolation process --device class/5B45201D-F2F2-4F3B-85BB-30FF1F953599 "));
	CU_ASSERT_PTR_NULL(strstr(text_string(&output.out), "mount"));
	UNIT_CONTAINS(text_string(&output.err), "every display adapter");
	UNIT_CONTAINS(text_string(&output.err), "docker cannot mount single files");
	UNIT_INT(refused.code, 2);
	UNIT_STRING(text_string(&refused.out), "");
	UNIT_CONTAINS(text_string(&refused.err), "classes of devices");
}

static void test_cri(void)
{
	CLEANUP(output_free)
	struct output output = RUN(NULL, "--node", windows_node, "--path", "PCIROOT(0)#PCI(1C00)",
				   "--format", "cri");
	cJSON *json CLEANUP_JSON = NULL;
	UNIT_INT(output.code, 0);
	UNIT_INT(json_parse(text_string(&output.out), output.out.size, &json, NULL), 0);
	UNIT_STRING(cJSON_GetStringValue(json_pointer(json, "/devices/0/host_path")),
		    "vpci-location-path://PCIROOT(0)#PCI(1C00)");
	CU_ASSERT_TRUE(cJSON_IsTrue(json_pointer(json, "/mounts/0/readonly")));
}

static void test_linux(void)
{
	CLEANUP(output_free)
	struct output output = RUN(NULL, "--node", linux_node, "--vendor", "intel", "--for",
				   "nerdctl", "--format", "sh");
	UNIT_INT(output.code, 0);
	UNIT_STRING(text_string(&output.out),
		    "--device /dev/dri/card0:/dev/dri/card0:rw "
		    "--device /dev/dri/renderD128:/dev/dri/renderD128:rw\n");
}

/* The Spec of two devices: as it was written before, and one that the check takes. */
static void test_cdi(void)
{
	char *expected CLEANUP_FREE = NULL;
	CLEANUP(output_free)
	struct output output = RUN(NULL, "--node", nvidia_node, "--all", "--for", "cdi");
	CLEANUP(output_free)
	struct output check = RUN(NULL, "--for", "cdi", "--check", CDI_EXPECTED);
	UNIT_INT(file_read(CDI_EXPECTED, JSON_FILE_MAX, &expected, NULL, NULL), 0);
	UNIT_INT(output.code, 0);
	UNIT_STRING(text_string(&output.err), "");
	UNIT_STRING(text_string(&output.out), expected);
	UNIT_INT(check.code, 0);
	UNIT_STRING(text_string(&check.out), CDI_EXPECTED
		    ": ok: gpucert.internal/gpu, 3 devices, cdiVersion 0.5.0 (needs 0.5.0)\n");
}

/* Files are read-only in the container, and nothing else is asked of the runtime. */
static void test_cdi_mounts(void)
{
	CLEANUP(output_free)
	struct output output = RUN(NULL, "--node", software_node, "--all", "--for", "cdi");
	cJSON *json CLEANUP_JSON = NULL;
	size_t mounts = 0;
	UNIT_INT(output.code, 0);
	UNIT_INT(json_parse(text_string(&output.out), output.out.size, &json, NULL), 0);
	UNIT_STRING(json_pointer_string(json, "/cdiVersion"), "0.3.0");
	UNIT_STRING(json_pointer_string(json, "/devices/0/name"), "lavapipe");
	UNIT_CONTAINS(json_pointer_string(json, "/devices/0/containerEdits/env/0"),
		      "VK_DRIVER_FILES=/usr/share/vulkan/icd.d/lvp_icd");
	json_each (mount, json_pointer(json, "/devices/0/containerEdits/mounts")) {
		char *options CLEANUP_FREE = json_print_compact(json_pointer(mount, "/options"));
		UNIT_STRING(options, "[\"ro\",\"nosuid\",\"nodev\",\"bind\"]");
		mounts++;
	}
	CU_ASSERT_TRUE(mounts > 10);
}

static void test_cdi_check(void)
{
	CLEANUP(output_free)
	struct output folder = RUN(NULL, "--for", "cdi", "--check", CDI_CORPUS);
	CLEANUP(output_free)
	struct output missing = RUN(NULL, "--for", "cdi", "--check", "/nonexistent");
	UNIT_INT(folder.code, 1);
	UNIT_CONTAINS(text_string(&folder.out), "least.json: ok: vendor.com/gpu, 1 device, ");
	UNIT_CONTAINS(text_string(&folder.out),
		      "unknown-field.json: unknown-field: "
		      "devices[0].containerEdits.environment: unknown member");
	UNIT_INT(missing.code, 1);
	UNIT_CONTAINS(text_string(&missing.out), "/nonexistent: unreadable: ");
}

static void expect_failure(int code, const char *message, const char *a, const char *b,
			   const char *c, const char *d)
{
	struct output output CLEANUP(output_free) = RUN(NULL, a, b, c, d);
	UNIT_INT(output.code, code);
	UNIT_STRING(text_string(&output.out), "");
	UNIT_CONTAINS(text_string(&output.err), message);
}

static void test_failures(void)
{
	expect_failure(1, "--luid 1: the node has no such device", "--node", windows_node, "--luid",
		       "1");
	expect_failure(1, "--index 4", "--node", windows_node, "--index", "0,4");
	expect_failure(2, "--index", "--node", windows_node, "--index", "zero");
	expect_failure(2, "which devices?", "--node", windows_node, NULL, NULL);
	expect_failure(2, "no --run", "--all", "image", NULL, NULL);
	expect_failure(2, "needs an image", "--all", "--run", NULL, NULL);
	expect_failure(2, "--format cri", "--all", "--run", "--format=cri", "image");
	expect_failure(2, "--for", "--all", "--for=docker", "--format=cri", NULL);
	expect_failure(2, "--no-such", "--no-such", NULL, NULL, NULL);
	expect_failure(1, "CDI has no devices of Windows", "--all", "--for=cdi", "--node",
		       windows_node);
	expect_failure(2, "starts no container", "--all", "--for=cdi", "--run", "image");
	expect_failure(2, "prints JSON", "--all", "--for=cdi", "--format=sh", NULL);
	expect_failure(2, "are for Windows", "--all", "--for=cdi", "--allocation=class", NULL);
	expect_failure(2, "no devices can be chosen", "--all", "--for=cdi", "--check", "/etc/cdi");
	expect_failure(2, "is of --for cdi", "--check", "/etc/cdi", NULL, NULL);
	expect_failure(3, "/nonexistent", "--all", "--node", "/nonexistent", NULL);
}

#if defined(_WIN32)
#define PATH_SEPARATOR ";"
#else
#define PATH_SEPARATOR ":"
#endif

/* The double of ctr shows what it was given, and its exit code is handed on. */
static void test_run(void)
{
	char *path CLEANUP_FREE =
		text_format("PATH=" CONTAINER_TOOL_DIRECTORY PATH_SEPARATOR "%s", getenv("PATH"));
	CLEANUP(output_free)
	struct output output =
		RUN(path, "--node", windows_node, "--index", "0", "--skip-runtime-mounts", "--run",
		    "--verbose", "--", "image", "name", "program", "--flag", "a b", "%PATH%", "\"");
	CLEANUP(output_free)
	struct output missing = RUN("PATH=/nonexistent", "--node", windows_node, "--index", "0",
				    "--run", "--for", "nerdctl", "image");
	UNIT_INT(output.code, 7);
	UNIT_STRING(text_string(&output.out),
		    "<run>\n<--rm>\n<--device>\n<vpci-location-path://PCIROOT(0)#PCI(1B00)>\n"
		    "<image>\n<name>\n<program>\n<--flag>\n<a b>\n<%PATH%>\n<\">\n");
	UNIT_CONTAINS(text_string(&output.err), "ctr run --rm --device");
	UNIT_INT(missing.code, 127);
	UNIT_CONTAINS(text_string(&missing.err), "cannot start 'nerdctl'");
}

UNIT_MAIN("gen-device-mounts", {"run", test_run}, {"json", test_json}, {"text", test_text},
	  {"docker", test_docker}, {"cri", test_cri}, {"linux", test_linux}, {"CDI", test_cdi},
	  {"files with CDI", test_cdi_mounts}, {"check of CDI", test_cdi_check},
	  {"failures", test_failures})
