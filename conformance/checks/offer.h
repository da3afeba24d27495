/* SPDX-License-Identifier: MIT */
#pragma once

/* An id of a resource under test, and what a container with it is given: read off the answer of
 * Allocate at first, and the whole way of the kubelet once a container is to run. */

#include "conformance/checks/granted.h"
#include "conformance/checks/rig.h"

struct offer {
	const char *resource;
	const char *id;
	const char *pod; /* holds the id; NULL: nobody was admitted */
	struct grant grant;
	struct grant edited;	/* with the edits of its CDI devices; empty where it names none */
	struct granted granted; /* read off what a container gets */
};

/* What a container gets by the offer: its grant with the edits of the CDI devices. */
const struct grant *offer_applied(const struct offer *offer);

/* Asks for the answer for one id. On error, which names the id, there is nothing to close. */
int offer_ask(struct rig *rig, const char *resource, const char *id, struct offer *out,
	      struct error *err);

/* Admits a container for an offer that was asked for. False: recorded. */
bool offer_admit(struct rig *rig, struct offer *offer);

/* Admits a container that asks for these ids; the first one names the offer. False: recorded, and
 * there is nothing to close. */
bool offer_open(struct rig *rig, const struct kubelet_limit *limits, size_t count,
		struct offer *out);

/* The container, if there was one, is gone. A zeroed offer, because somebody took it, is left
 * alone. */
void offer_close(struct rig *rig, struct offer *offer);

/* Records as unsupported that neither the answers for so many ids nor their containers show a device
 * of the node. `prefix` stands in front. */
void offer_tell_unseen(struct check_run *run, const char *prefix, size_t count);

/*
 * Asks for each healthy id of each resource under test, one after the other, and closes the offer
 * after `visit`, which returns false to end it all. An id without an answer ends it as well.
 * Of many ids some are asked for, spread over all, and none after a minute, which a note says. Returns
 * how many ids were visited.
 */
size_t offers_each(struct rig *rig, bool (*visit)(struct offer *offer, void *user), void *user);
