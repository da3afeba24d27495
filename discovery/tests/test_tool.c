/* SPDX-License-Identifier: MIT */
/* gpu-discovery as its users see it: output, exit codes, errors, and what --watch tells. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/process.h"
#include "base/tests/unit.h"
#include "discovery/tests/tree.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define NODES GPUCERT_SOURCE_DIR "/discovery/nodes/"

static const char linux_intel_amd[] = NODES "linux-intel-amd.json";
static const char linux_nvidia[] = NODES "linux-2x-tesla-t4.json";
static const char linux_software[] = NODES "linux-software.json";
static const char windows_nvidia[] = NODES "windows-4x-tesla-t4.json";

enum { TIMEOUT_MS = 300000, OUTPUT_MAX = 1 << 20 };

/* Runs the tool and returns its exit code; `out` and `err` get what it wrote. */
static int run(struct text *out, struct text *err, const char *const *arguments)
{
	const char *argv[16] = {GPU_DISCOVERY};
	struct process_result result = {0};
	struct error error = {0};
	for (size_t i = 0; arguments[i] != NULL && i + 2 < ARRAY_SIZE(argv); i++)
		argv[i + 1] = arguments[i];
	UNIT_INT(process_run(&(struct process_spec){.argv = argv, .timeout_ms = TIMEOUT_MS},
			     &result, &error),
		 0);
	UNIT_STRING(error.text, "");
	UNIT_INT(result.end, PROCESS_EXITED);
	text_reset(out);
	text_reset(err);
	text_append(out, text_string(&result.out), result.out.size);
	text_append(err, text_string(&result.err), result.err.size);
	int code = result.code;
	process_result_free(&result);
	return code;
}

#define RUN(out, err, ...) run(out, err, (const char *const[]){__VA_ARGS__, NULL})

static void test_table(void)
{
	struct text out CLEANUP_TEXT = {0};
	struct text err CLEANUP_TEXT = {0};
	UNIT_INT(RUN(&out, &err, "--node", linux_intel_amd), 0);
	UNIT_STRING(text_string(&out),
		    "ID            KIND     VENDOR  DESCRIPTION                               "
		    "  DRIVER                 HEALTH\n"
		    "0000:00:02.0  display  Intel   TigerLake-LP GT2 [Iris Xe Graphics]       "
		    "  i915 6.1.0-37-amd64    healthy\n"
		    "0000:03:00.0  display  AMD     Navi 21 [Radeon RX 6800/6800 XT / 6900 XT]"
		    "  amdgpu 6.1.0-37-amd64  healthy\n");
	UNIT_STRING(text_string(&err), "");
}

static void test_details(void)
{
	struct text out CLEANUP_TEXT = {0};
	struct text err CLEANUP_TEXT = {0};
	UNIT_INT(RUN(&out, &err, "--details", "--node", windows_nvidia), 0);
	UNIT_CONTAINS(text_string(&out), "  location paths  PCIROOT(0)#PCI(1B00)\n");
	UNIT_CONTAINS(text_string(&out), "  LUID            7048070\n");
	UNIT_CONTAINS(text_string(&out),
		      "nvcuda_loader64.dll => C:\\Windows\\System32\\nvcuda.dll");
	UNIT_INT(RUN(&out, &err, "--details", "--node", linux_software), 0);
	UNIT_CONTAINS(text_string(&out), "  environment     VK_DRIVER_FILES=/usr/share/vulkan");
	UNIT_CONTAINS(text_string(&out), "/usr/share/pocl/ (driver-data)");
}

