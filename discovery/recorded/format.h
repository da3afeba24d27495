/* SPDX-License-Identifier: MIT */
#pragma once

/* What the reader and the writer of recorded nodes share: the tables that map members of the JSON
 * document (schema/node.schema.json) to members of struct discovery_device. */

#include "discovery/include/gpucert/discovery.h"

#define RECORDED_SCHEMA "gpucert-node/1"

/* A string member of struct discovery_device, where nothing else is said. */
struct recorded_string {
	const char *key;
	size_t offset;
};

/* An integer member; DISCOVERY_UNKNOWN is absent in JSON. */
struct recorded_id {
	const char *key;
	size_t offset; /* of an int32_t */
	unsigned max;
	int digits; /* hexadecimal digits behind "0x" */
};

/* Ended by {.key = NULL}. */
extern const struct recorded_string recorded_device_strings[];
extern const struct recorded_string recorded_driver_strings[];
extern const struct recorded_string recorded_system_strings[]; /* of struct discovery_system */
extern const struct recorded_id recorded_pci_ids[];
