/* SPDX-License-Identifier: MIT */
#pragma once

/* What differs between systems: socket_file*.c alone. */

#include "reference-plugin/serving/socket_file.h"

/* Is the file, which has a name of socket_file_name(), left over from an instance that ended? False
 * in doubt. */
bool socket_file_nobody_listens(const char *path);
