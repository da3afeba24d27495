/* SPDX-License-Identifier: MIT */
#pragma once

/* Allocate: from the ids that the kubelet chose to what each container is given. */

#include "base/error.h"
#include "reference-plugin/answer/answer.h"
#include "reference-plugin/inventory/inventory.h"

/* The kubelet sends one container a call; more than this are refused. */
enum { ALLOCATE_CONTAINERS_MAX = 256 };

struct allocation {
	V1beta1__AllocateResponse message; /* borrows from below, inventory and rules */
	struct answer *answers;
};

/*
 * Answers every container of `request`, in its order. Several replicas of one device give what the
 * device gives once. `out` is zeroed; free it with allocation_free(), also after an error.
 *
 * Every error names the id, escaped. ERROR_ARGUMENT: a malformed id, an id twice in one container,
 * no id, too many containers; ERROR_NOT_FOUND: an id that is not listed; ERROR_UNAVAILABLE: an
 * unhealthy device; and those of answer_build().
 */
int allocate(const struct inventory *inventory, enum inventory_resource resource,
	     const struct answer_rules *rules, const V1beta1__AllocateRequest *request,
	     struct allocation *out, struct error *err);

void allocation_free(struct allocation *allocation);
