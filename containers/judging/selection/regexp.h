/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Untrusted regular expressions. Rules of Node Feature Discovery use those of RE2 (google/re2, "Syntax"); only
 * syntax that POSIX extended expressions share with them is evaluated, and none that makes the library build
 * unbounded numbers of states: characters, '.', sets, groups, '|', '*', '+', '?', '^', '$', one "{m,n}" of
 * numbers below 100, and a backslash before any character but a letter or digit.
 */

#include "base/error.h"

#include <stdbool.h>

enum { REGEXP_MAX = 256 /* bytes of an expression */ };

/* Does it match anywhere in the text? ERROR_FORMAT: malformed, or beyond the syntax above;
 * ERROR_LIMIT; ERROR_MEMORY; ERROR_UNSUPPORTED: on Windows. */
int regexp_search(const char *pattern, const char *text, bool *found, struct error *err);
