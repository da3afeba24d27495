/* SPDX-License-Identifier: MIT */
#ifndef BASE_PROCESS_INTERNAL_H
#define BASE_PROCESS_INTERNAL_H

/* What process.c is made of: starting a child (process_spawn.c) and keeping its output
 * (process_output.c). */

#include "base/process.h"

#include <sys/types.h>

struct process_child {
	pid_t id;
	int exit_fd;	    /* pidfd: readable when the leader has ended */
	int out_fd, err_fd; /* read ends; -1 when the output is inherited */
};

/* Forks and executes. Returns once the program runs; otherwise nothing is left behind. */
int process_spawn(const struct process_spec *spec, struct process_child *child, struct error *err);

/* One captured stream: the head up to capture_max / 2, and as much of the tail. */
struct process_output {
	struct text *captured;
	uint64_t *dropped;
	size_t capture_max;
	struct text line; /* the part of a line that has arrived */
};

typedef void process_line_fn(void *user, const char *line, size_t size);

void process_output_add(struct process_output *output, const char *data, size_t size);
void process_output_trim(struct process_output *output); /* to capture_max, at the end */

/* Splits what arrived into lines. `on_line` may clear *wanted, which ends the splitting. */
void process_output_lines(struct process_output *output, const char *data, size_t size,
			  const bool *wanted, process_line_fn *on_line, void *user);
void process_output_last_line(struct process_output *output, process_line_fn *on_line, void *user);

/* Moves the result out of an ended process. */
struct process_result process_take_result(struct process *process);

#endif
