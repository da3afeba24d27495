/* SPDX-License-Identifier: MIT */
#pragma once

/* Locks the process up before it touches untrusted data. */

#include "base/error.h"

#include <stdint.h>

struct sandbox_limits {
	uint64_t memory;  /* bytes of address space; with sanitizers, which need more, unlimited */
	unsigned seconds; /* of processor time, then SIGXCPU ends the process */
};

/*
 * From now on the process cannot open a file, start a program or a thread, or use the network; open
 * files stay open. It loses the rights of root, leaves no core, and runs within the limits. System
 * calls beyond the few that decoding needs fail with EPERM, if the kernel has seccomp; otherwise
 * only the rest holds. ERROR_IO: a limit cannot be set.
 */
int sandbox_enter(const struct sandbox_limits *limits, struct error *err);
