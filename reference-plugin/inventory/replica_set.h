/* SPDX-License-Identifier: MIT */
#pragma once

/* A set of (device, replica) pairs of one inventory, with a count for each device. */

#include "base/error.h"
#include "reference-plugin/inventory/inventory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct replica_set {
	uint32_t replicas;
	uint64_t *bits;	  /* one a pair, device-major */
	uint32_t *counts; /* one a device */
};

int replica_set_init(struct replica_set *set, const struct inventory *inventory, struct error *err);
bool replica_set_add(struct replica_set *set, size_t device,
		     uint32_t replica); /* false: was there already */
bool replica_set_has(const struct replica_set *set, size_t device, uint32_t replica);
uint32_t replica_set_count(const struct replica_set *set, size_t device);
void replica_set_free(struct replica_set *set);
