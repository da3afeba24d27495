/* SPDX-License-Identifier: MIT */
#ifndef REFERENCE_PLUGIN_SOCKET_FILE_INTERNAL_H
#define REFERENCE_PLUGIN_SOCKET_FILE_INTERNAL_H

/* What differs between systems: socket_file*.c alone. */

#include "reference-plugin/socket_file.h"

/* Is the file, which has a name of socket_file_name(), left over from an instance that ended? False
 * in doubt. */
bool socket_file_nobody_listens(const char *path);

#endif
