/* SPDX-License-Identifier: MIT */
#pragma once

/* The floor: a child process that answers `request_size` bytes with `reply_size` bytes over
 * AF_UNIX, with blocking reads and writes and nothing else. */

#include "bench/samples.h"

int echo_measure(size_t request_size, size_t reply_size, size_t calls, struct samples *out,
		 struct error *err);
