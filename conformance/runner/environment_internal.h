/* SPDX-License-Identifier: MIT */
#pragma once

#include "conformance/runner/environment.h"

/* Nothing for NULL and "". */
void environment_add_text(cJSON *object, const char *key, const char *value);

/* Begins to digest what a device of a live node or a Wine node uses. */
int environment_begin_device(struct environment *environment, size_t index,
			     const struct discovery_snapshot *node, const struct wine_node *wine,
			     struct error *err);

/* The sections. After digests_wait(). */
cJSON *environment_drivers(const struct environment *environment,
			   const struct discovery_snapshot *node);
cJSON *environment_devices(const struct environment *environment,
			   const struct discovery_snapshot *node);
