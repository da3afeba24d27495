/* SPDX-License-Identifier: MIT */
#include "discovery/windows/adapter.h"

struct adapter *adapters_at(struct adapters *adapters, int64_t luid)
{
	for (size_t i = 0; i < adapters->count; i++) {
		if (adapters->items[i].luid == luid)
			return &adapters->items[i];
	}
	struct adapter *grown = arena_grow(&adapters->builder->arena, adapters->items,
					   adapters->count, sizeof(*grown));
	if (grown == NULL)
		return NULL;
	adapters->items = grown;
	grown[adapters->count] = (struct adapter){
		.luid = luid,
		.description = "",
		.ids = {ADAPTER_ID_UNKNOWN, ADAPTER_ID_UNKNOWN, ADAPTER_ID_UNKNOWN,
			ADAPTER_ID_UNKNOWN},
		.dedicated_memory = DISCOVERY_UNKNOWN,
		.shared_memory = DISCOVERY_UNKNOWN,
		.hardware = true,
	};
	return &grown[adapters->count++];
}