static void test_json_and_record(void)
{
	char *root CLEANUP_TREE = tree_new();
	char *path CLEANUP_FREE = text_format("%s/node.json", root);
	char *wanted CLEANUP_FREE = NULL;
	char *recorded CLEANUP_FREE = NULL;
	struct text out CLEANUP_TEXT = {0};
	struct text err CLEANUP_TEXT = {0};
	UNIT_INT(file_read(linux_nvidia, OUTPUT_MAX, &wanted, NULL, NULL), 0);
	UNIT_INT(RUN(&out, &err, "--json", "--record", path, "--node", linux_nvidia), 0);
	UNIT_STRING(text_string(&out), wanted);
	UNIT_INT(file_read(path, OUTPUT_MAX, &recorded, NULL, NULL), 0);
	UNIT_STRING(recorded, wanted);
}

/* A record of this machine says when it was made and what it runs; a record of that record the
 * same.
 */
static void test_record_of_this_machine(void)
{
	char *root CLEANUP_TREE = tree_new();
	char *path CLEANUP_FREE = text_format("%s/node.json", root);
	char *copy CLEANUP_FREE = text_format("%s/copy.json", root);
	char *first CLEANUP_FREE = NULL;
	char *second CLEANUP_FREE = NULL;
	struct text out CLEANUP_TEXT = {0};
	struct text err CLEANUP_TEXT = {0};
	UNIT_INT(RUN(&out, &err, "--record", path), 0);
	UNIT_INT(RUN(&out, &err, "--record", copy, "--node", path), 0);
	UNIT_INT(file_read(path, OUTPUT_MAX, &first, NULL, NULL), 0);
	UNIT_INT(file_read(copy, OUTPUT_MAX, &second, NULL, NULL), 0);
	UNIT_STRING(first, second);
	UNIT_CONTAINS(first, "\"recorded\": \"20");
	UNIT_CONTAINS(first, "\"kernelBuild\": \"#");
}

static void test_filters(void)
{
	struct text out CLEANUP_TEXT = {0};
	struct text err CLEANUP_TEXT = {0};
	UNIT_INT(RUN(&out, &err, "--node", linux_intel_amd, "--require", "2"), 0);
	UNIT_INT(RUN(&out, &err, "--node", linux_intel_amd, "--require", "3"), 1);
	UNIT_INT(RUN(&out, &err, "--node", linux_intel_amd, "--exclude-integrated", "--require",
		     "2"),
		 1);
	UNIT_INT(RUN(&out, &err, "--node", linux_intel_amd, "--vendor", "AMD", "--require", "1"),
		 0);
	CU_ASSERT_PTR_NULL(strstr(text_string(&out), "Intel"));
	UNIT_INT(RUN(&out, &err, "--node", linux_intel_amd, "--vendor", "0x8086", "--vendor", "amd",
		     "--require", "2"),
		 0);
	UNIT_INT(RUN(&out, &err, "--node", linux_intel_amd, "--id", "0000:00:02.0", "--id", "none"),
		 0);
	CU_ASSERT_PTR_NULL(strstr(text_string(&out), "AMD"));
	UNIT_INT(RUN(&out, &err, "--node", linux_intel_amd, "--compute-only"), 0);
	UNIT_STRING(text_string(&out), "no devices\n");
	UNIT_INT(RUN(&out, &err, "--node", linux_software, "--exclude-software", "--require", "1"),
		 1);
}

static void test_bad_input(void)
{
	char *root CLEANUP_TREE = tree_new();
	char *bad CLEANUP_FREE = text_format("%s/bad.json", root);
	struct text out CLEANUP_TEXT = {0};
	struct text err CLEANUP_TEXT = {0};
	UNIT_INT(tree_file(root, "bad.json", "{\"schema\": \"\x1b[31m\"}", 19, NULL), 0);
	UNIT_INT(RUN(&out, &err, "--node", bad), 3);
	CU_ASSERT_PTR_NULL(strchr(text_string(&err), '\x1b'));
	UNIT_INT(RUN(&out, &err, "--node", "/nonexistent.json"), 3);
	UNIT_CONTAINS(text_string(&err), "/nonexistent.json: No such file or directory");
	UNIT_INT(RUN(&out, &err, "--root", "/nonexistent"), 3);
	UNIT_CONTAINS(text_string(&err), "/nonexistent");
	UNIT_INT(RUN(&out, &err, "--record", "/nonexistent/x", "--node", linux_intel_amd), 3);
	UNIT_CONTAINS(text_string(&err), "/nonexistent/x");
	UNIT_INT(RUN(&out, &err, "--jsno"), 2);
	UNIT_CONTAINS(text_string(&err), "--json");
	UNIT_INT(RUN(&out, &err, "something"), 2);
	UNIT_CONTAINS(text_string(&err), "something");
	UNIT_INT(RUN(&out, &err, "--poll-ms", "1"), 2);
}

