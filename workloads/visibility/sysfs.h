/* SPDX-License-Identifier: MIT */
#pragma once

/* What the kernel's own file systems tell of GPUs. A container sees those of its host, so this says
 * nothing about access; it is kept apart from the device nodes for that reason. */

#include "base/error.h"

#include <cjson/cJSON.h>

/* The `sysfs` of a document, read from `sys_root` (normally "/sys") and `proc_root` ("/proc").
 * ERROR_MEMORY; ERROR_IO: a directory cannot be read. */
int sysfs_list(const char *sys_root, const char *proc_root, cJSON **out, struct error *err);
