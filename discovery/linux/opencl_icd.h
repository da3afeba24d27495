/* SPDX-License-Identifier: MIT */
#pragma once

/* The files *.icd of OpenCL (cl_khr_icd extension): one line with the name or path of a library. */

#include "base/error.h"

#include <stddef.h>

/* The library that the file names. ERROR_FORMAT: no line, or bytes that no path has; ERROR_LIMIT:
 * longer than a path can be. Caller frees *library. */
int opencl_icd_parse(const char *data, size_t size, char **library, struct error *err);
