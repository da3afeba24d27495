/* SPDX-License-Identifier: MIT */
#pragma once

/* What people call the parts of a report's environment. */

#include "base/json.h"

/* Adds the name of a section ("os"), or of one item of a section that is an array ("drivers"): "Windows
 * Server 2022 Datacenter 20348.1547", "nvidia 552.12". Nothing where nothing is known. Not escaped. */
void environment_add_name(const char *section, const cJSON *item, struct text *out);
