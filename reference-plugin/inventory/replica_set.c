/* SPDX-License-Identifier: MIT */
#include "reference-plugin/inventory/replica_set.h"

#include <stdlib.h>

int replica_set_init(struct replica_set *set, const struct inventory *inventory, struct error *err)
{
	size_t pairs = inventory->device_count * inventory->replicas;

	set->replicas = inventory->replicas;
	set->bits = calloc(pairs / 64 + 1, sizeof(*set->bits));
	set->counts = calloc(inventory->device_count + 1, sizeof(*set->counts));
	return set->bits != NULL && set->counts != NULL ? 0 : error_memory(err);
}

bool replica_set_has(const struct replica_set *set, size_t device, uint32_t replica)
{
	size_t pair = device * set->replicas + replica;

	return (set->bits[pair / 64] >> (pair % 64) & 1) != 0;
}

bool replica_set_add(struct replica_set *set, size_t device, uint32_t replica)
{
	size_t pair = device * set->replicas + replica;

	if (replica_set_has(set, device, replica))
		return false;
	set->bits[pair / 64] |= (uint64_t)1 << (pair % 64);
	set->counts[device]++;
	return true;
}

uint32_t replica_set_count(const struct replica_set *set, size_t device)
{
	return set->counts[device];
}

void replica_set_free(struct replica_set *set)
{
	free(set->bits);
	free(set->counts);
	*set = (struct replica_set){0};
}
