/* SPDX-License-Identifier: MIT */
#include "base/process_internal.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SPAWN_FDS = 3 }; /* standard input, output and error */

enum spawn_stage { SPAWN_SETUP, SPAWN_DIRECTORY, SPAWN_EXECUTE };

/* The child sends it when it cannot become the program. */
struct spawn_failure {
	enum spawn_stage stage;
	int reason;
};

/* Everything the child needs, made before the fork: after it only async-signal-safe calls are
 * allowed. */
struct spawn_plan {
	const struct process_spec *spec;
	const char *program;
	char **env;
	pid_t parent;
	int fds[SPAWN_FDS]; /* of the program, by number; -1: inherited */
	int status_fd;
};

int process_find_program(const char *name, char **out, struct error *err)
{
	struct text_list directories CLEANUP_TEXT_LIST = {0};
	const char *path = getenv("PATH");
	bool seen = false;
	if (strchr(name, '/') != NULL) {
		*out = memory_copy(name);
		return 0;
	}
	text_list_split(&directories, path != NULL ? path : "/usr/bin:/bin", ':');
	text_each (directory, &directories) {
		char *candidate CLEANUP_FREE = path_join(directory, name);
		if (!path_is_absolute(candidate) || !file_exists(candidate) ||
		    file_is_directory(candidate))
			continue;
		seen = true;
		if (access(candidate, X_OK) == 0) {
			*out = STEAL(candidate);
			return 0;
		}
	}
	if (seen)
		return error_set(err, ERROR_PERMISSION, "%s: found in PATH but not executable",
				 name);
	return error_set(err, ERROR_NOT_FOUND, "%s: not found in PATH", name);
}

/* A descriptor that setting up the standard streams does not overwrite. It is duplicated only if necessary: this
 * process may have no free descriptor. */
static int out_of_the_way(int fd)
{
	return fd < 0 || fd >= SPAWN_FDS ? fd : fcntl(fd, F_DUPFD_CLOEXEC, SPAWN_FDS);
}

