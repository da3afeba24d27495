/* SPDX-License-Identifier: MIT */
#pragma once

/* The output folder of a run: one run at a time, and no file of anybody else is ever replaced. */

#include "base/error.h"

#define OUTPUT_EVIDENCE "evidence"

/* Makes the folder, takes its lock (base/file.h; the caller closes *lock at the end of the run) and
 * removes what an earlier run left: the evidence of the checks in its journal, its reports, its
 * journal. ERROR_ARGUMENT: another run is writing there, or what would be replaced is not of a run:
 * reports or evidence without a journal that can be read. */
int output_open(const char *directory, int *lock, struct error *err);
