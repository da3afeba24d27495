/* SPDX-License-Identifier: MIT */
#include "conformance/subject/usage.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	STATUS_MAX = 65536,
	TICK_MS = 10 /* USER_HZ is 100 on every architecture of Linux that we run on */
};

struct entry {
	int pid, parent;
	bool counted;
};

char *usage_read_file(int pid, const char *name)
{
	char *path CLEANUP_FREE = text_format("/proc/%d/%s", pid, name);
	char *data = NULL;
	return file_read(path, STATUS_MAX, &data, NULL, NULL) == 0 ? data : NULL;
}

long long usage_field(const char *status, const char *name)
{
	const char *place = status != NULL ? strstr(status, name) : NULL;
	return place != NULL ? strtoll(place + strlen(name), NULL, 10) : 0;
}

long long usage_descriptors(int pid)
{
	char *path CLEANUP_FREE = text_format("/proc/%d/fd", pid);
	struct text_list names CLEANUP_TEXT_LIST = {0};
	return file_list(path, &names, NULL) == 0 ? (long long)names.count : -1;
}

static void add_process(int pid, struct usage *sum)
{
	char *status CLEANUP_FREE = usage_read_file(pid, "status");
	char *stat CLEANUP_FREE = usage_read_file(pid, "stat");
	char *tasks CLEANUP_FREE = text_format("/proc/%d/task", pid);
	struct text_list threads CLEANUP_TEXT_LIST = {0};
	uint64_t wait_ns = 0;
	long long descriptors = usage_descriptors(pid);
	/* The second number of a thread's schedstat, in nanoseconds. */
	(void)file_list(tasks, &threads, NULL);
	text_each (thread, &threads) {
		char *name CLEANUP_FREE = text_format("task/%s/schedstat", thread);
		char *schedstat CLEANUP_FREE = usage_read_file(pid, name);
		const char *second = schedstat != NULL ? strchr(schedstat, ' ') : NULL;
		wait_ns += second != NULL ? strtoull(second, NULL, 10) : 0;
	}
	sum->wait_ms += wait_ns / 1000000;
	sum->memory +=
		(usage_field(status, "\nRssAnon:") + usage_field(status, "\nRssShmem:")) * 1024;
	sum->threads += usage_field(status, "\nThreads:");
	sum->descriptors += descriptors > 0 ? descriptors : 0;

	/* After the name in parentheses, which may hold anything: state, and eleven numbers later utime and stime. */
	const char *rest = stat != NULL ? strrchr(stat, ')') : NULL;
	for (int i = 0; rest != NULL && i < 12; i++) {
		rest = strchr(rest, ' ');
		rest = rest != NULL ? rest + 1 : NULL;
	}
	char *end = NULL;
	unsigned long long user = rest != NULL ? strtoull(rest, &end, 10) : 0;
	unsigned long long system = end != NULL ? strtoull(end, NULL, 10) : 0;
	sum->cpu_ms += (user + system) * TICK_MS;
}

bool usage_read(const int *roots, size_t count, struct usage *out)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	*out = (struct usage){0};
	if (file_list("/proc", &names, NULL) < 0)
		return false;
	struct entry *entries CLEANUP_FREE = memory_allocate(names.count + 1, sizeof(*entries));
	size_t found = 0;
	text_each (name, &names) {
		int pid = (int)strtol(name, NULL, 10);
		char *status CLEANUP_FREE = pid > 0 ? usage_read_file(pid, "status") : NULL;
		if (status != NULL)
			entries[found++] =
				(struct entry){pid, (int)usage_field(status, "\nPPid:"), false};
	}
	/* Until no process joins: a child may have a lower number than its parent. */
	bool more = true;
	size_t counted = 0;
	while (more) {
		more = false;
		for (size_t i = 0; i < found; i++) {
			bool belongs = false;
			for (size_t k = 0; k < count; k++)
				belongs = belongs || entries[i].pid == roots[k];
			for (size_t k = 0; k < found && !belongs; k++)
				belongs = entries[k].counted && entries[k].pid == entries[i].parent;
			if (!belongs || entries[i].counted)
				continue;
			entries[i].counted = more = true;
			counted++;
			add_process(entries[i].pid, out);
		}
	}
	return counted != 0;
}
