/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What the kubelet sees of the inventory: device ids, "<device id>::<replica>", and the list of
 * them. The suffix is always there, so an id stays the same when the number of replicas changes.
 */

#include "reference-plugin/inventory/inventory.h"

/* Room for any replica. As there are at most 10,000, no id is longer than the 63 characters that
 * the comments of api.proto allow. */
enum { REPLICA_ID_SIZE = INVENTORY_ID_SIZE + (int)sizeof("::4294967295") };

void replica_id_format(const char *device_id, uint32_t replica, char out[REPLICA_ID_SIZE]);

/* Splits an id that came from the wire; a device id that is too long for any device is cut. A
 * replica is written in decimal without leading zeros. ERROR_ARGUMENT names the id, escaped. */
int replica_id_parse(const char *id, char device[REPLICA_ID_SIZE], uint32_t *replica,
		     struct error *err);

/* The error `device id "..."` and the format; the untrusted id is escaped, and cut when it is long.
 * Returns `code`. */
int replica_id_error(struct error *err, int code, const char *id, const char *format, ...)
	PRINTF_LIKE(4, 5);

/* Packs the whole list: every replica of every device, by device id and replica, with health and,
 * where the node has them, NUMA nodes. An empty list has size 0 and is a valid message. Caller
 * frees *data. ERROR_MEMORY. */
int device_list_pack(const struct inventory *inventory, enum inventory_resource resource,
		     uint8_t **data, size_t *size, struct error *err);
