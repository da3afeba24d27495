/* SPDX-License-Identifier: MIT */
#include "base/process.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/tests/process_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const *shell(const char *script)
{
	static const char *argv[] = {"sh", "-c", NULL, NULL};
	argv[2] = script;
	return argv;
}

static size_t count_open_descriptors(void)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	CU_ASSERT_EQUAL(file_list("/proc/self/fd", &names, NULL), 0);
	return names.count;
}

static void test_exit_code_and_output(void)
{
	struct process_spec spec = {.argv = shell("echo out; echo err >&2; exit 3")};
	struct process_result result CLEANUP_RESULT = {0};
	struct error err = {0};
	char said[64] = "";
	UNIT_INT(process_run(&spec, &result, &err), 0);
	UNIT_INT(result.end, PROCESS_EXITED);
	UNIT_INT(result.code, 3);
	UNIT_STRING(text_string(&result.out), "out\n");
	UNIT_STRING(text_string(&result.err), "err\n");
	UNIT_INT(result.out_dropped, 0);
	process_describe(&result, said, sizeof(said));
	UNIT_STRING(said, "exited with code 3");
}

static void test_signal(void)
{
	struct process_spec spec = {.argv = shell("kill -SEGV $$")};
	struct process_result result CLEANUP_RESULT = {0};
	char said[64] = "";
	UNIT_INT(process_run(&spec, &result, NULL), 0);
	UNIT_INT(result.end, PROCESS_SIGNALLED);
	UNIT_INT(result.code, SIGSEGV);
	process_describe(&result, said, sizeof(said));
	UNIT_STRING(said, "killed by signal 11 (Segmentation fault)");
}

