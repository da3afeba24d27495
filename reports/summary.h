/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The report for a terminal, in at most SUMMARY_LINES lines: the verdict, what it is about, what
 * works, what does not and what to do about it, what was not tested and why, and the journal's
 * digest. Everything that comes from outside is escaped. With writer_options.columns lines are cut
 * to that width, advice and the digest excepted.
 */

#include "reports/writer.h"

enum { SUMMARY_LINES = 10 };

extern const struct writer writer_summary;
