/* SPDX-License-Identifier: MIT */
#include "conformance/subject/usage.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/tests/unit.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { MORE = 16 << 20, OPENED = 5 };

static void test_what_is_held(void)
{
	int self = (int)getpid();
	struct usage before = {0};
	struct usage after = {0};
	CU_ASSERT_TRUE(usage_read(&self, 1, &before));
	CU_ASSERT_TRUE(before.threads >= 1 && before.descriptors >= 1 && before.memory > 0);

	int descriptors[OPENED] = {0};
	for (size_t i = 0; i < OPENED; i++)
		descriptors[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	char *more CLEANUP_FREE = memory_allocate(MORE, 1);
	memset(more, 'x', MORE);
	CU_ASSERT_TRUE(usage_read(&self, 1, &after));
	CU_ASSERT_TRUE(after.descriptors >= before.descriptors + OPENED);
	CU_ASSERT_TRUE(more[MORE - 1] == 'x' && after.memory >= before.memory + MORE / 2);
	for (size_t i = 0; i < OPENED; i++)
		(void)close(descriptors[i]);
}

static void test_processes_below(void)
{
	int self = (int)getpid();
	struct usage before = {0};
	struct usage after = {0};
	CU_ASSERT_TRUE(usage_read(&self, 1, &before));
	int ends[2] = {-1, -1};
	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		char byte = 0;
		(void)close(ends[1]);
		(void)!read(ends[0], &byte, 1); /* until the parent closes its end */
		_exit(0);
	}
	CU_ASSERT_TRUE(usage_read(&self, 1, &after));
	CU_ASSERT_EQUAL(after.threads, before.threads + 1);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

static void test_unknown_processes(void)
{
	const int none[] = {0, 0x7ffffff0};
	struct usage usage = {0};
	CU_ASSERT_FALSE(usage_read(none, 2, &usage));
	CU_ASSERT_EQUAL(usage.memory, 0);
}

UNIT_MAIN("subject usage", {"what a process holds", test_what_is_held},
	  {"processes below", test_processes_below}, {"unknown processes", test_unknown_processes})
