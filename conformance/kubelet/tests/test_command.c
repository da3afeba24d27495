/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "base/process.h"
#include "base/tests/unit.h"
#include "conformance/kubelet/event.h"
#include "conformance/kubelet/kubelet.h"
#include "rpc/loop.h"

#include <signal.h>
#include <stdlib.h>

static const char command_program[] = GPUCERT_BINARY_DIR "/tests/kubelet-command";

enum { TIMEOUT_MS = 300000 };

/* A temporary directory with a script, and the command's result. */
struct run {
	char *directory, *plugin_dir, *script;
	struct process_result result;
};

static void run_init(struct run *run, const char *script)
{
	*run = (struct run){0};
	CU_ASSERT_EQUAL_FATAL(file_make_temporary(NULL, "kubelet-command-", &run->directory, NULL),
			      0);
	run->plugin_dir = path_join(run->directory, "dp");
	run->script = path_join(run->directory, "script.json");
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(run->script, script, strlen(script), 0600, NULL),
			      0);
}

static void run_free(struct run *run)
{
	process_result_free(&run->result);
	(void)file_remove_tree(run->directory, NULL);
	free(run->directory);
	free(run->plugin_dir);
	free(run->script);
}

/* Runs the command with these arguments behind --plugin-dir; with a plugin when there is a script.
 */
static void run_command(struct run *run, bool with_plugin, const char *const *arguments)
{
	const char *argv[16] = {command_program, "--plugin-dir", run->plugin_dir};
	size_t count = 3;
	char *plugin CLEANUP_FREE =
		text_format("'" GPUCERT_BINARY_DIR "/tests/scripted-plugin' %s {plugin-dir} "
			    "{kubelet-socket}",
			    run->script);
	if (with_plugin) {
		argv[count++] = "--plugin";
		argv[count++] = plugin;
	}
	for (size_t i = 0; arguments[i] != NULL; i++)
		argv[count++] = arguments[i];
	const struct process_spec spec = {.argv = argv, .timeout_ms = TIMEOUT_MS};
	struct error err = {0};
	int rc = process_run(&spec, &run->result, &err);
	if (rc != 0)
		(void)printf("%s\n", err.text);
	CU_ASSERT_EQUAL_FATAL(rc, 0);
}

/* The first event of this name; every line must be one JSON object. Caller deletes. */
static cJSON *find_event(const struct run *run, const char *name)
{
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	cJSON *found = NULL;
	text_list_split(&lines, text_string(&run->result.out), '\n');
	for (size_t i = 0; i < lines.count; i++) {
		cJSON *json CLEANUP_JSON = NULL;
		if (lines.items[i][0] == '\0')
			continue;
		UNIT_INT(json_parse(lines.items[i], strlen(lines.items[i]), &json, NULL), 0);
		const cJSON *event = json_pointer(json, "/event");
		if (found == NULL && cJSON_IsString(event) && strcmp(event->valuestring, name) == 0)
			found = STEAL(json);
	}
	return found;
}

static void expect_event(const struct run *run, const char *name, const char *pointer,
			 const char *value)
{
	cJSON *event CLEANUP_JSON = find_event(run, name);
	const cJSON *member = event == NULL ? NULL : json_pointer(event, pointer);
	if (event == NULL)
		(void)printf("no event %s in:\n%s%s", name, text_string(&run->result.out),
			     text_string(&run->result.err));
	CU_ASSERT_PTR_NOT_NULL(event);
	UNIT_STRING(cJSON_GetStringValue(member), value);
}

static void test_plugin_is_run_and_served(void)
{
	static const char *const arguments[] = {"--allocate", "example.com/gpu=1", "--once", NULL};
	struct run run;
	run_init(&run, "{\"output\": \"hello\\u0007\\n\", \"plugins\": [{\"device_count\": 1, "
		       "\"allocate\": {\"each\": {\"envs\": {\"GPU\": \"{id}\"}}}}]}");
	run_command(&run, true, arguments);
	UNIT_INT(run.result.end, PROCESS_EXITED);
	UNIT_INT(run.result.code, 0);
	expect_event(&run, "started", "/event", "started");
	expect_event(&run, "plugin-output", "/text", "hello\\x07");
	expect_event(&run, "register-answered", "/code", "OK");
	expect_event(&run, "devices", "/devices/0/id", "device-0");
	expect_event(&run, "allocate", "/ids/0", "device-0");
	expect_event(&run, "container-options", "/container_options/envs/0/value", "device-0");
	expect_event(&run, "plugin-exited", "/text", "stopped on request");
	expect_event(&run, "stopped", "/event", "stopped");
	char *socket CLEANUP_FREE = path_join(run.plugin_dir, "kubelet.sock");
	CU_ASSERT_FALSE(file_exists(socket));
	run_free(&run);
}

static void test_refusal_is_exit_code_1(void)
{
	static const char *const arguments[] = {"--allocate", "example.com/gpu=2", "--once", NULL};
	struct run run;
	run_init(&run, "{\"plugins\": [{\"device_count\": 1}]}");
	run_command(&run, true, arguments);
	UNIT_INT(run.result.code, 1);
	expect_event(&run, "rejected", "/text",
		     "Allocate failed due to requested number of devices unavailable for "
		     "example.com/gpu. Requested: 2, Available: 1, which is unexpected");
	run_free(&run);
}