static void test_cannot_start(void)
{
	const char *const missing[] = {"no-such-program-anywhere", NULL};
	const char *const missing_path[] = {"/no/such/program", NULL};
	const char *const not_executable[] = {"/etc/passwd", NULL};
	const char *const nothing[] = {NULL};
	const char *const present[] = {"true", NULL};
	const struct {
		const char *const *argv;
		const char *directory;
		int code;
		const char *text;
	} cases[] = {
		{missing, NULL, ERROR_NOT_FOUND, "no-such-program-anywhere: not found in PATH"},
		{missing_path, NULL, ERROR_NOT_FOUND, "/no/such/program"},
		{not_executable, NULL, ERROR_PERMISSION, "/etc/passwd"},
		{nothing, NULL, ERROR_ARGUMENT, "no program"},
		{present, "/no/such/directory", ERROR_NOT_FOUND, "working directory"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct process_spec spec = {.argv = cases[i].argv, .directory = cases[i].directory};
		struct process_result result CLEANUP_RESULT = {0};
		struct error err = {0};
		UNIT_INT(process_run(&spec, &result, &err), cases[i].code);
		UNIT_CONTAINS(err.text, cases[i].text);
	}
}

static void test_missing_interpreter(void)
{
	static const char script[] = "#!/no/such/interpreter\n";
	char *directory CLEANUP_FREE = NULL;
	char *program CLEANUP_FREE = NULL;
	struct process_result result CLEANUP_RESULT = {0};
	struct error err = {0};
	UNIT_INT(file_make_temporary("/tmp", "gpucert-test-", &directory, NULL), 0);
	program = text_format("%s/script", directory);
	UNIT_INT(file_write_atomic(program, script, sizeof(script) - 1, 0755, NULL), 0);
	UNIT_INT(process_run(&(struct process_spec){.argv = (const char *const[]){program, NULL}},
			     &result, &err),
		 ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "its interpreter does not exist");
	UNIT_INT(file_remove_tree(directory, NULL), 0);
}

static void test_environment_and_directory(void)
{
	const char *const env[] = {"GPUCERT_A=1", "GPUCERT_A=2", "HOME=/elsewhere", NULL};
	struct process_spec spec = {.argv = shell("echo $GPUCERT_A $HOME $PWD ${PATH:+path}"),
				    .env = env,
				    .directory = "/usr"};
	struct process_result inherited CLEANUP_RESULT = {0};
	UNIT_INT(process_run(&spec, &inherited, NULL), 0);
	UNIT_STRING(text_string(&inherited.out), "2 /elsewhere /usr path\n");
}

static void test_default_dispositions(void)
{
	struct process_spec spec = {
		.argv = shell("cat; yes | head -1; grep SigBlk /proc/self/status")};
	struct process_result result CLEANUP_RESULT = {0};
	sigset_t blocked;
	sigset_t before;
	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigemptyset(&blocked);
	(void)sigaddset(&blocked, SIGUSR1);
	(void)sigprocmask(SIG_BLOCK, &blocked, &before);
	UNIT_INT(process_run(&spec, &result, NULL), 0);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	/* With SIGPIPE ignored, yes would complain about a broken pipe. */
	UNIT_STRING(text_string(&result.out), "y\nSigBlk:\t0000000000000000\n");
	UNIT_STRING(text_string(&result.err), "");
}

static void test_long_output_keeps_head_and_tail(void)
{
	struct process_spec spec = {
		.argv = shell("printf head; head -c 10485760 /dev/zero | tr '\\0' x; printf tail"),
		.capture_max = 1000};
	struct process_result result CLEANUP_RESULT = {0};
	const char *out = NULL;
	UNIT_INT(process_run(&spec, &result, NULL), 0);
	out = text_string(&result.out);
	UNIT_INT(result.out.size, 1000);
	UNIT_INT(result.out_dropped, 10485760 + 8 - 1000);
	CU_ASSERT_TRUE(text_starts_with(out, "headxxx"));
	CU_ASSERT_TRUE(text_ends_with(out, "xxxtail"));
}

static void test_deadline_ends_the_group(void)
{
	/* The shell and its grandchild ignore SIGTERM, and hold the FIFO open while they live. */
	static const char script[] =
		"exec 3>life; trap '' TERM; sh -c 'while :; do sleep 1; done' & "
		"while :; do sleep 1; done";
	struct process_result result CLEANUP_RESULT = {0};
	char folder[] = "/tmp/process-XXXXXX";
	struct process_spec spec = {.argv = shell(script),
				    .directory = mkdtemp(folder),
				    .timeout_ms = 1000,
				    .grace_ms = 100};
	char *fifo CLEANUP_FREE = text_format("%s/life", folder);
	char said[64] = "";
	char byte = 0;
	UNIT_INT(mkfifo(fifo, 0600), 0);
	int life CLEANUP_FD = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	UNIT_INT(process_run(&spec, &result, NULL), 0);
	UNIT_INT(result.end, PROCESS_TIMED_OUT);
	UNIT_INT(result.code, 128 + SIGKILL);
	CU_ASSERT_TRUE(result.duration_ms >= 1100);
	CU_ASSERT_FALSE(result.unkillable);
	process_describe(&result, said, sizeof(said));
	UNIT_CONTAINS(said, "timed out after ");
	UNIT_INT(fcntl(life, F_SETFL, 0), 0);
	UNIT_INT(read(life, &byte, 1), 0); /* the end of the file: the last of the group is gone */
	UNIT_INT(file_remove_tree(folder, NULL), 0);
}

static void test_leader_end_ends_the_group(void)
{
	struct process_spec spec = {.argv = shell("sleep 600 & exit 0")};
	struct process_result result CLEANUP_RESULT = {0};
	UNIT_INT(process_run(&spec, &result, NULL), 0);
	UNIT_INT(result.end, PROCESS_EXITED);
	UNIT_INT(result.code, 0);
	CU_ASSERT_TRUE(result.duration_ms < 5000);
}

static void test_lines(void)
{
	struct watched watched = {0};
	watch(&watched, shell("printf 'one\\r\\ntwo\\n\\nthr'; printf 'ee\\nlast'"));
	UNIT_STRING(text_string(&watched.lines), "one|two||three|last|");
	UNIT_INT(watched.ends, 1);
	text_free(&watched.lines);
	watched = (struct watched){0};
	watch(&watched, shell("echo wrong >&2"));
	UNIT_STRING(text_string(&watched.lines), "!wrong|");
	text_free(&watched.lines);
}

static void test_long_lines_arrive_in_pieces(void)
{
	struct watched watched = {0};
	/* Exactly the limit is one line; one byte more is two pieces. */
	watch(&watched, shell("head -c 65536 /dev/zero | tr '\\0' a; echo; "
			      "head -c 65537 /dev/zero | tr '\\0' b; echo"));
	UNIT_INT(watched.lines.size, 65537 + 65537 + 2);
	UNIT_INT(watched.lines.data[65536], '|');
	UNIT_INT(watched.lines.data[65537 + 65536], '|');
	CU_ASSERT_TRUE(text_ends_with(text_string(&watched.lines), "|b|"));
	text_free(&watched.lines);
}

static void test_stop(void)
{
	struct watched watched = {.stop_at_first_line = true};
	watch(&watched,
	      shell("trap 'echo bye; exit 7' TERM; sleep 600 >/dev/null 2>&1 & echo ready; wait"));
	UNIT_STRING(text_string(&watched.lines), "ready|bye|");
	UNIT_INT(watched.ends, 1);
	UNIT_INT(watched.end, PROCESS_STOPPED);
	UNIT_INT(watched.code, 7);
	text_free(&watched.lines);
}

static void test_stop_lets_the_group_finish(void)
{
	struct watched watched = {.stop_at_first_line = true};
	/* The leader dies of SIGTERM at once; its child still has something to say. */
	watch(&watched, shell("sh -c 'trap \"sleep 0.1; echo cleaned; exit 0\" TERM; sleep 600 "
			      ">/dev/null 2>&1 & echo ready; "
			      "wait' & wait; exit 1"));
	UNIT_STRING(text_string(&watched.lines), "ready|cleaned|");
	UNIT_INT(watched.end, PROCESS_STOPPED);
	text_free(&watched.lines);
}

static void test_free_within_callbacks(void)
{
	struct watched watched = {.free_at_first_line = true};
	watch(&watched, shell("echo one; echo two; sleep 600"));
	UNIT_STRING(text_string(&watched.lines), "one|");
	UNIT_INT(watched.ends, 0);
	text_free(&watched.lines);
	watched = (struct watched){.free_at_end = true};
	watch(&watched, shell("echo one"));
	UNIT_INT(watched.ends, 1);
	text_free(&watched.lines);
}

static void test_free_kills(void)
{
	struct process_spec spec = {.argv = shell("trap '' TERM; sleep 600")};
	struct process *process = NULL;
	uv_loop_t loop;
	int id = 0;
	UNIT_INT(uv_loop_init(&loop), 0);
	UNIT_INT(process_start(&loop, &spec, &process, NULL), 0);
	id = process_id(process);
	process_free(process);
	UNIT_INT(uv_run(&loop, UV_RUN_DEFAULT), 0);
	UNIT_INT(uv_loop_close(&loop), 0);
	UNIT_INT(kill(id, 0), -1);
	UNIT_INT(errno, ESRCH);
}

static void test_signal_reaches_the_leader(void)
{
	struct process_spec spec = {.argv = (const char *const[]){"sleep", "600", NULL}};
	struct process *process = NULL;
	uv_loop_t loop;
	UNIT_INT(uv_loop_init(&loop), 0);
	UNIT_INT(process_start(&loop, &spec, &process, NULL), 0);
	UNIT_INT(process_signal(process, SIGUSR1, NULL), 0);
	UNIT_INT(uv_run(&loop, UV_RUN_DEFAULT), 0);
	UNIT_INT(process_result(process)->end, PROCESS_SIGNALLED);
	UNIT_INT(process_result(process)->code, SIGUSR1);
	UNIT_INT(process_signal(process, SIGUSR1, NULL), ERROR_NOT_FOUND);
	process_free(process);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	UNIT_INT(uv_loop_close(&loop), 0);
}

static void test_many_in_parallel(void)
{
	enum { CHILDREN = 100 };
	struct watched watched[CHILDREN] = {0};
	struct process_spec spec = {.argv = shell("echo $0; exit $((($$ % 200) + 1))"),
				    .on_line = watch_line,
				    .on_end = watch_end};
	size_t descriptors = count_open_descriptors();
	int ids[CHILDREN] = {0};
	uv_loop_t loop;
	UNIT_INT(uv_loop_init(&loop), 0);
	for (size_t i = 0; i < CHILDREN; i++) {
		spec.user = &watched[i];
		UNIT_INT(process_start(&loop, &spec, &watched[i].process, NULL), 0);
		ids[i] = process_id(watched[i].process);
	}
	UNIT_INT(uv_run(&loop, UV_RUN_DEFAULT), 0);
	for (size_t i = 0; i < CHILDREN; i++) {
		UNIT_INT(watched[i].ends, 1);
		UNIT_INT(watched[i].end, PROCESS_EXITED);
		UNIT_INT(watched[i].code, ids[i] % 200 + 1);
		UNIT_STRING(text_string(&watched[i].lines), "sh|");
		process_free(watched[i].process);
		text_free(&watched[i].lines);
	}
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	UNIT_INT(uv_loop_close(&loop), 0);
	UNIT_INT(count_open_descriptors(), descriptors);
	UNIT_INT(waitpid(-1, NULL, WNOHANG), -1); /* none is left to wait for */
}

static void test_descriptors_of_the_child(void)
{
	struct process_result list CLEANUP_RESULT = {0};
	struct process_result links CLEANUP_RESULT = {0};
	struct process_spec spec = {.argv = (const char *const[]){"ls", "/proc/self/fd", NULL}};
	/* The last one is the directory that ls reads. */
	UNIT_INT(process_run(&spec, &list, NULL), 0);
	UNIT_STRING(text_string(&list.out), "0\n1\n2\n3\n");
	spec.argv = (const char *const[]){"readlink", "/proc/self/fd/0", NULL};
	UNIT_INT(process_run(&spec, &links, NULL), 0);
	UNIT_STRING(text_string(&links.out), "/dev/null\n");
}

/* With each limit the program runs or the caller hears why not: never a child that ends in its place. */
static void test_too_few_descriptors(void)
{
	struct process_spec spec = {.argv = shell("exit 3")};
	struct rlimit before = {0};
	size_t ran = 0;
	size_t refused = 0;
	struct error err = {0};
	UNIT_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
	/* Until too few are left for libuv's own loop. */
	for (rlim_t limit = 60; refused == 0 || strstr(err.text, "event loop") == NULL; limit--) {
		struct process_result result CLEANUP_RESULT = {0};
		const struct rlimit few = {.rlim_cur = limit, .rlim_max = before.rlim_max};
		UNIT_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
		int rc = process_run(&spec, &result, &err);
		UNIT_INT(setrlimit(RLIMIT_NOFILE, &before), 0);
		if (rc < 0) {
			UNIT_CONTAINS(err.text, "oo many open files");
			refused++;
		} else {
			UNIT_INT(result.code, 3);
			ran++;
		}
	}
	CU_ASSERT(ran > 0);
	CU_ASSERT(refused > 1);
}

static void test_output_that_was_taken(void)
{
	int out[2] = {-1, -1};
	int other[2] = {-1, -1};
	char data[16] = "";
	int taken = -1;
	UNIT_INT(pipe(out), 0);
	UNIT_INT(pipe(other), 0);
	pid_t child = fork();
	if (child == 0) {
		(void)dup2(out[1], STDOUT_FILENO);
		(void)dup2(other[1], STDERR_FILENO);
		bool sound = process_take_output(&taken, NULL) == 0 &&
			     fcntl(taken, F_GETFD) == FD_CLOEXEC &&
			     write(taken, "through", 7) == 7 &&
			     write(STDOUT_FILENO, "said", 4) == 4;
		_exit(sound ? 0 : 1);
	}
	int status = -1;
	UNIT_INT(waitpid(child, &status, 0), child);
	UNIT_INT(status, 0);
	UNIT_INT(read(out[0], data, sizeof(data)), 7);
	UNIT_STRING(data, "through");
	UNIT_INT(read(other[0], data, sizeof(data)), 4);
	CU_ASSERT_NSTRING_EQUAL(data, "said", 4);
	for (size_t i = 0; i < 2; i++) {
		(void)close(out[i]);
		(void)close(other[i]);
	}
}

static void test_child_dies_with_its_starter(void)
{
	int numbers[2] = {-1, -1};
	pid_t starter = 0;
	pid_t child = 0;
	char byte = 0;
	/* The child holds the write end open: the end of file tells that it is gone. */
	UNIT_INT(pipe(numbers), 0);
	starter = fork();
	if (starter == 0) {
		struct process_spec spec = {.argv = (const char *const[]){"sleep", "600", NULL},
					    .inherit_output = true};
		struct process *process = NULL;
		uv_loop_t loop;
		(void)uv_loop_init(&loop);
		(void)dup2(numbers[1], STDOUT_FILENO);
		if (process_start(&loop, &spec, &process, NULL) == 0) {
			child = process_id(process);
			(void)!write(numbers[1], &child, sizeof(child));
		}
		_exit(0);
	}
	(void)close(numbers[1]);
	UNIT_INT(read(numbers[0], &child, sizeof(child)), sizeof(child));
	UNIT_INT(waitpid(starter, NULL, 0), starter);
	CU_ASSERT_TRUE(child > 0);
	UNIT_INT(read(numbers[0], &byte, 1), 0);
	(void)close(numbers[0]);
}

/* A daemon leaves group and session, and its parent ends. */
static void test_orphans_are_ended(void)
{
	/* It goes only when the daemon is on its own: what is in the group is ended with it. */
	const char *const daemons[] = {
		"sh", "-c",
		"{ setsid sh -c 'echo; exec >&- 2>&-; sleep 600 & sleep 601' & } | read line",
		NULL};
	const char *const kept_words[] = {"sleep", "602", NULL};
	const struct process_spec spec = {.argv = daemons};
	const struct process_spec kept_spec = {.argv = kept_words};
	struct process_result result = {0};
	struct text_list names CLEANUP_TEXT_LIST = {0};
	struct text_list none CLEANUP_TEXT_LIST = {0};
	struct process *kept = NULL;
	uv_loop_t loop;
	process_adopt_orphans();
	UNIT_INT(uv_loop_init(&loop), 0);
	UNIT_INT(process_start(&loop, &kept_spec, &kept, NULL), 0);
	UNIT_INT(process_run(&spec, &result, NULL), 0);
	process_result_free(&result);
	UNIT_INT(process_end_orphans(&names, NULL), 0);
	CU_ASSERT(names.count >= 1);
	for (size_t i = 0; i < names.count; i++)
		UNIT_CONTAINS(names.items[i], " (process ");
	UNIT_INT(process_end_orphans(&none, NULL), 0);
	UNIT_INT(none.count, 0);
	UNIT_INT(process_signal(kept, 0, NULL), 0);
	process_free(kept);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	UNIT_INT(uv_loop_close(&loop), 0);
}

/* More than a pipe holds, so that it is written while the child prints. */
static void test_input(void)
{
	struct text input CLEANUP_TEXT = {0};
	for (size_t i = 0; i < 300000; i++)
		text_addf(&input, "%zu\n", i);
	const struct process_spec spec = {
		.argv = shell("cat"),
		.input = input.data,
		.input_size = input.size,
		.capture_max = (size_t)4 * 1024 * 1024,
		.timeout_ms = 300000,
	};
	struct process_result result CLEANUP_RESULT = {0};
	UNIT_INT(process_run(&spec, &result, NULL), 0);
	UNIT_INT(result.end, PROCESS_EXITED);
	UNIT_INT(result.out.size, input.size);
	CU_ASSERT(memcmp(text_string(&result.out), input.data, input.size) == 0);
}

/* A child that reads nothing, or a part, ends as it wants; nothing is left waiting. */
static void test_input_that_is_not_read(void)
{
	static char input[1024 * 1024];
	static const char *const scripts[] = {"exit 3", "exec 0<&-; exit 3",
					      "head -c 10 >/dev/null; exit 3"};
	(void)signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		const struct process_spec spec = {
			.argv = shell(scripts[i]),
			.input = input,
			.input_size = sizeof(input),
			.timeout_ms = 300000,
		};
		struct process_result result CLEANUP_RESULT = {0};
		UNIT_INT(process_run(&spec, &result, NULL), 0);
		UNIT_INT(result.end, PROCESS_EXITED);
		UNIT_INT(result.code, 3);
	}
	const struct process_spec stuck = {
		.argv = shell("sleep 1000"),
		.input = input,
		.input_size = sizeof(input),
		.timeout_ms = 50,
	};
	struct process_result result CLEANUP_RESULT = {0};
	UNIT_INT(process_run(&stuck, &result, NULL), 0);
	UNIT_INT(result.end, PROCESS_TIMED_OUT);
	(void)signal(SIGPIPE, SIG_DFL);
}

