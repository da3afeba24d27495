/* SPDX-License-Identifier: MIT */
#ifndef CONFORMANCE_CHECKS_OFFER_H
#define CONFORMANCE_CHECKS_OFFER_H

/* One id of a resource under test: a container that asks for it, and what that container is given.
 */

#include "conformance/checks/grant.h"
#include "conformance/checks/rig.h"

struct offer {
	const char *resource;
	char *id;
	char *pod; /* holds the id while the offer is open; names the container */
	struct kubelet_container_options options;
	struct grant grant; /* read off the answer */
};

/* Admits a container that asks for these ids, the whole way of the kubelet; the first one names the
 * offer. False: recorded, and there is nothing to close. */
bool offer_open(struct rig *rig, struct grant_reader *grants, const struct kubelet_limit *limits,
		size_t count, struct offer *out);

/* The container is gone. An offer that was zeroed, because somebody took it, is left alone. */
void offer_close(struct rig *rig, struct offer *offer);

/*
 * Opens an offer for each healthy id of each resource under test, one after the other, and closes
 * it after `visit`, which returns false to end it all. A container for an id that no answer is
 * given for ends it as well. Many ids take long: after a minute the rest is left out, which a note
 * says. Returns how many ids were visited.
 */
size_t offers_each(struct rig *rig, struct grant_reader *grants,
		   bool (*visit)(struct offer *offer, void *user), void *user);

#endif
