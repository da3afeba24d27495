/* SPDX-License-Identifier: MIT */
#pragma once

/* What all fuzz targets of reports do with a report that was accepted. */

#include "base/json.h"

/* Prints it with every writer and looks at what comes out: UTF-8 without control characters. `own`: report_render() made
 * it, so every writer must take it. */
void fuzz_write(const cJSON *report, bool own);

/* Compares each with the first, which may be the only one, and folds all into a matrix, in every format. */
void fuzz_fold(cJSON *const *reports, size_t count);
