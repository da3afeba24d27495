/* SPDX-License-Identifier: MIT */
/* gpu-discovery.exe as a program: recorded nodes, the live system, exit codes. */
#include "base/cleanup.h"
#include "base/process.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "discovery/include/gpucert/discovery.h"

#define NODE GPUCERT_SOURCE_DIR "/discovery/nodes/windows-mixed.json"

enum { TIMEOUT_MS = 60000 };

/* Runs the tool and returns its exit code; `out` and `err` get what it wrote, line ends being LF.
 */
static int run(struct text *out, struct text *err, const char *const *arguments)
{
	const char *argv[8] = {GPU_DISCOVERY};
	struct process_result result = {0};
	struct error error = {0};
	for (size_t i = 0; arguments[i] != NULL && i + 2 < ARRAY_SIZE(argv); i++)
		argv[i + 1] = arguments[i];
	text_reset(out);
	text_reset(err);
	if (process_run(&(struct process_spec){.argv = argv, .timeout_ms = TIMEOUT_MS}, &result,
			&error) < 0) {
		(void)printf("\n%s\n", error.text);
		return -1;
	}
	text_append(out, text_string(&result.out), result.out.size);
	text_append(err, text_string(&result.err), result.err.size);
	int code = result.end == PROCESS_EXITED ? result.code : -1;
	process_result_free(&result);
	return code;
}

#define RUN(out, err, ...) run(out, err, (const char *const[]){__VA_ARGS__, NULL})

static void test_recorded_node(void)
{
	const struct discovery_options options = {
		.recorded_node = NODE,
		.filter = {.include_integrated = true, .include_detachable = true},
	};
	struct discovery_snapshot *snapshot = NULL;
	struct text out CLEANUP_TEXT = {0};
	struct text err CLEANUP_TEXT = {0};
	UNIT_INT(RUN(&out, &err, "--node", NODE), 0);
	UNIT_CONTAINS(text_string(&out), "AMD Radeon RX 6800 XT");
	UNIT_CONTAINS(text_string(&out), "Intel(R) AI Boost");
	UNIT_INT(RUN(&out, &err, "--details", "--node", NODE), 0);
	UNIT_CONTAINS(text_string(&out), "amd_opencl64.dll => C:\\Windows\\System32\\OpenCL.dll");
	UNIT_INT(RUN(&out, &err, "--node", NODE, "--require", "4"), 0);
	UNIT_INT(RUN(&out, &err, "--node", NODE, "--require", "5"), 1);
	UNIT_INT(discovery_take(&options, &snapshot, NULL), 0);
	UNIT_NEED(snapshot != NULL);
	char *json = discovery_to_json(snapshot);
	UNIT_INT(RUN(&out, &err, "--json", "--node", NODE), 0);
	UNIT_CONTAINS(text_string(&out), json);
	discovery_string_free(json);
	discovery_free(snapshot);
}

static void test_bad_input(void)
{
	struct text out CLEANUP_TEXT = {0};
	struct text err CLEANUP_TEXT = {0};
	UNIT_INT(RUN(&out, &err, "--node", "C:\\no\\such\\node.json"), 3);
	UNIT_CONTAINS(text_string(&err), "node.json: Path not found");
	UNIT_INT(RUN(&out, &err, "--root", "C:\\elsewhere"), 3);
	UNIT_CONTAINS(text_string(&err), "on Windows only the running system can be looked at");
	UNIT_INT(RUN(&out, &err, "--no-such-option"), 2);
}

/* Wine's DXCore is a stub. */
static void test_live_system(void)
{
	struct text out CLEANUP_TEXT = {0};
	struct text err CLEANUP_TEXT = {0};
	UNIT_INT(RUN(&out, &err, "--json"), 0);
	UNIT_CONTAINS(text_string(&out), "\"os\": \"windows\"");
	UNIT_CONTAINS(text_string(&out), "\"enumerator\": \"d3dkmt\"");
	UNIT_CONTAINS(text_string(&out), "\"emulator\": \"Wine ");
	UNIT_CONTAINS(text_string(&out), "D3DKMT takes its place");
}

UNIT_MAIN("gpu-discovery.exe", {"recorded node", test_recorded_node}, {"bad input", test_bad_input},
	  {"live system", test_live_system})
