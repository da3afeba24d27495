/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What every check of a run sees, whatever it is about, is kept in a file of the run's folder for the check that runs
 * last and judges it: device lists (list-and-watch.later-lists), ends of the plugin (restart.every-end).
 *
 *   FILE   {"check", "wrong"} for each check; "wrong" is "" where all was right
 */

#include "conformance/runner/check.h"

/* Adds a line; `wrong` may be NULL. */
void every_check_keep(struct check_run *run, const char *file, const char *wrong);

/* Records a failure for each line that is wrong, at most a handful, or a success. Returns how many lines there are, or
 * a negative number: recorded. */
int every_check_judge(struct check_run *run, const char *file, const char *what,
		      const char *wanted);
