/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The one line that a probe prints. Drivers, and programs that drivers start, print what they like
 * on descriptor 1; output_claim() therefore keeps stdout for the document alone, and sends
 * everything else that goes to descriptor 1 to stderr.
 */

#include "base/error.h"

#include <cjson/cJSON.h>

/* To be called before any driver is loaded. Descriptors 0 and 2 are opened to /dev/null when they
 * are closed. ERROR_IO: stdout is closed. Also: a reader that went away is an error of
 * output_write(), not a signal. */
int output_claim(int *fd, struct error *err);

/* Writes the document as one line and closes `fd`, so that a full disk is seen. ERROR_IO,
 * ERROR_MEMORY. */
int output_write(int fd, const cJSON *document, struct error *err);
