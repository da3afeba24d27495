/* SPDX-License-Identifier: MIT */
#pragma once

/* The members of a snapshot as JSON (schema/node.schema.json): how they are written, read, compared
 * and empty. */

#include "base/json_members.h"

extern const struct json_member discovery_snapshot_members[];
extern const struct json_member discovery_device_members[];

/* The values of enum discovery_kind and enum discovery_health, NULL-ended. */
extern const char *const discovery_kind_names[];
extern const char *const discovery_health_names[];
