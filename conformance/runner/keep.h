/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * --keep: a check stops at its first failure, with its plugin, sockets and containers as they are, until somebody has looked at
 * them. The check's process waits for a file in its folder, which the runner makes when a line comes on standard input.
 */

#include "conformance/runner/execution.h"

struct keep;

/* Prints on standard error what failed and how to look at it, and waits for a line on standard input, or its end. `plugin_pid`
 * 0: unknown. NULL: the input cannot be waited for, and the check continues. Close with keep_close() before the check's folder is removed. */
struct keep *keep_open(const struct execution *execution, int plugin_pid);
void keep_close(struct keep **keep);

/* Lets the check continue. */
void keep_release(const struct execution *execution);

/* In the check's process: returns when it may continue. */
void keep_wait(const char *check_directory);
