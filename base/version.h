/* SPDX-License-Identifier: MIT */
#pragma once

/* Versions of dotted numbers: "570.124.06", "10.0.20348.2582". */

#include <stdbool.h>
#include <stddef.h>

/* Negative, 0 or positive, as strcmp(): components are numbers of any length, a missing one is 0,
 * so 570.26 < 570.124.06 and 12 == 12.0. A suffix ("-37-amd64") is ignored. */
int version_compare(const char *a, const char *b);

/* Digits and single dots, nothing else: at most 8 components of at most 9 digits each. */
bool version_is_valid(const char *version);

enum { VERSION_SIZE = 8 * 10 }; /* room for a valid one */

/* A range is a list of comparisons separated by spaces, all of which must hold: ">=31.0.15.5100
 * <31.0.15.5600", "=12.4", "!=20348". */
bool version_range_is_valid(const char *range);
bool version_in_range(const char *version, const char *range); /* false for an invalid range */

/* The length of the first `components` components: 4 of "12.4.1" with 2. */
size_t version_length(const char *version, unsigned components);

/* The first component; 0 when missing or longer than 9 digits. */
unsigned version_major(const char *version);
