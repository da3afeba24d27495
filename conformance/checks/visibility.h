/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a container saw: the document of probe-visibility (workloads/schema/probe.schema.json,
 * docs/probes.md), and, where the host can look into the container, what really is in it
 * (containers/inspect), which is the truth about device nodes and mounts.
 */

#include "conformance/checks/granted.h"
#include "conformance/runner/check.h"
#include "containers/inspect/inspect.h"

struct sight {
	const cJSON *document;
	const struct container_view *view; /* NULL: the container cannot be looked into */
};

/* The entry of one API in `list` of a document ("/apis"); NULL when the probe does not know it. */
const cJSON *visibility_entry(const cJSON *document, const char *list, const char *api);

/* Whether what an API tells (its PCI address; vendor and device id) is said of this device: -1 no, 0
 * nothing is told of both, 1 yes. */
int visibility_same_address(const struct discovery_device *device, const cJSON *seen);
int visibility_same_model(const struct discovery_device *device, const cJSON *seen);

/* The device of the node that an API shows: by PCI address, by the numbers of its device nodes, by
 * vendor and device id where that is one device's, or, for a software renderer, because the node
 * has one that offers the API. NULL: none, or it cannot be told. */
const struct discovery_device *visibility_device(const struct discovery_snapshot *node,
						 const char *api, const cJSON *device);

/* Adds the devices of the node that the container saw, through an API or as a device node. */
void visibility_identify(const struct discovery_snapshot *node, const struct sight *sight,
			 struct granted *grant);

/*
 * Records that the container saw the granted devices and nothing else: through each API that could
 * tell (a driver that crashed or hung hides devices), once more where no variable hid anything, and
 * as device nodes. `bare` is a container without devices, whose software renderers and device nodes
 * are the image's and the runtime's own; NULL: `sight` is that container itself.
 *
 * Hardware of which the answer brings no driver need not show in an API: its image brings it.
 */
void visibility_expect_only(struct check_run *run, const char *label, const struct sight *sight,
			    const struct sight *bare, const struct granted *grant);

/* The device nodes alone. */
void visibility_expect_nodes(struct check_run *run, const char *label, const struct sight *sight,
			     const struct sight *bare, const struct granted *grant);

/* Does the container hold a node that is this device's and no other's? */
bool visibility_has_own_node(const struct discovery_snapshot *node,
			     const struct discovery_device *device, const struct sight *sight);

/* Does a device node with this number belong to the device? */
bool visibility_is_node_of(const struct discovery_device *device, bool block, unsigned major,
			   unsigned minor);

/* Records that two containers saw the same devices, or that no hardware was seen by both, by the
 * APIs' own identifiers. */
void visibility_expect_same_devices(struct check_run *run, const cJSON *first, const cJSON *second);
void visibility_expect_different_devices(struct check_run *run, const cJSON *first,
					 const cJSON *second);

/* The devices that an API showed: those without the variables that hide some, or else, where a
 * variable leads to the driver, those with them. NULL where it did not answer (agreement.c). */
const cJSON *agreement_shown(const cJSON *document, const char *api);

/*
 * Records, for a container with one device, that what its APIs tell of it is the same: PCI address (the
 * domain counts where both tell one), LUID, render node, and within one driver the UUID, by which
 * programs find the same device in two APIs. Two drivers of one device (Mesa's and the vendor's) have
 * UUIDs of their own, and so has a part of a device (MIG) with CUDA. Returns how many facts were told
 * by two APIs: with 0 nothing was recorded.
 */
size_t agreement_expect(struct check_run *run, const char *label, const cJSON *document);

/* For an API that shows every device of the host whatever was assigned: records that the granted one is
 * among them, by PCI address or as the only one of its model. Unsupported: it cannot be told from
 * others of its model. The others are noted. */
void agreement_expect_among(struct check_run *run, const struct discovery_device *device,
			    const cJSON *document);

/*
 * Is the device that a probe worked on the one that its container was granted (identity.c)?
 * Everything that both the probe's document and the enumeration of the node tell is compared: PCI
 * ids and address, the numbers of DRM nodes, LUID. UUIDs, which the node does not tell, must differ
 * between devices.
 */

/* What was seen of other devices; zeroed at first. */
struct identity_seen {
	struct text_list uuids;	  /* "UUID" of the device at the same index of `devices` */
	struct text_list devices; /* ids */
};

void identity_seen_free(struct identity_seen *seen);

/*
 * Records what agrees and what does not. A software device must be one, and a device of hardware
 * must not; on an emulated system every device is software, and nothing more is compared there.
 * Unsupported is recorded when nothing could be compared that tells the device from the others of
 * the node. `seen` may be NULL.
 */
void identity_expect(struct check_run *run, const struct discovery_snapshot *node,
		     const struct discovery_device *device, const cJSON *document,
		     struct identity_seen *seen);
