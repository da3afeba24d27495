/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"

/* The path of a file that the user names: `name` itself, or, if it has no folder and no such file exists, the
 * installed share/gpucert/FOLDER/NAMESUFFIX. Caller frees *out. ERROR_NOT_FOUND: neither exists. */
int installed_file(const char *folder, const char *name, const char *suffix, char **out,
		   struct error *err);
