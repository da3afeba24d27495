/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

enum { BACKOFF_FIRST_MS = 1000, BACKOFF_LAST_MS = 30 * 1000 };

/* Milliseconds to wait after the failure number `failures`, counted from 1: doubling from
 * BACKOFF_FIRST_MS to BACKOFF_LAST_MS, and up to a quarter more by `random`, so that the plugins of
 * a node do not come back in step. Never less than BACKOFF_FIRST_MS. */
uint64_t backoff_ms(unsigned failures, uint32_t random);
