/* SPDX-License-Identifier: MIT */
#pragma once

/* What posix/process.c and windows/process.c share: keeping the output of a child
 * (process_output.c), and taking its result (process_run.c). */

#include "base/process.h"

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

/* What ended a process with PROCESS_SIGNALLED, for people: "signal 11 (Segmentation fault)",
 * "exception 0xc0000005 (access violation)". */
void process_describe_signal(int code, char *out, size_t size);
