/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Regular expressions of strangers. Rules of Node Feature Discovery have those of RE2 (google/re2, "Syntax");
 * what extended expressions of POSIX share with them is evaluated, and nothing that makes the library build
 * states without bound: characters, '.', sets, groups, '|', '*', '+', '?', '^', '$', one "{m,n}" of numbers below
 * 100, and a backslash in front of what is no letter or digit.
 */

#include "base/error.h"

#include <stdbool.h>

enum { REGEXP_MAX = 256 /* bytes of an expression */ };

/* Does it match anywhere in the text? ERROR_FORMAT: it is not one, or uses more than the above;
 * ERROR_LIMIT; ERROR_MEMORY; ERROR_UNSUPPORTED: on Windows. */
int regexp_search(const char *pattern, const char *text, bool *found, struct error *err);
