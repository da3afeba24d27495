/* SPDX-License-Identifier: MIT */
#pragma once

/* Paths of the driver store as the kernel and the registry spell them. */

#include "base/error.h"

#include <stdbool.h>

/* "\SystemRoot\System32\..." becomes "C:\Windows\System32\..." (`windows` is that folder), a
 * leading "\??\" goes, slashes become backslashes, one at the end goes. ERROR_FORMAT: not absolute,
 * or with "..", a stream or a share. Caller frees *out. */
int store_path_normalize(const char *path, const char *windows, char **out, struct error *err);

/* Is "HostDriverStore" one of its parts, whatever the case? Then this is a container, into which
 * the host's driver store is mounted under that name (container-non-dx.md), and there is nothing to
 * hand on. */
bool store_path_is_in_container(const char *path);
