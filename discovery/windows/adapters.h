/* SPDX-License-Identifier: MIT */
#pragma once

/* A list of adapters under construction; memory is the builder's. */

#include "discovery/builder.h"
#include "discovery/windows/adapter.h"

struct adapters {
	struct builder *builder;
	struct adapter *items;
	size_t count;
};

/* The adapter with this LUID, a new one of which nothing is known yet if there was none. NULL: out
 * of memory, which builder_finish() tells. */
struct adapter *adapters_at(struct adapters *adapters, int64_t luid);
