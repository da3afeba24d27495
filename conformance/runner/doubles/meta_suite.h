/* SPDX-License-Identifier: MIT */
#pragma once

/* Deliberately bad checks, which prove that the runner distinguishes their ends. Tests only. */

#include "conformance/runner/check.h"

extern const struct check_suite *const meta_suites[]; /* NULL-ended */

/* The argument with which the test program only sleeps: on Windows, what meta.leak leaves behind.
 */
#define META_SLEEP "sleep"
