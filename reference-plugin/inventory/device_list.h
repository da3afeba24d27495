/* SPDX-License-Identifier: MIT */
#pragma once

/* The ListAndWatchResponse of one resource, as it travels. */

#include "base/error.h"
#include "reference-plugin/inventory/inventory.h"

#include <stddef.h>
#include <stdint.h>

/* Packs the whole list: every replica of every device, by device id and replica, with health and,
 * where the node has them, NUMA nodes. An empty list has size 0 and is a valid message. Caller
 * frees *data. ERROR_MEMORY. */
int device_list_pack(const struct inventory *inventory, enum inventory_resource resource,
		     uint8_t **data, size_t *size, struct error *err);
