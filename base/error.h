/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * base/ holds code that every folder may use and that is not about GPUs: errors, text, files, JSON,
 * child processes, command lines. Only here does code differ between compilers and operating systems:
 * portable code is in base/ itself, the rest in posix/ and windows/ behind one header.
 */

/* The error object is part of the public C API, so its header is installed. */
#include "base/include/gpucert/error.h"

/* The code's own names for the codes. Windows headers define four of them as macros; from here on
 * the names mean these, whichever is included first. */
#ifdef _WIN32
#include <winerror.h>
#undef ERROR_NOT_FOUND
#undef ERROR_TIMEOUT
#undef ERROR_CANCELLED
#undef ERROR_BUSY
#endif

enum {
	ERROR_ARGUMENT = GPUCERT_ERROR_ARGUMENT,
	ERROR_MEMORY = GPUCERT_ERROR_MEMORY,
	ERROR_IO = GPUCERT_ERROR_IO,
	ERROR_NOT_FOUND = GPUCERT_ERROR_NOT_FOUND,
	ERROR_EXISTS = GPUCERT_ERROR_EXISTS,
	ERROR_FORMAT = GPUCERT_ERROR_FORMAT,
	ERROR_LIMIT = GPUCERT_ERROR_LIMIT,
	ERROR_TIMEOUT = GPUCERT_ERROR_TIMEOUT,
	ERROR_CANCELLED = GPUCERT_ERROR_CANCELLED,
	ERROR_PROTOCOL = GPUCERT_ERROR_PROTOCOL,
	ERROR_UNAVAILABLE = GPUCERT_ERROR_UNAVAILABLE,
	ERROR_REMOTE = GPUCERT_ERROR_REMOTE,
	ERROR_PERMISSION = GPUCERT_ERROR_PERMISSION,
	ERROR_UNSUPPORTED = GPUCERT_ERROR_UNSUPPORTED,
	ERROR_BUSY = GPUCERT_ERROR_BUSY,
};

/* A function whose format is that of printf. */
#define PRINTF_LIKE(format_index, first) ERROR_PRINTF(format_index, first)
