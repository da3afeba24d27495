/* SPDX-License-Identifier: MIT */
#pragma once

/* Starting a child process on Windows. */

#include "base/process.h"
#include "base/text.h"

#include <windows.h>

struct process_child {
	HANDLE process;
	HANDLE job; /* holds the child and all that it starts; closing it kills them */
	int id;
	int out_fd, err_fd; /* read ends, overlapped; -1 when the output is inherited */
};

/* Creates the child in its job, as a process group of its own. Errors as process_start(). */
int process_spawn(const struct process_spec *spec, struct process_child *child, struct error *err);

/* The command line from which the C library of the child gets just these arguments. NULL: out of
 * memory. Caller frees. */
char *process_command_line(const char *const *argv);
