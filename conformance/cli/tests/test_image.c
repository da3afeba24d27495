/* SPDX-License-Identifier: MIT */
/* gpucert run --cri --image: probes run in an image that the runtime has, and one that it lacks is
 * told of. gpucert image build: what it writes is an image for such a run. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "base/process.h"
#include "base/tests/unit.h"
#include "containers/tests/rig.h"

#define PROGRAMS GPUCERT_BINARY_DIR "/libexec/gpucert"

enum { TIMEOUT_MS = 300000 };

static struct rig rig;
static char *directory;

/* The exit code of a program. */
static int call(const char *const *argv, struct text *messages)
{
	struct process_spec spec = {.argv = argv, .timeout_ms = TIMEOUT_MS};
	struct process_result result = {0};
	int code = -1;
	UNIT_INT(process_run(&spec, &result, NULL), 0);
	UNIT_INT(result.end, PROCESS_EXITED);
	text_append(messages, text_string(&result.err), result.err.size);
	code = result.code;
	process_result_free(&result);
	return code;
}

/* gpucert run with this image. */
static int run_checks(const char *image, const char *checks, struct text *messages)
{
	const char *const argv[] = {
		GPUCERT,   "run", "--cri", runtime_describe(rig.runtime)->address,
		"--image", image, "--out", directory,
		checks,	   NULL};
	return call(argv, messages);
}

static int run(const char *image, struct text *messages)
{
	return run_checks(image, "environment", messages);
}

static void test_known_image(void)
{
	struct text messages CLEANUP_TEXT = {0};
	char *path CLEANUP_FREE = path_join(directory, "report.json");
	cJSON *report CLEANUP_JSON = NULL;
	UNIT_INT(run(rig.images.probe.reference, &messages), 0);
	UNIT_STRING(text_string(&messages), "");
	UNIT_INT(json_read_file(path, &report, NULL), 0);
	UNIT_STRING(cJSON_GetStringValue(json_pointer(report, "/environment/images/0/ref")),
		    rig.images.probe.reference);
	UNIT_CONTAINS(cJSON_GetStringValue(json_pointer(report, "/environment/images/0/digest")),
		      "sha256:");
}

static void test_unknown_image(void)
{
	struct text messages CLEANUP_TEXT = {0};
	UNIT_INT(run("registry.example/none:1", &messages), 3);
	UNIT_CONTAINS(text_string(&messages),
		      "image registry.example/none:1: the container runtime does not have it");
}

#define BUILT "registry.example:5000/gpucert-probes:1"

/* Built, imported by ctr, and the container computes with Vulkan; OpenCL is not in it. */
static void test_built_image(void)
{
	char *archive CLEANUP_FREE = path_join(directory, "probes.tar");
	char *path CLEANUP_FREE = path_join(directory, "report.json");
	const char *const references[] = {BUILT, NULL};
	const char *const argv[] = {GPUCERT, "image", "build", "graphics", "--name",
				    BUILT,   "-o",    archive, NULL};
	struct text messages CLEANUP_TEXT = {0};
	cJSON *report CLEANUP_JSON = NULL;
	struct error err = {0};
	UNIT_INT(call(argv, &messages), 0);
	UNIT_STRING(text_string(&messages), "");
	CU_ASSERT_EQUAL_FATAL(runtime_import(rig.runtime, archive, references, &err), 0);
	UNIT_INT(run_checks(BUILT, "api.vulkan", &messages), 0);
	UNIT_INT(json_read_file(path, &report, NULL), 0);
	UNIT_STRING(json_pointer_string(report, "/checks/0/id"), "api.vulkan");
	UNIT_STRING(json_pointer_string(report, "/checks/0/outcome"), "pass");
	UNIT_STRING(json_pointer_string(report, "/checks/0/reason"), "");
	UNIT_INT(run_checks(BUILT, "api.opencl", &messages), 1);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"known image", test_known_image},
		{"unknown image", test_unknown_image},
		{"built image", test_built_image},
		CU_TEST_INFO_NULL,
	};
	const char *reason = rig_reason_to_skip();
	int code = 0;
	if (reason != NULL) {
		(void)printf("skipped: %s\n", reason);
		return RIG_SKIP;
	}
	if (file_make_temporary("/tmp", "test-image-", &directory, NULL) < 0)
		return 1;
	rig_open_with(&rig, rig_base("image"), PROGRAMS);
	code = unit_run("image", tests);
	rig_close(&rig);
	(void)file_remove_tree(directory, NULL);
	free(directory);
	return code;
}
