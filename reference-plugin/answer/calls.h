/* SPDX-License-Identifier: MIT */
#pragma once

/* The two calls about ids: what containers get for the ids that the kubelet chose (allocate.c), and
 * which ids it should choose (prefer.c). */

#include "reference-plugin/answer/answer.h"
#include "reference-plugin/inventory/inventory.h"

/* In either call. The kubelet sends one container a call; more than this are refused. */
enum { CALL_CONTAINERS_MAX = 256 };

struct allocation {
	V1beta1__AllocateResponse message; /* borrows from below, inventory and rules */
	struct answer *answers;
};

/*
 * Answers every container of `request`, in its order. Several replicas of one device give the device
 * once. `out` is zeroed; free it with allocation_free(), also after an error.
 *
 * Every error names the id, escaped. ERROR_ARGUMENT: a malformed id, an id twice in one container,
 * no id, too many containers; ERROR_NOT_FOUND: an id that is not listed; ERROR_UNAVAILABLE: an
 * unhealthy device; and those of answer_build().
 */
int allocate(const struct inventory *inventory, enum inventory_resource resource,
	     const struct answer_rules *rules, const V1beta1__AllocateRequest *request,
	     struct allocation *out, struct error *err);

void allocation_free(struct allocation *allocation);

/*
 * GetPreferredAllocation: which of the available ids the kubelet should choose.
 *
 * 1. Everything that must be included is.
 * 2. NUMA first: what is left comes from as few NUMA nodes as possible, beginning with the nodes
 * that the ids that must be included lie on.
 * 3. Within a node, `spread` takes a replica of the device that the answer uses least and that has
 * most replicas available, so containers end on different physical devices; `pack` fills a device
 * that the answer uses already, and otherwise takes the device with the fewest available replicas
 * that suffice, so whole devices stay free.
 * 4. On Windows, where a container can have one device, before 2 and 3: all of it from one device,
 * if one can give all; of several, spread takes the one with most replicas available, pack the one
 * with least to spare.
 * 5. Ties are broken by id. The same question has the same answer, whatever the order of its ids.
 *
 * Time is proportional to the size asked for times the number of devices.
 */

enum prefer_policy { PREFER_SPREAD, PREFER_PACK };

/*
 * Available ids that are not listed (any more) and those of unhealthy devices are skipped, because
 * an error here would fail the pod; so an answer may be shorter than requested, and the kubelet
 * adds to it. The caller frees *out, also after an error, with
 * v1beta1__preferred_allocation_response__free_unpacked().
 *
 * ERROR_ARGUMENT: a negative size, one that is smaller than what must be included, too many
 * containers; ERROR_ARGUMENT, ERROR_NOT_FOUND: an id that must be included and is malformed or not
 * listed; ERROR_MEMORY.
 */
int prefer(const struct inventory *inventory, enum inventory_resource resource,
	   enum prefer_policy policy, const V1beta1__PreferredAllocationRequest *request,
	   V1beta1__PreferredAllocationResponse **out, struct error *err);
