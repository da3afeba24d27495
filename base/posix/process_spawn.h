/* SPDX-License-Identifier: MIT */
#pragma once

/* Starting a child process: fork and exec. */

#include "base/process.h"

#include <sys/types.h>

struct process_child {
	pid_t id;
	int exit_fd;	    /* pidfd: readable when the leader has ended */
	int out_fd, err_fd; /* read ends; -1 when the output is inherited */
};

/* Forks and executes. Returns once the program runs; otherwise nothing is left behind. */
int process_spawn(const struct process_spec *spec, struct process_child *child, struct error *err);

/* Is this a child of process_start() that is not reaped yet? */
bool process_is_started(pid_t id);