static int spawn_become(const struct spawn_plan *plan, enum spawn_stage *stage)
{
	struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t none;
	int moved[SPAWN_FDS] = {0};
	*stage = SPAWN_SETUP;
	for (int i = 0; i < SPAWN_FDS; i++) {
		moved[i] = out_of_the_way(plan->fds[i]);
		if (plan->fds[i] >= 0 && moved[i] < 0)
			return errno;
	}
	if (setsid() < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return errno;
	if (getppid() != plan->parent)
		return ESRCH; /* the parent died before the line above */
	for (int signal = 1; signal < NSIG; signal++)
		(void)sigaction(signal, &standard, NULL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	for (int i = 0; i < SPAWN_FDS; i++) {
		if (moved[i] >= 0 && dup2(moved[i], i) < 0)
			return errno;
	}
	/* Descriptors without close-on-exec, inherited by this process, are not passed on. Kernels
	 * before 5.11 cannot do that. */
	(void)close_range(SPAWN_FDS, UINT_MAX, CLOSE_RANGE_CLOEXEC);
	*stage = SPAWN_DIRECTORY;
	if (plan->spec->directory != NULL && chdir(plan->spec->directory) < 0)
		return errno;
	*stage = SPAWN_EXECUTE;
	(void)execve(plan->program, (char *const *)(uintptr_t)plan->spec->argv, plan->env);
	return errno;
}

/* The status pipe closes when the program takes over; a failure is sent before that. */
static int spawn_wait(const struct spawn_plan *plan, int status_fd, pid_t id, struct error *err)
{
	struct spawn_failure failure = {0};
	ssize_t count = 0;
	do
		count = read(status_fd, &failure, sizeof(failure));
	while (count < 0 && errno == EINTR);
	if (count == 0)
		return 0;
	while (waitpid(id, NULL, 0) < 0 && errno == EINTR)
		continue;
	if (count != (ssize_t)sizeof(failure))
		return error_set(err, ERROR_IO, "%s: the child gave no sign of life",
				 plan->program);
	if (failure.stage == SPAWN_DIRECTORY)
		return error_system(err, failure.reason, "working directory %s",
				    plan->spec->directory);
	if (failure.stage == SPAWN_EXECUTE && failure.reason == ENOENT &&
	    plan->spec->directory == NULL && file_exists(plan->program))
		return error_set(err, ERROR_NOT_FOUND, "%s: its interpreter does not exist",
				 plan->program);
	return error_system(err, failure.reason, "%s", plan->program);
}

static int spawn_fork(struct spawn_plan *plan, pid_t *id, struct error *err)
{
	int status[2] = {-1, -1};
	sigset_t all;
	sigset_t before;
	if (pipe2(status, O_CLOEXEC) < 0)
		return error_system(err, errno, "pipe");
	plan->status_fd = status[1];
	plan->parent = getpid();
	/* The handlers of this process must not run in the child. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_BLOCK, &all, &before);
	*id = fork();
	if (*id == 0) {
		int status_fd = out_of_the_way(plan->status_fd);
		struct spawn_failure failure = {.stage = SPAWN_SETUP, .reason = errno};
		if (status_fd >= 0)
			failure.reason = spawn_become(plan, &failure.stage);
		(void)!write(status_fd >= 0 ? status_fd : plan->status_fd, &failure,
			     sizeof(failure));
		_exit(127);
	}
	int reason = errno;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)close(status[1]);
	int rc = *id < 0 ? error_system(err, reason, "%s: fork", plan->program)
			 : spawn_wait(plan, status[0], *id, err);
	(void)close(status[0]);
	return rc;
}

/* Older C libraries have no wrapper. */
static int watch(pid_t id, intptr_t *fd, struct error *err)
{
	*fd = syscall(SYS_pidfd_open, id, 0);
	if (*fd >= 0)
		return 0;
	int reason = errno;
	(void)kill(-id, SIGKILL);
	while (waitpid(id, NULL, 0) < 0 && errno == EINTR)
		continue;
	if (reason == ENOSYS)
		return error_set(err, ERROR_UNSUPPORTED,
				 "watching a child process needs Linux 5.3 or later");
	return error_system(err, reason, "watching a child process");
}

static int open_pipe(int *read_fd, int *write_fd, struct error *err)
{
	int pair[2] = {-1, -1};
	if (pipe2(pair, O_CLOEXEC) < 0)
		return error_system(err, errno, "pipe");
	*read_fd = pair[0];
	*write_fd = pair[1];
	return 0;
}

/* The child's standard input, and the end where this process writes it. */
static int open_input(const struct process_spec *spec, int *read_fd, int *write_fd,
		      struct error *err)
{
	if (spec->input != NULL)
		return open_pipe(read_fd, write_fd, err);
	*read_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return *read_fd >= 0 ? 0 : error_system(err, errno, "/dev/null");
}

int process_spawn(const struct process_spec *spec, struct process_child *child, struct error *err)
{
	char *program CLEANUP_FREE = NULL;
	struct text_list env CLEANUP_TEXT_LIST = {0};
	int out_read CLEANUP_FD = -1;
	int out_write CLEANUP_FD = -1;
	int err_read CLEANUP_FD = -1;
	int err_write CLEANUP_FD = -1;
	int in_read CLEANUP_FD = -1;
	int in_write CLEANUP_FD = -1;
	struct spawn_plan plan = {.spec = spec};
	pid_t id = 0;
	if (spec->argv == NULL || spec->argv[0] == NULL || spec->argv[0][0] == '\0')
		return error_set(err, ERROR_ARGUMENT, "no program to start");
	int rc = process_find_program(spec->argv[0], &program, err);
	if (rc == 0)
		rc = process_environment(spec->env, &env, err);
	if (rc == 0)
		rc = open_input(spec, &in_read, &in_write, err);
	if (rc == 0 && !spec->inherit_output)
		rc = open_pipe(&out_read, &out_write, err);
	if (rc == 0 && !spec->inherit_output)
		rc = open_pipe(&err_read, &err_write, err);
	if (rc < 0)
		return rc;
	plan.program = program;
	plan.env = env.items;
	plan.fds[STDIN_FILENO] = in_read;
	plan.fds[STDOUT_FILENO] = out_write;
	plan.fds[STDERR_FILENO] = err_write;
	rc = spawn_fork(&plan, &id, err);
	if (rc == 0)
		rc = watch(id, &child->ended, err);
	if (rc < 0)
		return rc;
	child->id = id;
	child->out_fd = STEAL_FD(out_read);
	child->err_fd = STEAL_FD(err_read);
	child->in_fd = STEAL_FD(in_write);
	return 0;
}

/* In a container /dev/null may be missing: the descriptor then stays closed. */
static void open_when_closed(int fd, int flags)
{
	if (fcntl(fd, F_GETFD) >= 0)
		return;
	int null CLEANUP_FD = open("/dev/null", flags | O_CLOEXEC);
	if (null == fd) {
		(void)fcntl(null, F_SETFD, 0);
		(void)STEAL_FD(null);
	} else if (null >= 0) {
		(void)dup2(null, fd);
	}
}

int process_take_output(int *fd, struct error *err)
{
	(void)signal(SIGPIPE, SIG_IGN);
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
		return error_system(err, errno, "standard output");
	open_when_closed(STDIN_FILENO, O_RDONLY);
	open_when_closed(STDERR_FILENO, O_WRONLY);
	int output CLEANUP_FD = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, SPAWN_FDS);
	if (output < 0 || (dup2(STDERR_FILENO, STDOUT_FILENO) < 0 && errno != EBADF))
		return error_system(err, errno, "standard output");
	*fd = STEAL_FD(output);
	return 0;
}
