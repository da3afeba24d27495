/* SPDX-License-Identifier: MIT */
#pragma once

/* The text of the grpc-timeout header: one to eight digits and a unit of H, M, S, m, u, n. */

#include "base/error.h"

#include <stdint.h>

enum { TIMEOUT_SIZE = sizeof("18446744073709551615H") };

/* Milliseconds, rounded up. ERROR_FORMAT. */
int timeout_parse(const char *text, uint64_t *milliseconds, struct error *err);

/* Milliseconds as text, in the finest unit that holds them, rounded up; longer than the format can
 * say becomes the longest it can. Returns `out`. */
char *timeout_format(uint64_t milliseconds, char out[TIMEOUT_SIZE]);