/* What a watching tool has said so far, and what is done to its node at each step. */
struct session {
	const char *node;
	struct text seen;
	size_t lines;
	int code;
	enum process_end end;
	struct process *process;
};

static void copy_node(const char *from, const char *to)
{
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	UNIT_INT(file_read(from, OUTPUT_MAX, &data, &size, NULL), 0);
	UNIT_INT(file_write_atomic(to, data, size, 0644, NULL), 0);
}

static void session_line(bool is_stderr, const char *line, size_t size, void *user)
{
	struct session *session = user;
	const char *event = strstr(line, "\"event\"");
	const char *id = strstr(line, "\"id\"");
	if (is_stderr || event == NULL || id == NULL) {
		text_addf(&session->seen, "unexpected: %.*s\n", (int)size, line);
		return;
	}
	text_addf(&session->seen, "%.*s %.*s\n", (int)strcspn(event, ","), event,
		  (int)strcspn(id, ","), id);
	session->lines++;
	if (session->lines == 2)
		copy_node(linux_nvidia, session->node);
	if (session->lines == 6)
		UNIT_INT(process_signal(session->process, SIGTERM, NULL), 0);
}

static void session_end(struct process *process, const struct process_result *result, void *user)
{
	struct session *session = user;
	(void)process;
	session->code = result->code;
	session->end = result->end;
}

static void test_watch(void)
{
	char *root CLEANUP_TREE = tree_new();
	char *node CLEANUP_FREE = text_format("%s/node.json", root);
	struct session session = {.node = node};
	const struct process_spec spec = {
		.argv = (const char *const[]){GPU_DISCOVERY, "--watch", "--node", node, NULL},
		.timeout_ms = TIMEOUT_MS,
		.on_line = session_line,
		.on_end = session_end,
		.user = &session,
	};
	uv_loop_t loop;
	copy_node(linux_intel_amd, node);
	UNIT_INT(uv_loop_init(&loop), 0);
	UNIT_INT(process_start(&loop, &spec, &session.process, NULL), 0);
	UNIT_INT(uv_run(&loop, UV_RUN_DEFAULT), 0);
	process_free(session.process);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	UNIT_INT(uv_loop_close(&loop), 0);
	UNIT_STRING(text_string(&session.seen), "\"event\":\"added\" \"id\":\"0000:00:02.0\"\n"
						"\"event\":\"added\" \"id\":\"0000:03:00.0\"\n"
						"\"event\":\"removed\" \"id\":\"0000:00:02.0\"\n"
						"\"event\":\"removed\" \"id\":\"0000:03:00.0\"\n"
						"\"event\":\"added\" \"id\":\"0000:3b:00.0\"\n"
						"\"event\":\"added\" \"id\":\"0000:d8:00.0\"\n");
	UNIT_INT(session.end, PROCESS_EXITED);
	UNIT_INT(session.code, 0);
	text_free(&session.seen);
}

UNIT_MAIN("gpu-discovery", {"table", test_table}, {"details", test_details},
	  {"JSON and recording", test_json_and_record},
	  {"a record of this machine is dated", test_record_of_this_machine},
	  {"filters", test_filters}, {"bad input", test_bad_input}, {"watch", test_watch})
