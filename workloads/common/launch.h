/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What binds a document to the launch of its probe. Whoever starts a probe gives it a nonce, which
 * the document repeats, and a seed, which the work follows from; both on the command line, or
 * through a file, usually a FIFO, at which the probe waits before it loads anything: meanwhile it
 * can be looked at from outside.
 */

#include "base/error.h"

#include <stdint.h>

enum { LAUNCH_NONCE_MAX = 64 }; /* letters and digits */

struct probe_launch {
	char nonce[LAUNCH_NONCE_MAX + 1]; /* "": none was given */
	uint32_t seed;			  /* 0: none was given */
};

/* ERROR_FORMAT: not 1 to LAUNCH_NONCE_MAX letters and digits. */
int probe_launch_set_nonce(struct probe_launch *launch, const char *nonce, struct error *err);

/* Waits until the file at `path` can be read to its end, and takes nonce and seed from its only
 * line, "NONCE SEED". ERROR_FORMAT, ERROR_IO, ERROR_NOT_FOUND. */
int probe_launch_wait(struct probe_launch *launch, const char *path, struct error *err);
