/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Messages of the kernel and of GPU drivers during a run: on Linux the kernel's log (/dev/kmsg:
 * Documentation/ABI/testing/dev-kmsg), on Windows the channel "System" of the event log. A line of user
 * space is never mistaken for one of the kernel.
 */

#include "base/error.h"
#include "base/text.h"

#include <gpucert/discovery.h>
#include <stdbool.h>

struct log_line {
	char when[40];	 /* seconds since the boot; of an event "record NUMBER" */
	char text[1024]; /* printable ASCII, cut; of an event "PROVIDER ID: DATA"; "": no line */
};

/* The first line of data from /dev/kmsg; returns the data after it. The text is "" for a line that is not
 * a record of the kernel. */
const char *log_line_of_kernel(const char *data, struct log_line *line);

/* Unprintable characters are replaced. */
void log_line_set(struct log_line *line, const char *text, size_t size);

/* What a line means for a run. */
enum log_meaning {
	LOG_FOREIGN, /* unrelated to the run: not kept */
	LOG_RELATED, /* about a device of the run: evidence */
	LOG_WARNING, /* a fault of the machine, or possibly of another device or program */
	LOG_FAULT,   /* a reset or a fault of a device of the run */
};

/*
 * By the table in faults.def. The device is known by its PCI address in the line, or else by its driver
 * where the node has only one device of that driver, or only one of them offers an API. `ids`: the only
 * devices that count (a fault of another one is a warning); empty: all devices of the node. *id: the
 * device of a fault.
 */
enum log_meaning log_line_judge(const struct log_line *line, const struct discovery_snapshot *node,
				const struct text_list *ids, const char **id);

struct system_log;
typedef void system_log_line(const struct log_line *line, void *user);

/* The log from now on. `path` is /dev/kmsg, or a test's stand-in; not used on Windows. Any error: it
 * cannot be read here, and the text says why. */
int system_log_open(const char *path, struct system_log **out, struct error *err);
void system_log_close(struct system_log **log);

/* Skips all lines so far. */
void system_log_skip(struct system_log *log);

/* Calls `each` for each line since the last call. False: some were overwritten before they were read, or
 * the log could not be read to its end. */
bool system_log_read(struct system_log *log, system_log_line *each, void *user);