/* Nothing at all is the end of the input at once. */
static void test_empty_input(void)
{
	const struct process_spec spec = {
		.argv = shell("wc -c"), .input = "", .timeout_ms = 300000};
	struct process_result result CLEANUP_RESULT = {0};
	UNIT_INT(process_run(&spec, &result, NULL), 0);
	UNIT_STRING(text_string(&result.out), "0\n");
}

UNIT_MAIN("process", {"exit code and output", test_exit_code_and_output}, {"input", test_input},
	  {"input that is not read", test_input_that_is_not_read},
	  {"empty input", test_empty_input}, {"signal", test_signal},
	  {"cannot start", test_cannot_start}, {"missing interpreter", test_missing_interpreter},
	  {"environment and directory", test_environment_and_directory},
	  {"default dispositions", test_default_dispositions},
	  {"long output keeps head and tail", test_long_output_keeps_head_and_tail},
	  {"deadline ends the group", test_deadline_ends_the_group},
	  {"leader's end ends the group", test_leader_end_ends_the_group}, {"lines", test_lines},
	  {"long lines arrive in pieces", test_long_lines_arrive_in_pieces}, {"stop", test_stop},
	  {"stop lets the group finish", test_stop_lets_the_group_finish},
	  {"free within callbacks", test_free_within_callbacks}, {"free kills", test_free_kills},
	  {"signal reaches the leader", test_signal_reaches_the_leader},
	  {"many in parallel", test_many_in_parallel},
	  {"descriptors of the child", test_descriptors_of_the_child},
	  {"too few descriptors", test_too_few_descriptors},
	  {"output that was taken", test_output_that_was_taken},
	  {"orphans are ended", test_orphans_are_ended},
	  {"child dies with its starter", test_child_dies_with_its_starter})
