/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"

/* Of an open private key. ERROR_PERMISSION: others than its owner (on Windows: and SYSTEM and Administrators) may use
 * it. */
int key_file_check(int fd, const char *path, struct error *err);
