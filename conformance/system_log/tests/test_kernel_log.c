/* SPDX-License-Identifier: MIT */
/* The kernel's log, and a file that stands for it. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "conformance/system_log/system_log.h"

#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char *directory, *path;

static void append(const char *to, const char *text)
{
	FILE *file = fopen(to, "a");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	UNIT_INT(fputs(text, file) < 0, 0);
	UNIT_INT(fclose(file), 0);
}

static void collect(const struct log_line *line, void *user)
{
	text_addf(user, "%s|", line->text);
}

static void expect(struct system_log *log, const char *wanted)
{
	struct text lines CLEANUP_TEXT = {0};
	CU_ASSERT_TRUE(system_log_read(log, collect, &lines));
	UNIT_STRING(text_string(&lines), wanted);
}

static void test_lines_of_the_time_alone(void)
{
	struct system_log *log = NULL;
	append(path, "3,1,5,-;before\n");
	UNIT_INT(system_log_open(path, &log, NULL), 0);
	expect(log, "");
	append(path, "3,2,6,-;one\n SUBSYSTEM=pci\n DEVICE=+pci:0000:03:00.0\n12,3,7,-;of user "
		     "space\n3,4,8,-;two\n");
	expect(log, "one|two|");
	expect(log, "");
	append(path, "3,5,9,-;between\n");
	system_log_skip(log);
	append(path, "3,6,10,-;three\n");
	expect(log, "three|");
	system_log_close(&log);
	CU_ASSERT_PTR_NULL(log);
}

static void test_a_log_that_cannot_be_read(void)
{
	struct text lines CLEANUP_TEXT = {0};
	struct system_log *log = NULL;
	struct error err = {0};
	CU_ASSERT(system_log_open("/nonexistent/kmsg", &log, &err) < 0);
	UNIT_CONTAINS(err.text, "/nonexistent/kmsg");
	CU_ASSERT_PTR_NULL(log);
	UNIT_INT(system_log_open(directory, &log, NULL), 0);
	CU_ASSERT_FALSE(system_log_read(log, collect, &lines));
	system_log_close(&log);
}

/* Ends a process so that the kernel tells of it, unless others did so too often. Returns its number. */
static pid_t crash(void)
{
	const struct rlimit none = {0};
	volatile uintptr_t nowhere = 16;
	pid_t child = fork();
	if (child == 0) {
		(void)setrlimit(RLIMIT_CORE, &none);
		(void)signal(SIGSEGV, SIG_DFL);
		*(volatile int *)nowhere = 1;
		_exit(0);
	}
	UNIT_INT(waitpid(child, NULL, 0), child);
	return child;
}

/* What this process writes itself is user space's, however it looks. */
static void test_the_kernels_own(void)
{
	struct text lines CLEANUP_TEXT = {0};
	struct system_log *log = NULL;
	FILE *kernel = fopen("/dev/kmsg", "w");
	if (kernel == NULL || system_log_open("/dev/kmsg", &log, NULL) != 0) {
		(void)printf(
			"the log of this machine's kernel cannot be read or written: left out\n");
		if (kernel != NULL)
			(void)fclose(kernel);
		return;
	}
	CU_ASSERT(fputs("<3>amdgpu gpucert-test: GPU reset begin!\n", kernel) >= 0);
	UNIT_INT(fclose(kernel), 0);
	char *segfault CLEANUP_FREE = text_format("[%d]: segfault at 10 ip", (int)crash());
	CU_ASSERT_TRUE(system_log_read(log, collect, &lines));
	CU_ASSERT_PTR_NULL(strstr(text_string(&lines), "gpucert-test"));
	if (strstr(text_string(&lines), segfault) == NULL)
		(void)printf("the kernel did not tell of a crash: left out\n");
	system_log_close(&log);
}

static int open_place(void)
{
	int rc = file_make_temporary(NULL, "kernel-log-", &directory, NULL);
	path = rc == 0 ? path_join(directory, "kmsg") : NULL;
	return path != NULL ? 0 : 1;
}

static int close_place(void)
{
	int rc = file_remove_tree(directory, NULL);
	free(path);
	free(directory);
	return rc;
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"lines of the time alone", test_lines_of_the_time_alone},
		{"a log that cannot be read", test_a_log_that_cannot_be_read},
		{"the kernel's own", test_the_kernels_own},
		CU_TEST_INFO_NULL,
	};
	return unit_run_in("the kernel's log", open_place, close_place, tests);
}
