/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* The first two numbers of a runtime's version: 1 and 6 of "1.6.20~ds1" or "v1.6.20". False when
 * there are none. */
bool cri_parse_version(const char *text, unsigned *major, unsigned *minor);
