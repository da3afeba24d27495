/* SPDX-License-Identifier: MIT */
#include "containers/runtime/processes.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	PROCESS_END_TIMEOUT_MS = 10000,
	CMDLINE_MAX = 256 * 1024,
	KILL_ROUNDS = 16, /* a killed shim may have started another process meanwhile */
};

static int process_wait_end(int fd, pid_t pid, struct error *err)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	int ready = 0;
	do
		ready = poll(&wait, 1, PROCESS_END_TIMEOUT_MS);
	while (ready < 0 && errno == EINTR);
	if (ready < 0)
		return error_system(err, errno, "wait for process %d", (int)pid);
	if (ready == 0)
		return error_set(err, ERROR_TIMEOUT, "process %d does not end after SIGKILL",
				 (int)pid);
	return 0;
}

int process_kill_matching(pid_t pid, bool (*matches)(pid_t pid, const void *user), const void *user,
			  size_t *killed, struct error *err)
{
	int fd CLEANUP_FD = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0 && errno == ESRCH)
		return 0;
	if (fd < 0 && errno == ENOSYS)
		return error_set(err, ERROR_UNSUPPORTED, "the kernel has no pidfd_open");
	if (fd < 0)
		return error_system(err, errno, "process %d", (int)pid);
	if (!matches(pid, user))
		return 0;
	if (syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) < 0)
		return errno == ESRCH ? 0 : error_system(err, errno, "kill process %d", (int)pid);
	(*killed)++;
	return process_wait_end(fd, pid, err);
}

static bool program_is_containerd(const char *program)
{
	const char *name = path_base(program);
	return strcmp(name, "containerd") == 0 || strcmp(name, "ctr") == 0 ||
	       text_starts_with(name, "containerd-shim");
}

static bool word_is_below(const char *word, size_t size, const char *directory)
{
	size_t length = strlen(directory);
	return size > length && memcmp(word, directory, length) == 0 && word[length] == '/';
}

bool cmdline_is_containerd_of(const char *cmdline, size_t size, const char *directory)
{
	const char *end = cmdline + size;
	const char *word = cmdline;
	if (size == 0 || cmdline[size - 1] != '\0' || !program_is_containerd(cmdline))
		return false;
	for (word += strlen(word) + 1; word < end; word += strlen(word) + 1) {
		if (word_is_below(word, strlen(word), directory))
			return true;
	}
	return false;
}

bool process_is_containerd_of(pid_t pid, const void *directory)
{
	char *path CLEANUP_FREE = text_format("/proc/%d/cmdline", (int)pid);
	char *cmdline CLEANUP_FREE = NULL;
	size_t size = 0;
	/* A zombie has an empty command line. */
	return path != NULL && file_read(path, CMDLINE_MAX, &cmdline, &size, NULL) == 0 &&
	       cmdline_is_containerd_of(cmdline, size, directory);
}

/* One walk over /proc. */
static int processes_kill_round(const char *directory, size_t *killed, struct error *err)
{
	DIR *proc CLEANUP_DIR = opendir("/proc");
	const struct dirent *entry = NULL;
	if (proc == NULL)
		return error_system(err, errno, "/proc");
	while ((entry = readdir(proc)) != NULL) {
		long long pid = 0;
		int rc = 0;
		if (text_to_int64(entry->d_name, "pid", 2, INT32_MAX, &pid, NULL) < 0 ||
		    !process_is_containerd_of((pid_t)pid, directory))
			continue;
		rc = process_kill_matching((pid_t)pid, process_is_containerd_of, directory, killed,
					   err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int processes_kill_containerd(const char *directory, size_t *killed, struct error *err)
{
	for (int round = 0; round < KILL_ROUNDS; round++) {
		size_t count = 0;
		int rc = processes_kill_round(directory, &count, err);
		*killed += count;
		if (rc < 0 || count == 0)
			return rc;
	}
	return error_set(err, ERROR_BUSY, "%s: its processes keep coming back", directory);
}
