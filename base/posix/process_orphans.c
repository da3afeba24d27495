/* SPDX-License-Identifier: MIT */
/* Processes that left the group of a child and outlived their parents. */
#include "base/cleanup.h"
#include "base/process_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	PATH_SIZE = 32,
	STAT_SIZE = 1024,
	NAME_SIZE = 64,
	ORPHAN_END_MS = 5000, /* for SIGKILL to take effect */
	ORPHAN_ROUNDS = 100,  /* each ends what the one before left */
	CHILDREN_SIZE = 4096, /* of a list of process ids */
	ROUND_NS = 10000000,
	ASKED_ROUNDS = 100,
};

struct orphan {
	pid_t id;
	char state;
	char name[NAME_SIZE];
};

void process_adopt_orphans(void)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* A child of ours that process_start() did not make. Without allocations: there are many processes.
 */
static bool orphan_read(const char *entry, struct orphan *out)
{
	char path[PATH_SIZE] = "";
	char line[STAT_SIZE] = "";
	if (strspn(entry, "0123456789") != strlen(entry))
		return false;
	out->id = (pid_t)strtol(entry, NULL, 10);
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)out->id);
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, line, sizeof(line) - 1) <= 0)
		return false;

	/* "PID (NAME) STATE PARENT ...": the name may contain anything. */
	const char *name = strchr(line, '(');
	const char *name_end = strrchr(line, ')');
	if (name == NULL || name_end == NULL || strlen(name_end) < strlen(") S 1") ||
	    strtol(name_end + strlen(") S "), NULL, 10) != getpid())
		return false;
	out->state = name_end[strlen(") ")];
	(void)snprintf(out->name, sizeof(out->name), "%.*s", (int)(name_end - name - 1), name + 1);
	return !process_is_started(out->id);
}

int process_end_orphans(struct text_list *names, struct error *err)
{
	bool found = true;
	for (int round = 0; found && round < ORPHAN_ROUNDS; round++) {
		DIR *directory CLEANUP_DIR = opendir("/proc");
		const struct dirent *entry = NULL;
		if (directory == NULL)
			return error_system(err, errno, "/proc");
		found = false;
		while ((entry = readdir(directory)) != NULL) {
			struct orphan orphan = {0};
			if (!orphan_read(entry->d_name, &orphan))
				continue;
			int fd CLEANUP_FD = (int)syscall(SYS_pidfd_open, orphan.id, 0);
			struct pollfd ended = {.fd = fd, .events = POLLIN};
			(void)kill(orphan.id, SIGKILL);
			if (fd >= 0)
				(void)poll(&ended, 1, ORPHAN_END_MS);
			/* An orphan that cannot be killed, because a driver hangs, is not waited for again. */
			found |= waitpid(orphan.id, NULL, WNOHANG) == orphan.id || fd < 0;
			char *name CLEANUP_FREE =
				text_format("%s (process %d)", orphan.name, (int)orphan.id);
			if (orphan.state != 'Z' && names != NULL && !text_list_has(names, name))
				text_list_add(names, name);
		}
	}
	return 0;
}

/* Sends a signal to each child of this process, or to its group where it leads one. Only calls that are allowed in a handler. */
static void signal_children(const char *list, int number)
{
	char text[CHILDREN_SIZE] = "";
	const int fd = open(list, O_RDONLY | O_CLOEXEC);
	const ssize_t size = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
	pid_t id = 0;
	if (fd >= 0)
		(void)close(fd);
	for (ssize_t i = 0; i < size; i++) {
		if (text[i] >= '0' && text[i] <= '9') {
			id = id * 10 + (text[i] - '0');
			continue;
		}
		/* Only once: some programs treat a second SIGTERM as another request. */
		if (id > 1 && kill(-id, number) < 0)
			(void)kill(id, number);
		id = 0;
	}
}

static char children_list[PATH_SIZE * 2];

static void on_termination(int number)
{
	const struct timespec pause = {.tv_nsec = ROUND_NS};
	pid_t reaped = 0;
	signal_children(children_list, SIGCONT);
	signal_children(children_list, SIGTERM);
	for (int round = 0; round < 2 * ASKED_ROUNDS && reaped >= 0; round++) {
		if (round >= ASKED_ROUNDS)
			signal_children(children_list, SIGKILL);
		do
			reaped = waitpid(-1, NULL, WNOHANG);
		while (reaped > 0);
		if (reaped == 0)
			(void)nanosleep(&pause, NULL);
	}
	_exit(128 + number);
}

void process_end_with_children(void)
{
	struct sigaction action = {.sa_handler = on_termination};
	/* The children of the first thread, which starts processes and adopts orphans. */
	(void)snprintf(children_list, sizeof(children_list), "/proc/self/task/%d/children",
		       (int)getpid());
	(void)sigfillset(&action.sa_mask);
	(void)sigaction(SIGTERM, &action, NULL);
}
