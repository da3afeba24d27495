/* SPDX-License-Identifier: MIT */
#pragma once

/* The parts of base/process.c that differ between systems: posix/ and windows/, process.c and
 * process_spawn.c. */

#include "base/process.h"

enum { PROCESS_KILLED_CODE = 128 + 9 }; /* on Windows too, as POSIX systems report it */

/* The system's handles of a child and of its group. */
struct process_child {
	int id;		/* of the leader; 0 once it is reaped or released */
	intptr_t ended; /* for wake_start(): a pidfd or HANDLE, ready when the leader has ended */
	void *job;	/* Windows: the job object; closing it kills the group */
	int out_fd, err_fd; /* read ends; -1 when the output is inherited */
	int in_fd;	    /* write end; -1 without input */
};

/* Returns once the program runs; otherwise nothing is left behind. Errors as process_start(). */
int process_spawn(const struct process_spec *spec, struct process_child *child, struct error *err);

/* Asks the group to end. False: not possible. */
bool process_child_ask(const struct process_child *child);
void process_child_kill(const struct process_child *child); /* the group */

/* The leader has ended: kills the rest of the group and takes its status. `result->end` says
 * whether we ended it. Releases the child. */
void process_child_reap(struct process_child *child, struct process_result *result);
void process_child_release(struct process_child *child);

/* Sends a signal to the leader only. Errors as process_signal(). */
int process_child_signal(const struct process_child *child, int signal, struct error *err);

/* Describes what ended a process with PROCESS_SIGNALLED: "signal 11 (Segmentation fault)",
 * "exception 0xc0000005 (access violation)". */
void process_describe_signal(int code, char *out, size_t size);

/* Is this a child of process_start() that is not reaped yet? */
bool process_is_started(int id);

/* The environment of a child: that of this process, changed by `env` (NULL-ended "NAME=value", may
 * be NULL). */
int process_environment(const char *const *env, struct text_list *out, struct error *err);

/* Windows: the command line that the child's C library splits into these arguments. NULL: out of
 * memory. Caller frees. */
char *process_command_line(const char *const *argv);
