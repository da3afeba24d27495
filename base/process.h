/* SPDX-License-Identifier: MIT */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

/*
 * Child processes over libuv. Each child leads its own process group; ending it ends the group: SIGTERM,
 * then SIGKILL after a grace period. Output is captured up to a limit (head and tail are kept) or handed
 * to a callback. A child never outlives the handle, nor the death of this process (PR_SET_PDEATHSIG).
 */

#include "base/error.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

struct process;

enum process_end {
	PROCESS_EXITED,       /* exit code in `code` */
	PROCESS_SIGNALLED,    /* killed by signal `code`, not by us */
	PROCESS_TIMED_OUT,    /* we ended it at its deadline */
	PROCESS_STOPPED,      /* we ended it on request; `code` holds exit code or 128 + signal */
};

struct process_result {
	enum process_end end;
	int code;
	uint64_t duration_ms;
	uint64_t max_rss_kib;
	struct text out, err;            /* captured output; free with process_result_free() */
	uint64_t out_dropped, err_dropped; /* bytes left out in the middle */
};

struct process_spec {
	const char *const *argv;        /* NULL-ended; argv[0] is looked up in PATH unless it holds '/' */
	const char *const *env;         /* NULL-ended "NAME=value" added over the inherited ones; may be NULL */
	bool clear_env;                 /* start from an empty environment instead */
	const char *directory;          /* working directory; NULL: inherited */
	size_t capture_max;             /* bytes kept per stream; 0: 1 MiB */
	uint64_t timeout_ms;            /* 0: none */
	uint64_t grace_ms;              /* between SIGTERM and SIGKILL; 0: 2 s */
	bool inherit_output;            /* stdout and stderr are ours instead of being captured */
	int pass_fd;                    /* inherited as descriptor 3 in the child; 0 or -1: none */
	/* With these, lines of output (newline removed, at most 64 KiB) go here as well. May be NULL. */
	void (*on_line)(bool is_stderr, const char *line, size_t size, void *user);
	/* Called once when the child has ended and its output is closed. */
	void (*on_end)(struct process *process, const struct process_result *result, void *user);
	void *user;
};

/* Starts a child. ERROR_NOT_FOUND, ERROR_PERMISSION when the program cannot be started: distinct from any
 * exit code of the program. */
int process_start(uv_loop_t *loop, const struct process_spec *spec, struct process **out,
		  struct error *err);

int process_id(const struct process *process); /* 0 once it has ended */
bool process_has_ended(const struct process *process);
int process_signal(struct process *process, int signal, struct error *err); /* to the leader alone */
void process_stop(struct process *process); /* TERM the group, KILL after the grace period; on_end follows */

/* Result so far; complete once process_has_ended(). Borrowed. */
const struct process_result *process_result(const struct process *process);

/* Kills the group if it still runs (no grace) and frees. on_end does not run any more. NULL is allowed. */
void process_free(struct process *process);

/* Runs a child to its end on a loop of its own. */
int process_run(const struct process_spec *spec, struct process_result *result, struct error *err);
void process_result_free(struct process_result *result);

/* "exited with code 3", "killed by signal 11 (Segmentation fault)", ... into `out`. */
void process_describe(const struct process_result *result, char *out, size_t size);

#endif
