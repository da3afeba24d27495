/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Child processes on a libuv loop.
 *
 * POSIX. Each child leads a session and process group of its own; its standard input is /dev/null,
 * or a pipe with `input`; signal dispositions and mask are the default ones.
 *
 * Ending: SIGTERM to the group, SIGKILL after a grace period. When the leader ends, the rest of its
 * group is killed; after a stop or a deadline only when the grace period is over, if the rest holds
 * the output open. Processes that left the group (daemons) are on their own, unless
 * process_adopt_orphans() was called.
 *
 * Orphans: the kernel kills the leader when the thread that started it dies (PR_SET_PDEATHSIG), so
 * start children from a thread that lives as long as they do. The rest of the group is not covered
 * by that.
 *
 * Windows. Each child leads a console process group of its own and lives in a job object, the
 * counterpart of a POSIX group, which ends with this process, however that ends. Ending: Ctrl-Break
 * to the group, which only programs that share our console receive, and without a console by
 * base/windows/stop_event.h, which only our programs handle; after the grace period the job is
 * terminated. Batch files are not started.
 */

#include "base/error.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

enum {
	PROCESS_CAPTURE_DEFAULT = 1024 * 1024, /* bytes kept per stream */
	PROCESS_GRACE_DEFAULT_MS = 2000,
	PROCESS_LINE_MAX = 64 * 1024, /* a longer line arrives in pieces of this size */
};

struct process;

enum process_end {
	PROCESS_EXITED,	   /* exit code in `code` */
	PROCESS_SIGNALLED, /* killed by signal `code`, not by us; on Windows by the exception whose
			      NTSTATUS is `code` (0xC0000005: access violation) */
	PROCESS_TIMED_OUT, /* we ended it at its deadline; `code` as for PROCESS_STOPPED */
	PROCESS_STOPPED,   /* we ended it on request; `code` holds exit code or 128 + signal */
};

struct process_result {
	enum process_end end;
	int code;
	bool unkillable; /* SIGKILL did not end it (stuck in the kernel), and it was abandoned; code
			  * is 128 + 9 */
	uint64_t duration_ms;
	/* Captured output; free with process_result_free(). Omitted bytes are missing after the
	 * first half of capture_max. */
	struct text out, err;
	uint64_t out_dropped, err_dropped; /* bytes left out in the middle */
};

struct process_spec {
	const char *const *argv; /* NULL-ended; argv[0] is looked up in PATH unless it holds '/' */
	/* NULL-ended "NAME=value", added to the inherited environment, or "NAME", which is removed
	 * from it; may be NULL */
	const char *const *env;
	const char *directory; /* working directory; NULL: inherited */
	/* The content of its standard input, which must live until the child has ended; NULL:
	 * empty. A child need not read it. On POSIX the caller ignores SIGPIPE. */
	const void *input;
	size_t input_size;   /* at most UINT_MAX */
	size_t capture_max;  /* bytes kept per stream; 0: PROCESS_CAPTURE_DEFAULT */
	uint64_t timeout_ms; /* 0: none */
	uint64_t grace_ms;   /* between SIGTERM and SIGKILL; 0: PROCESS_GRACE_DEFAULT_MS */
	bool inherit_output; /* stdout and stderr are inherited instead of captured */
	/* Also gets each line of output (LF or CR LF removed, at most PROCESS_LINE_MAX). May be NULL.
	 * It may call process_stop() and process_free(). */
	void (*on_line)(bool is_stderr, const char *line, size_t size, void *user);
	/* Called once when the child has ended and its output is closed, from the loop. May be
	 * NULL. It may call process_free(). */
	void (*on_end)(struct process *process, const struct process_result *result, void *user);
	void *user;
};

/* Starts a child; `spec` is not needed afterwards. Returns when the program runs, or with
 * ERROR_NOT_FOUND or ERROR_PERMISSION when it cannot be started: distinct from any exit code of the
 * program. Only absolute directories of PATH are searched. */
int process_start(uv_loop_t *loop, const struct process_spec *spec, struct process **out,
		  struct error *err);

/* The program that process_start() would run for this name: the name itself when it holds a path,
 * else where PATH finds it. ERROR_NOT_FOUND, ERROR_PERMISSION. Caller frees *out. */
int process_find_program(const char *name, char **out, struct error *err);

/* This process' standard output, as a descriptor that its children do not inherit; everything printed
 * from now on, also by libraries and children, goes to standard error. On POSIX descriptors 0 and 2
 * are opened to /dev/null when they are closed, and writing to a closed pipe is an error, not a
 * signal. Caller closes *fd. ERROR_IO: standard output is closed. */
int process_take_output(int *fd, struct error *err);

int process_id(const struct process *process); /* 0 once it has ended */
bool process_has_ended(const struct process *process);

/* Sends a signal to the leader only. ERROR_NOT_FOUND once it has ended. */
/* On Windows SIGINT and SIGTERM are sent as Ctrl-Break, SIGKILL ends the process; others are
 * ERROR_UNSUPPORTED. */
int process_signal(struct process *process, int signal, struct error *err);

/* TERM the group, KILL after the grace period; on_end follows. Does nothing when it is already
 * ending. */
void process_stop(struct process *process);

/* The result so far; complete once process_has_ended(). Borrowed. */
const struct process_result *process_result(const struct process *process);

/* Kills the group if it still runs (no grace). on_line and on_end do not run any more. The memory
 * is freed with the handles, in the next iterations of the loop. NULL is allowed. */
void process_free(struct process *process);

/* Runs a child to its end on a loop of its own. Errors as process_start(). */
int process_run(const struct process_spec *spec, struct process_result *result, struct error *err);
void process_result_free(struct process_result *result);

/* process_run() for a child's standard output: caller frees *out. ERROR_IO: it did not exit with code 0;
 * "exited with code 1: last line of its stderr". ERROR_UNSUPPORTED: it exited with PROCESS_CANNOT_RUN,
 * with which our scripts report that this machine cannot do it; the text is only that line. */
enum { PROCESS_CANNOT_RUN = 77 };
int process_ask(const struct process_spec *spec, char **out, struct error *err);

/* From now on a descendant whose parent ends becomes a child of this process, so that daemons are
 * found. On Windows job objects end them. */
void process_adopt_orphans(void);

/* From now on SIGTERM ends this process after its children and orphans: all get SIGTERM, and SIGKILL a second later. On
 * Windows the children end with the process anyway. */
void process_end_with_children(void);

/* Kills adopted orphans, and adds "NAME (process ID)" to `names` (may be NULL) for each that still
 * ran. Children of process_start() are not touched. */
int process_end_orphans(struct text_list *names, struct error *err);

/* "exited with code 3", "killed by signal 11 (Segmentation fault)", ... into `out`. */
void process_describe(const struct process_result *result, char *out, size_t size);