static void test_plugin_that_ends_is_exit_code_1(void)
{
	static const char *const arguments[] = {NULL};
	struct run run;
	run_init(&run, "{\"binary_output\": 600, \"exit_after_ms\": 20, \"exit_code\": 7}");
	run_command(&run, true, arguments);
	UNIT_INT(run.result.code, 1);
	expect_event(&run, "plugin-exited", "/text", "exited with code 7");
	run_free(&run);
}

static void test_usage_errors(void)
{
	static const char *const wrong[][3] = {{"--profile", "1.12", NULL},
					       {"--allocate", "example.com/gpu", NULL},
					       {"--allocate", "example.com/gpu=x", NULL},
					       {"--fault", "nonsense", NULL},
					       {"--once", NULL},
					       {"--private-mounts", NULL},
					       {"--plugin", "'unclosed", NULL}};
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct run run;
		run_init(&run, "{}");
		run_command(&run, false, wrong[i]);
		UNIT_INT(run.result.code, 2);
		CU_ASSERT(run.result.err.size > 0);
		run_free(&run);
	}
}

static void test_resource_that_is_never_listed_is_exit_code_1(void)
{
	static const char *const arguments[] = {
		"--allocate", "example.com/other=1", "--once", "--seconds", "1", NULL};
	struct run run;
	run_init(&run, "{\"plugins\": [{\"device_count\": 1}]}");
	run_command(&run, true, arguments);
	UNIT_INT(run.result.code, 1);
	UNIT_CONTAINS(text_string(&run.result.err),
		      "--allocate example.com/other=1 was not served");
	run_free(&run);
}

static void test_program_that_is_missing(void)
{
	static const char *const arguments[] = {"--plugin", "/nonexistent/plugin", NULL};
	struct run run;
	run_init(&run, "{}");
	run_command(&run, false, arguments);
	UNIT_INT(run.result.code, 3);
	UNIT_CONTAINS(text_string(&run.result.err), "/nonexistent/plugin");
	run_free(&run);
}

static void on_line(bool is_stderr, const char *line, size_t size, void *user)
{
	struct process *const *process = user;
	char *copy CLEANUP_FREE = strndup(line, size);
	if (!is_stderr && copy != NULL && strstr(copy, "\"event\":\"devices\"") != NULL)
		UNIT_INT(process_signal(*process, SIGTERM, NULL), 0);
}

static bool has_ended(void *user)
{
	return process_has_ended(user);
}

static void test_sigterm_ends_it_cleanly(void)
{
	struct run run;
	struct process *process = NULL;
	uv_loop_t loop;
	run_init(&run, "{\"plugins\": [{\"device_count\": 1}]}");
	char *plugin CLEANUP_FREE = text_format(
		"'" GPUCERT_BINARY_DIR "/tests/scripted-plugin' %s {plugin-dir}", run.script);
	const char *const argv[] = {command_program, "--plugin-dir", run.plugin_dir,
				    "--plugin",	     plugin,	     NULL};
	const struct process_spec spec = {.argv = argv, .on_line = on_line, .user = &process};
	CU_ASSERT_EQUAL_FATAL(uv_loop_init(&loop), 0);
	CU_ASSERT_EQUAL_FATAL(process_start(&loop, &spec, &process, NULL), 0);
	UNIT_INT(loop_wait(&loop, has_ended, process, TIMEOUT_MS, "its end", NULL), 0);
	UNIT_INT(process_result(process)->end, PROCESS_EXITED);
	UNIT_INT(process_result(process)->code, 0);
	UNIT_CONTAINS(text_string(&process_result(process)->out), "\"event\":\"stopped\"");
	process_free(process);
	UNIT_INT(loop_drain(&loop, TIMEOUT_MS, NULL), 0);
	run_free(&run);
}

static void test_reference_lists_events_and_faults(void)
{
	char *document CLEANUP_FREE = NULL;
	CU_ASSERT_EQUAL_FATAL(file_read(GPUCERT_SOURCE_DIR "/docs/reference/kubelet-events.md",
					1 << 20, &document, NULL, NULL),
			      0);
	for (const char *const *name = kubelet_fault_names(); *name != NULL; name++) {
		char *row CLEANUP_FREE = text_format("\n| `%s", *name);
		UNIT_CONTAINS(document, row);
	}
	for (int i = 0; i < KUBELET_EVENT_COUNT; i++) {
		char *row CLEANUP_FREE =
			text_format("\n| `%s` |", kubelet_event_name((enum kubelet_event_type)i));
		UNIT_CONTAINS(document, row);
	}
}

static void test_help_names_every_lasting_fault(void)
{
	static const char *const arguments[] = {"--help", NULL};
	struct run run;
	run_init(&run, "{}");
	run_command(&run, false, arguments);
	UNIT_INT(run.result.code, 0);
	for (const char *const *name = kubelet_fault_names(); *name != NULL; name++)
		UNIT_CONTAINS(text_string(&run.result.out), *name);
	run_free(&run);
}

UNIT_MAIN("gpucert kubelet", {"a plugin is run and served", test_plugin_is_run_and_served},
	  {"a refusal is exit code 1", test_refusal_is_exit_code_1},
	  {"a plugin that ends is exit code 1", test_plugin_that_ends_is_exit_code_1},
	  {"usage errors are exit code 2", test_usage_errors},
	  {"SIGTERM ends it cleanly", test_sigterm_ends_it_cleanly},
	  {"a resource that is never listed is exit code 1",
	   test_resource_that_is_never_listed_is_exit_code_1},
	  {"the reference lists every event and fault", test_reference_lists_events_and_faults},
	  {"help names every lasting fault", test_help_names_every_lasting_fault},
	  {"a program that is missing is exit code 3", test_program_that_is_missing})
