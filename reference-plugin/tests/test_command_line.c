/* SPDX-License-Identifier: MIT */
/* Exit codes and messages of device-plugin-gpu. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "base/process.h"
#include "base/tests/unit.h"

enum { ARGUMENTS_MAX = 8, TIMEOUT_MS = 300000 };

static struct {
	char *program;
	char *directory;
} fixture;

/* Runs the plugin with up to four arguments. */
static int run(const char *a, const char *b, const char *c, const char *d, struct text *out,
	       struct text *messages)
{
	const char *const argv[] = {fixture.program, a, b, c, d, NULL};
	struct process_spec spec = {.argv = argv, .timeout_ms = TIMEOUT_MS};
	struct process_result result = {0};
	int code = 0;
	UNIT_INT(process_run(&spec, &result, NULL), 0);
	UNIT_INT(result.end, PROCESS_EXITED);
	text_append(out, text_string(&result.out), result.out.size);
	text_append(messages, text_string(&result.err), result.err.size);
	code = result.code;
	process_result_free(&result);
	return code;
}

/* The log escapes what it says, the backslashes of paths among it. */
static void expect_failure(const char *a, const char *b, const char *c, const char *d, int code,
			   const char *message)
{
	struct text out CLEANUP_TEXT = {0};
	struct text messages CLEANUP_TEXT = {0};
	struct text wanted CLEANUP_TEXT = {0};
	text_add_escaped(&wanted, message, strlen(message));
	UNIT_INT(run(a, b, c, d, &out, &messages), code);
	UNIT_CONTAINS(text_string(&messages), text_string(&wanted));
}

static char *write_file(const char *name, const char *content)
{
	char *path = path_join(fixture.directory, name);
	UNIT_INT(file_write_atomic(path, content, strlen(content), 0644, NULL), 0);
	return path;
}

static void test_usage_errors(void)
{
	char *yaml CLEANUP_FREE = write_file("bad.yaml", "multitenancy: 4\nmultitenant: 2\n");
	char *broken CLEANUP_FREE = write_file("broken.yaml", "a: [1,\n\x01\x02");
	char *place CLEANUP_FREE = text_format("%s:2: unknown key 'multitenant'", yaml);
	expect_failure("--no-such-option", NULL, NULL, NULL, 2, "--no-such-option");
	expect_failure("--multitenancy", "-1", NULL, NULL, 2, "'-1'");
	expect_failure("--config", yaml, NULL, NULL, 2, place);
	expect_failure("--config", broken, NULL, NULL, 2, broken);
	expect_failure("--config", "/nonexistent/x.yaml", NULL, NULL, 2, "/nonexistent/x.yaml");
	expect_failure("--resource-name", "example.com/x", NULL, NULL, 2,
		       "a resource name is for one resource");
}

static void test_failures(void)
{
	char *node CLEANUP_FREE = write_file("node.json", "{\"schema\":");
	char *deep CLEANUP_FREE = text_format("%s/%0120d", fixture.directory, 0);
	expect_failure("--plugin-dir", node, NULL, NULL, 1, node);
	expect_failure("--plugin-dir", fixture.directory, "--node", node, 1, node);
	expect_failure("--plugin-dir", fixture.directory, "--node", "/nonexistent/n.json", 1,
		       "/nonexistent/n.json");
	UNIT_INT(file_make_directories(deep, 0755, NULL), 0);
	expect_failure("--plugin-dir", deep, NULL, NULL, 1, "107");
}

static void test_log_file(void)
{
	char *log CLEANUP_FREE = path_join(fixture.directory, "plugin.log");
	char *nowhere CLEANUP_FREE = path_join(fixture.directory, "none/plugin.log");
	struct text out CLEANUP_TEXT = {0};
	struct text messages CLEANUP_TEXT = {0};
	char *content CLEANUP_FREE = NULL;
	UNIT_INT(run("--log-file", log, "--node", "/nonexistent/n.json", &out, &messages), 1);
	UNIT_STRING(text_string(&messages), "");
	UNIT_INT(file_read(log, 4096, &content, NULL, NULL), 0);
	UNIT_CONTAINS(content, "/nonexistent/n.json");
	expect_failure("--log-file", nowhere, NULL, NULL, 1, nowhere);
}

static void test_print_config(void)
{
	char *yaml CLEANUP_FREE = write_file("good.yaml", "# four\nmultitenancy: 4\n");
	struct text table CLEANUP_TEXT = {0};
	struct text document CLEANUP_TEXT = {0};
	struct text messages CLEANUP_TEXT = {0};
	struct text row CLEANUP_TEXT = {0};
	cJSON *json CLEANUP_JSON = NULL;
	text_add(&row, "multitenancy          4  (file ");
	text_add_escaped(&row, yaml, strlen(yaml));
	text_add(&row, ":2)\n");
	UNIT_INT(run("--print-config", "--config", yaml, "--log-level=debug", &table, &messages),
		 0);
	UNIT_CONTAINS(text_string(&table), text_string(&row));
	UNIT_CONTAINS(text_string(&table), "logLevel              debug  (option --log-level)\n");
	UNIT_INT(run("--print-config", "--config", yaml, "--json", &document, &messages), 0);
	UNIT_STRING(text_string(&messages), "");
	UNIT_INT(json_parse(text_string(&document), document.size, &json, NULL), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(json);
	UNIT_INT(json_pointer(json, "/multitenancy/value")->valueint, 4);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"usage errors", test_usage_errors},
		{"failures", test_failures},
		{"log file", test_log_file},
		{"print the configuration", test_print_config},
		CU_TEST_INFO_NULL,
	};
	int failed = 1;
	if (file_make_temporary("/tmp", "gpucert-plugin-", &fixture.directory, NULL) == 0 &&
	    path_beside_program("../bin/device-plugin-gpu", &fixture.program, NULL) == 0)
		failed = unit_run("command line", tests);
	(void)file_remove_tree(fixture.directory, NULL);
	free(fixture.directory);
	free(fixture.program);
	return failed;
}
