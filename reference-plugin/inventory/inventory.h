/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * This folder (inventory/) holds what the plugin offers: this table, the scanner that keeps it up to
 * date, the ids that the kubelet sees and the list that it receives.
 *
 * This file: the devices that the plugin offers, kept over several discovery snapshots.
 *
 * A device that a new snapshot no longer holds stays listed as unhealthy for a grace period,
 * because the kubelet may be about to hand it to a container, and is removed afterwards. When it
 * comes back within or after that time it is healthy again under the same id.
 *
 * Each device belongs to exactly one resource: with display to the display resource, without to the
 * compute resource. So ids never collide between resources.
 */

#include "base/error.h"

#include <gpucert/discovery.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum inventory_resource { INVENTORY_DISPLAY, INVENTORY_COMPUTE, INVENTORY_RESOURCE_COUNT };

enum {
	/* Bounds of one list, which must stay far below gRPC's 4 MiB a message. */
	INVENTORY_DEVICES_MAX = 1024,
	INVENTORY_IDS_MAX = 32768,
	/* The kubelet keeps NUMA nodes in a 64-bit mask. */
	INVENTORY_NUMA_MAX = 63,
	/* Of an id, as discovery.h bounds it, and the NUL. */
	INVENTORY_ID_SIZE = 56,
};

struct inventory_device {
	char id[INVENTORY_ID_SIZE];
	enum inventory_resource resource;
	int32_t numa_node; /* 0 to INVENTORY_NUMA_MAX, or DISCOVERY_UNKNOWN */
	bool healthy;
	const char *reason;	/* why it is unhealthy; "" otherwise; borrowed as below */
	uint64_t gone_since_ms; /* valid while `found` is NULL */
	const struct discovery_device *found; /* borrowed from the snapshot; NULL: gone */
};

struct inventory {
	uint32_t replicas; /* ids per device, at least 1 */
	uint64_t removal_grace_ms;
	const char *root;      /* where this process sees the node's files; "" or NULL: "/" */
	bool display_computes; /* display devices that do not compute are withheld, as by the WDDM
				       plugin: a container may expect Direct3D 12 */
	bool without_location_path; /* also offer devices not assignable by location path */
	bool recorded;		    /* from a recorded node: nodes and files need not exist here */
	bool windows;
	struct inventory_device *devices; /* sorted by id */
	size_t device_count;
};

/* Called for every change of the list that the kubelet gets. `event` is "appeared", "returned",
 * "unhealthy" (found, but discovery reports that it does not work), "healthy again", "gone" (unhealthy
 * until the grace period ends), "removed" or "on another NUMA node". `device` is borrowed for the
 * call. */
typedef void inventory_event_fn(const char *event, const struct inventory_device *device,
				void *user);

const char *inventory_resource_name(enum inventory_resource resource); /* "display", "compute" */

/* Replaces the devices by those of `snapshot`, without the ones that are withheld. The snapshot is
 * borrowed until the next update. On error the inventory is as it was before. ERROR_LIMIT: more devices or
 * ids than the bounds above; ERROR_MEMORY. */
int inventory_update(struct inventory *inventory, const struct discovery_snapshot *snapshot,
		     uint64_t now_ms, inventory_event_fn *on_event, void *user, struct error *err);

/* Why a device that was found is not offered; NULL when it is. Borrowed from the device. */
const char *inventory_withholds(const struct inventory *inventory,
				const struct discovery_device *device);

/* Why it cannot be assigned to a container, on Windows by its location path; NULL when it can. */
const char *inventory_unassignable(bool windows, const struct discovery_device *device);

/* Milliseconds until the next gone device is due for removal by inventory_update(); UINT64_MAX:
 * none. */
uint64_t inventory_next_removal_ms(const struct inventory *inventory, uint64_t now_ms);

/* An id from the wire to its slot: index into `devices` times `replicas`, plus the replica. The
 * whole id is validated. ERROR_ARGUMENT: malformed; ERROR_NOT_FOUND: no such device, no such
 * replica, or another resource's. */
int inventory_locate(const struct inventory *inventory, enum inventory_resource resource,
		     const char *id, size_t *slot, struct error *err);

void inventory_free(struct inventory *inventory); /* not the structure itself */

/*
 * The kubelet's view of it (wire.c): device ids, "<device id>::<replica>", and the list of them. The
 * suffix is always there, so an id stays the same when the number of replicas changes.
 */

/* Room for any replica. As there are at most 10,000, no id is longer than the 63 characters that
 * the comments of api.proto allow. */
enum { REPLICA_ID_SIZE = INVENTORY_ID_SIZE + (int)sizeof("::4294967295") };

void replica_id_format(const char *device_id, uint32_t replica, char out[REPLICA_ID_SIZE]);

/* Splits an id from the wire; a device id that is too long for any device is cut. A replica is
 * written in decimal without leading zeros. ERROR_ARGUMENT names the id, escaped. */
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
