/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The output folder of a run: one run at a time, files of others are never replaced, and nobody
 * else can redirect the output: from the folder down, every directory belongs to this user or root,
 * and only they may write there.
 */

#include "base/error.h"

#include <stddef.h>

#define OUTPUT_EVIDENCE "evidence"

/* Makes the folder, holds it (file_hold_directory() of base/file.h: the caller closes *lock at the
 * end of the run, and frees *held, the path to use until then) and removes an earlier run: the
 * evidence of the checks in its journal, its reports, its journal. ERROR_ARGUMENT: another run is
 * writing there, another user could redirect the output, or the files to replace do not belong to a
 * run: reports or evidence without a readable journal. */
int output_open(const char *directory, int *lock, char **held, struct error *err);

/* Writes a file below evidence/ in the folder whose path is *held of output_open(). `relative` is "evidence/CHECK/NAME".
 * ERROR_PERMISSION, ERROR_EXISTS: the check's folder is a link, or others may write there. */
int output_write(const char *held, const char *relative, const void *data, size_t size,
		 struct error *err);
