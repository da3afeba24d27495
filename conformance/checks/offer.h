/* SPDX-License-Identifier: MIT */
#pragma once

/* An id of a resource under test, and the grant of a container with it: at first from the answer to
 * Allocate, and from the whole admission by the kubelet once a container is to run. */

#include "conformance/checks/granted.h"
#include "conformance/checks/rig.h"

struct offer {
	const char *resource;
	const char *id;
	const char *pod; /* holds the id; NULL: no container was admitted */
	struct grant grant;
	struct grant edited;	/* with the edits of its CDI devices; empty if it names none */
	struct granted granted; /* the devices of the grant */
};

/* The offer's grant with the edits of its CDI devices. */
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

/* Releases its container, if it has one. Nothing to do for a zeroed offer, whose contents were moved. */
void offer_close(struct rig *rig, struct offer *offer);

/* Records as unsupported that neither the answers for `count` ids nor their containers show a device of
 * the node. `prefix` begins the reason. */
void offer_report_unseen(struct check_run *run, const char *prefix, size_t count);

/*
 * Asks for each healthy id of each resource under test, one after the other, and closes the offer
 * after `visit`, which returns false to end the walk. An id without an answer ends it as well. A note
 * reports when only a sample of many ids was asked for, or when it stopped after a minute. Returns
 * the number of visited ids.
 */
size_t offers_each(struct rig *rig, bool (*visit)(struct offer *offer, void *user), void *user);
