/* SPDX-License-Identifier: MIT */
#pragma once

/* Random events of a node. Event n of a seed is always the same, whatever came before it; so a sequence
 * from which events are left out still means the same. */

#include "base/text.h"
#include "reference-plugin/tests/property/node.h"

enum { CALL_IDS = 4, INSPECTED_EVERY = 1000 };

struct event {
	const struct event_kind *kind;
	unsigned which, resource, device, pod;
	enum device_state state;
	unsigned count[RESOURCES];     /* of a container */
	unsigned strings[2][CALL_IDS]; /* of a call, for two containers */
	unsigned string_count[2];
	unsigned containers;
	id_bits available;
	int size;
};

struct event event_draw(uint64_t seed, size_t index);
void event_describe(const struct event *event, struct text *out);

/* Lets it happen. ERROR_FORMAT: what it did is not what the model expects. */
int event_apply(const struct event *event, struct node *node, struct error *err);
