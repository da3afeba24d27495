/* SPDX-License-Identifier: MIT */
#pragma once

/* Attributes and links of one sysfs directory. An absent one is unknown; one that cannot be
 * understood is unknown and a diagnostic. */

#include "discovery/builder.h"

/* The text of an attribute, "" when it is absent. */
const char *sysfs_text(struct builder *builder, const char *directory, const char *name);

/* A decimal or 0x number between 0 and max; DISCOVERY_UNKNOWN otherwise. -1 is how sysfs says
 * unknown. */
int64_t sysfs_number(struct builder *builder, const char *directory, const char *name, int64_t max);

/* The driver of a device: the last component of what its link "driver" points to ("amdgpu"); "" when it is absent. */
const char *sysfs_driver(struct builder *builder, const char *directory);
