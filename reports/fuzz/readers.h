/* SPDX-License-Identifier: MIT */
#pragma once

/* Common steps of the fuzz targets with an accepted report. */

#include "base/json.h"

/* Prints it with every writer and checks that the output is UTF-8 without control characters. `own`: report_render()
 * made it, so every writer must accept it. */
void fuzz_write(const cJSON *report, bool own);

/* Compares each with the first, which may be the only one, and folds all into a matrix, in every format. */
void fuzz_fold(cJSON *const *reports, size_t count);
