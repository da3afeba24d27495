/* SPDX-License-Identifier: MIT */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

/* The error object is part of the public C API, so its header is installed. */
#include "base/include/gpucert/error.h"

/* A function whose format is that of printf. */
#define PRINTF_LIKE(format_index, first) ERROR_PRINTF(format_index, first)

#endif
