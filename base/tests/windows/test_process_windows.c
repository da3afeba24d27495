/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/process.h"
#include "base/process_internal.h"
#include "base/tests/process_watch.h"

#include <fcntl.h>
#include <io.h>
#include <signal.h>

#define CHILD(...) ((const char *const[]){child_program, __VA_ARGS__, NULL})

static char *child_program;

static void test_command_lines(void)
{
	static const struct {
		const char *argv[4];
		const char *line;
	} cases[] = {
		{{"a", "b"}, "a b"},
		{{"a b", "c"}, "\"a b\" c"},
		{{"a", ""}, "a \"\""},
		{{"a", "say \"hi\""}, "a \"say \\\"hi\\\"\""},
		{{"a", "C:\\dir\\"}, "a C:\\dir\\"},
		{{"a", "C:\\my dir\\"}, "a \"C:\\my dir\\\\\""},
		{{"a", "x\\\"y"}, "a \"x\\\\\\\"y\""},
		{{"a", "\\\\server\\share x"}, "a \"\\\\server\\share x\""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *line CLEANUP_FREE = process_command_line(cases[i].argv);
		UNIT_STRING(line, cases[i].line);
	}
}

static void test_arguments_arrive(void)
{
	struct process_spec spec = {
		.argv = CHILD("arguments", "", " ", "a b", "\"", "\\", "\\\\\"", "x\\", "a b\\",
			      "\t", "%PATH%", "^&|", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
	};
	struct process_result result CLEANUP_RESULT = {0};
	UNIT_INT(process_run(&spec, &result, NULL), 0);
	UNIT_STRING(text_string(&result.out),
		    "[]\n[ ]\n[a b]\n[\"]\n[\\]\n[\\\\\"]\n[x\\]\n[a b\\]\n[\t]\n[%PATH%]\n[^&|]\n"
		    "[\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80]\n");
}

static void test_exit_code_and_output(void)
{
	struct process_spec spec = {.argv = CHILD("exit", "300")};
	struct process_result result CLEANUP_RESULT = {0};
	char said[64] = "";
	UNIT_INT(process_run(&spec, &result, NULL), 0);
	UNIT_INT(result.end, PROCESS_EXITED);
	UNIT_INT(result.code, 300);
	UNIT_STRING(text_string(&result.out), "");
	UNIT_STRING(text_string(&result.err), "leaving\n");
	process_describe(&result, said, sizeof(said));
	UNIT_STRING(said, "exited with code 300");
}

/* More than a pipe holds; also for a child that reads nothing of it. */
static void test_input(void)
{
	static char input[1000000];
	memset(input, 'x', sizeof(input));
	const struct process_spec read = {.argv = CHILD("count"),
					  .input = input,
					  .input_size = sizeof(input),
					  .timeout_ms = 60000};
	const struct process_spec left = {.argv = CHILD("exit", "3"),
					  .input = input,
					  .input_size = sizeof(input),
					  .timeout_ms = 60000};
	struct process_result all CLEANUP_RESULT = {0}, none CLEANUP_RESULT = {0};
	UNIT_INT(process_run(&read, &all, NULL), 0);
	CU_ASSERT(text_starts_with(text_string(&all.out), "1000000"));
	UNIT_INT(process_run(&left, &none, NULL), 0);
	UNIT_INT(none.end, PROCESS_EXITED);
	UNIT_INT(none.code, 3);
}

static void test_crashes_are_told(void)
{
	static const struct {
		const char *how;
		int code;
		const char *text;
	} cases[] = {
		{"really", (int)0xC0000005, "killed by exception 0xc0000005 (access violation)"},
		{"0xC00000FD", (int)0xC00000FD, "killed by exception 0xc00000fd (stack overflow)"},
		{"0xC000001D", (int)0xC000001D,
		 "killed by exception 0xc000001d (illegal instruction)"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct process_spec spec = {.argv = CHILD("crash", cases[i].how),
					    .timeout_ms = 20000};
		struct process_result result CLEANUP_RESULT = {0};
		char said[128] = "";
		UNIT_INT(process_run(&spec, &result, NULL), 0);
		UNIT_INT(result.end, PROCESS_SIGNALLED);
		UNIT_INT(result.code, cases[i].code);
		process_describe(&result, said, sizeof(said));
		UNIT_STRING(said, cases[i].text);
	}
}

static void test_cannot_start(void)
{
	const char *const missing[] = {"no-such-program-anywhere", NULL};
	const char *const missing_path[] = {"C:\\no\\such\\program.exe", NULL};
	const char *const folder[] = {"C:\\Windows", NULL};
	const char *const nothing[] = {NULL};
	const struct {
		const char *const *argv;
		const char *directory;
		int code;
		const char *text;
	} cases[] = {
		{missing, NULL, ERROR_NOT_FOUND, "no-such-program-anywhere: not found in PATH"},
		{missing_path, NULL, ERROR_NOT_FOUND, "C:\\no\\such\\program.exe: not found"},
		{folder, NULL, ERROR_NOT_FOUND, "C:\\Windows: not found"},
		{nothing, NULL, ERROR_ARGUMENT, "no program"},
		{CHILD("exit", "0"), "C:\\no\\such", ERROR_NOT_FOUND, "working directory"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct process_spec spec = {.argv = cases[i].argv, .directory = cases[i].directory};
		struct process_result result CLEANUP_RESULT = {0};
		struct error err = {0};
		UNIT_INT(process_run(&spec, &result, &err), cases[i].code);
		UNIT_CONTAINS(err.text, cases[i].text);
	}
}

static void test_files_that_are_no_programs(void)
{
	static const char *const names[] = {"script.bat", "script.cmd", "text.exe"};
	static const int codes[] = {ERROR_UNSUPPORTED, ERROR_UNSUPPORTED, ERROR_IO};
	char *directory CLEANUP_FREE = NULL;
	UNIT_INT(file_make_temporary(unit_temporary(), "gpucert-", &directory, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *path CLEANUP_FREE = path_join(directory, names[i]);
		struct process_result result CLEANUP_RESULT = {0};
		struct error err = {0};
		UNIT_INT(file_write_atomic(path, "exit\n", 5, 0600, &err), 0);
		UNIT_INT(process_run(
				 &(struct process_spec){.argv = (const char *const[]){path, NULL}},
				 &result, &err),
			 codes[i]);
		UNIT_CONTAINS(err.text, names[i]);
	}
	UNIT_INT(file_remove_tree(directory, NULL), 0);
}

static void test_environment(void)
{
	const char *const env[] = {"GPUCERT_A=1", "gpucert_a=\xc3\xa9", "Z=", NULL};
	struct process_spec spec = {.argv = CHILD("environment"), .env = env};
	struct process_result inherited CLEANUP_RESULT = {0};
	UNIT_INT(process_run(&spec, &inherited, NULL), 0);
	UNIT_CONTAINS(text_string(&inherited.out), "\ngpucert_a=\xc3\xa9\n");
	UNIT_CONTAINS(text_string(&inherited.out), "SystemRoot=");
	CU_ASSERT_PTR_NULL(strstr(text_string(&inherited.out), "GPUCERT_A=1"));
}

static void test_directory(void)
{
	struct process_spec spec = {.argv = CHILD("directory"), .directory = "C:/Windows"};
	struct process_result result CLEANUP_RESULT = {0};
	UNIT_INT(process_run(&spec, &result, NULL), 0);
	CU_ASSERT_EQUAL(stricmp(text_string(&result.out), "C:\\Windows\n"), 0);
}

static void test_long_output_keeps_head_and_tail(void)
{
	struct process_spec spec = {.argv = CHILD("fill", "3000000"), .capture_max = 1000};
	struct process_result result CLEANUP_RESULT = {0};
	UNIT_INT(process_run(&spec, &result, NULL), 0);
	UNIT_INT(result.out.size, 1000);
	UNIT_INT(result.out_dropped, 3000000 + 8 - 1000);
	CU_ASSERT_TRUE(text_starts_with(text_string(&result.out), "headxxx"));
	CU_ASSERT_TRUE(text_ends_with(text_string(&result.out), "xxxtail"));
}

static void test_deadline(void)
{
	struct process_spec spec = {.argv = CHILD("hang"), .timeout_ms = 300, .grace_ms = 100};
	struct process_result result CLEANUP_RESULT = {0};
	char said[64] = "";
	UNIT_INT(process_run(&spec, &result, NULL), 0);
	UNIT_INT(result.end, PROCESS_TIMED_OUT);
	UNIT_INT(result.code, 128 + 9);
	CU_ASSERT_FALSE(result.unkillable);
	process_describe(&result, said, sizeof(said));
	UNIT_CONTAINS(said, "timed out after ");
}

/* The child that is left holds the output open: its end is the end of the job. */
static void test_leader_end_ends_the_job(void)
{
	struct process_spec spec = {.argv = CHILD("leave")};
	struct process_result result CLEANUP_RESULT = {0};
	UNIT_INT(process_run(&spec, &result, NULL), 0);
	UNIT_INT(result.end, PROCESS_EXITED);
	UNIT_INT(result.code, 0);
	UNIT_STRING(text_string(&result.out), "started\n");
}

static void test_lines(void)
{
	struct watched watched = {0};
	watch(&watched, CHILD("text", "one\r\ntwo\n\nthree\rfour\r\nlast"));
	UNIT_STRING(text_string(&watched.lines), "one|two||three\rfour|last|");
	UNIT_INT(watched.ends, 1);
	text_free(&watched.lines);
	watched = (struct watched){0};
	watch(&watched, CHILD("exit", "3"));
	UNIT_STRING(text_string(&watched.lines), "!leaving|");
	UNIT_INT(watched.code, 3);
	text_free(&watched.lines);
}

static void test_stop(void)
{
	struct watched watched = {.stop_at_first_line = true};
	watch(&watched, CHILD("wait"));
	UNIT_STRING(text_string(&watched.lines), "ready|bye|");
	UNIT_INT(watched.ends, 1);
	UNIT_INT(watched.end, PROCESS_STOPPED);
	UNIT_INT(watched.code, 7);
	text_free(&watched.lines);
}

static void test_free_within_callbacks(void)
{
	struct watched watched = {.free_at_first_line = true};
	watch(&watched, CHILD("wait"));
	UNIT_STRING(text_string(&watched.lines), "ready|");
	UNIT_INT(watched.ends, 0);
	text_free(&watched.lines);
	watched = (struct watched){.free_at_end = true};
	watch(&watched, CHILD("exit", "0"));
	UNIT_INT(watched.ends, 1);
	text_free(&watched.lines);
}

static void test_free_and_signals_kill(void)
{
	struct process_spec spec = {.argv = CHILD("hang")};
	struct process *freed = NULL;
	struct process *killed = NULL;
	HANDLE handle = NULL;
	uv_loop_t loop;
	UNIT_INT(uv_loop_init(&loop), 0);
	UNIT_INT(process_start(&loop, &spec, &freed, NULL), 0);
	UNIT_INT(process_start(&loop, &spec, &killed, NULL), 0);
	handle = OpenProcess(SYNCHRONIZE, FALSE, (DWORD)process_id(freed));
	process_free(freed);
	UNIT_INT(process_signal(killed, SIGABRT, NULL), ERROR_UNSUPPORTED);
	UNIT_INT(process_signal(killed, SIGKILL, NULL), 0);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	UNIT_INT(WaitForSingleObject(handle, 10000), WAIT_OBJECT_0);
	UNIT_INT(process_result(killed)->code, 128 + 9);
	UNIT_INT(process_signal(killed, SIGKILL, NULL), ERROR_NOT_FOUND);
	process_free(killed);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	UNIT_INT(uv_loop_close(&loop), 0);
	(void)CloseHandle(handle);
}

static void test_output_that_was_taken(void)
{
	struct process_result result CLEANUP_RESULT = {0};
	UNIT_INT(process_run(&(struct process_spec){.argv = CHILD("take")}, &result, NULL), 0);
	UNIT_INT(result.code, 0);
	UNIT_STRING(text_string(&result.out), "through");
	UNIT_STRING(text_string(&result.err), "said");
}

static void test_many_in_parallel(void)
{
	enum { CHILDREN = 12 };
	struct watched watched[CHILDREN] = {0};
	struct process_spec spec = {
		.argv = CHILD("exit", "5"), .on_line = watch_line, .on_end = watch_end};
	DWORD before = 0;
	DWORD after = 0;
	uv_loop_t loop;
	UNIT_INT(uv_loop_init(&loop), 0);
	(void)GetProcessHandleCount(GetCurrentProcess(), &before);
	for (size_t i = 0; i < CHILDREN; i++) {
		spec.user = &watched[i];
		UNIT_INT(process_start(&loop, &spec, &watched[i].process, NULL), 0);
	}
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	for (size_t i = 0; i < CHILDREN; i++) {
		UNIT_INT(watched[i].ends, 1);
		UNIT_INT(watched[i].code, 5);
		UNIT_STRING(text_string(&watched[i].lines), "!leaving|");
		process_free(watched[i].process);
		text_free(&watched[i].lines);
	}
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	(void)GetProcessHandleCount(GetCurrentProcess(), &after);
	UNIT_INT(uv_loop_close(&loop), 0);
	/* The system's pool of threads may have grown by some; children would be 12 and more. */
	CU_ASSERT_TRUE(after < before + CHILDREN);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"command lines", test_command_lines},
		{"arguments arrive", test_arguments_arrive},
		{"exit code and output", test_exit_code_and_output},
		{"input", test_input},
		{"crashes are told", test_crashes_are_told},
		{"cannot start", test_cannot_start},
		{"files that are no programs", test_files_that_are_no_programs},
		{"environment", test_environment},
		{"directory", test_directory},
		{"long output keeps head and tail", test_long_output_keeps_head_and_tail},
		{"deadline", test_deadline},
		{"the leader's end ends the job", test_leader_end_ends_the_job},
		{"lines", test_lines},
		{"stop", test_stop},
		{"free within callbacks", test_free_within_callbacks},
		{"free and signals kill", test_free_and_signals_kill},
		{"output that was taken", test_output_that_was_taken},
		{"many in parallel", test_many_in_parallel},
		CU_TEST_INFO_NULL,
	};
	if (path_beside_program("process_child.exe", &child_program, NULL) < 0)
		return 1;
	return unit_run("process", tests);
}
