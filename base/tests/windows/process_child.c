/* SPDX-License-Identifier: MIT */
/* What the tests of base/process.h run on Windows: does what its first argument says. */
#include "base/clock.h"
#include "base/process.h"
#include "base/program.h"
#include "base/termination.h"

#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

static int print_arguments(int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		(void)printf("[%s]\n", argv[i]);
	return 0;
}

/* Counts the bytes of its input. */
static int count_input(void)
{
	char chunk[65536];
	size_t all = 0;
	for (size_t size = 0; (size = fread(chunk, 1, sizeof(chunk), stdin)) > 0;)
		all += size;
	return printf("%llu\n", (unsigned long long)all) < 0;
}

/* Its variables as they stand in its environment block, those of the drives left out. */
static int print_environment(void)
{
	const wchar_t *block = GetEnvironmentStringsW();
	for (const wchar_t *entry = block; *entry != L'\0'; entry += wcslen(entry) + 1) {
		char text[1024] = "";
		(void)WideCharToMultiByte(CP_UTF8, 0, entry, -1, text, sizeof(text), NULL, NULL);
		if (text[0] != '=')
			(void)printf("%s\n", text);
	}
	return 0;
}

static int print_directory(void)
{
	char text[1024] = "";
	size_t size = sizeof(text);
	(void)uv_cwd(text, &size);
	(void)printf("%s\n", text);
	return 0;
}

static int fill(const char *count)
{
	(void)fputs("head", stdout);
	for (long left = strtol(count, NULL, 10); left > 0; left--)
		(void)fputc('x', stdout);
	(void)fputs("tail", stdout);
	return 0;
}

static _Noreturn void hang(void)
{
	for (;;)
		clock_sleep_ms(1000);
}

/* Starts itself to hang with the same output and lets go of it. */
static int leave_child(const char *program)
{
	char line[MAX_PATH + 16] = "";
	STARTUPINFOA startup = {.cb = sizeof(startup)};
	PROCESS_INFORMATION made = {0};
	(void)snprintf(line, sizeof(line), "\"%s\" hang", program);
	if (!CreateProcessA(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &made))
		return 1;
	(void)printf("started\n");
	return 0;
}

static void on_request(const char *what, void *user)
{
	(void)what;
	(void)user;
	(void)printf("bye\n");
	(void)fflush(stdout);
	exit(7);
}

static int wait_for_request(void)
{
	struct termination *termination = NULL;
	uv_loop_t loop;
	if (uv_loop_init(&loop) < 0 ||
	    termination_open(&loop, on_request, NULL, &termination, NULL) < 0)
		return 1;
	(void)printf("ready\n");
	(void)fflush(stdout);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	return 1;
}

static int take_output(void)
{
	int fd = -1;
	return process_take_output(&fd, NULL) == 0 && _write(fd, "through", 7) == 7 &&
			       _write(1, "said", 4) == 4
		       ? 0
		       : 1;
}

/* By the exception itself, or really. */
static int crash(const char *how)
{
	volatile char *forbidden = VirtualAlloc(NULL, 4096, MEM_RESERVE, PAGE_NOACCESS);
	if (strcmp(how, "really") != 0)
		RaiseException((DWORD)strtoul(how, NULL, 0), EXCEPTION_NONCONTINUABLE, 0, NULL);
	return *forbidden;
}

int main(int argc, char **argv)
{
	const char *what = "";
	const char *word = "";
	program_begin(&argc, &argv);
	what = argc > 1 ? argv[1] : "";
	word = argc > 2 ? argv[2] : "";
	if (strcmp(what, "arguments") == 0)
		return print_arguments(argc, argv);
	if (strcmp(what, "environment") == 0)
		return print_environment();
	if (strcmp(what, "directory") == 0)
		return print_directory();
	if (strcmp(what, "exit") == 0) {
		(void)fprintf(stderr, "leaving\n");
		return (int)strtol(word, NULL, 0);
	}
	if (strcmp(what, "crash") == 0)
		return crash(word);
	if (strcmp(what, "fill") == 0)
		return fill(word);
	if (strcmp(what, "text") == 0)
		return fputs(word, stdout) < 0;
	if (strcmp(what, "count") == 0)
		return count_input();
	if (strcmp(what, "take") == 0)
		return take_output();
	if (strcmp(what, "leave") == 0)
		return leave_child(argv[0]);
	if (strcmp(what, "wait") == 0)
		return wait_for_request();
	if (strcmp(what, "hang") == 0)
		hang();
	return 99;
}
