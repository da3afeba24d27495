/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The view from inside a container: the document of probe-visibility (workloads/schema/probe.schema.json,
 * docs/probes.md), and, where the host can inspect the container, its real contents
 * (containers/inspect), which are the truth about device nodes and mounts.
 */

#include "conformance/checks/granted.h"
#include "conformance/runner/check.h"
#include "containers/inspect/inspect.h"

struct observation {
	const cJSON *document;
	const struct container_view *view; /* NULL: the container cannot be inspected */
};

/* The entry of one API in `list` of a document ("/apis"); NULL when the probe does not know it. */
const cJSON *visibility_entry(const cJSON *document, const char *list, const char *api);

/* Do the facts that an API reports (PCI address; vendor and device id) match this device? -1: no, 0: one of
 * them is unknown, 1: yes. */
int visibility_same_address(const struct discovery_device *device, const cJSON *seen);
int visibility_same_model(const struct discovery_device *device, const cJSON *seen);

/* The device of the node that an API shows: by PCI address, by the numbers of its device nodes, by
 * vendor and device id if only one device has them, or, for a software renderer, because the node
 * has one that offers the API. NULL: none, or unknown. */
const struct discovery_device *visibility_device(const struct discovery_snapshot *node,
						 const char *api, const cJSON *device);

/* Adds the devices of the node that the container saw, through an API or as a device node. */
void visibility_identify(const struct discovery_snapshot *node,
			 const struct observation *observation, struct granted *grant);

/*
 * Records that the container saw the granted devices and nothing else: through each API that must
 * answer (a driver that crashed or hung hides devices), again without the variables that hide devices,
 * and as device nodes. `bare` is a container without devices, whose software renderers and device nodes
 * belong to the image and the runtime; NULL: `observation` is that container itself.
 *
 * Hardware without a driver in the answer need not show in an API: the image may bring the driver.
 */
void visibility_expect_only(struct check_run *run, const char *label,
			    const struct observation *observation, const struct observation *bare,
			    const struct granted *grant);

/* Only the device nodes. */
void visibility_expect_nodes(struct check_run *run, const char *label,
			     const struct observation *observation, const struct observation *bare,
			     const struct granted *grant);

/* Does the container hold a node that is this device's and no other's? */
bool visibility_has_own_node(const struct discovery_snapshot *node,
			     const struct discovery_device *device,
			     const struct observation *observation);

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
 * Records, for a container with one device, that its APIs agree about it: PCI address (the domain counts
 * where both report one), LUID, render node, and within one driver the UUID, by which programs find the
 * same device in two APIs. Two drivers of one device (Mesa's and the vendor's) have UUIDs of their own, and
 * so has a part of a device (MIG) with CUDA. Returns how many facts two APIs reported: with 0 nothing was
 * recorded.
 */
size_t agreement_expect(struct check_run *run, const char *label, const cJSON *document);

/* For an API that shows every device of the host whatever was assigned: records that the granted one is
 * among them, by PCI address or as the only one of its model. Unsupported: the host has several of its
 * model. The others are noted. */
void agreement_expect_among(struct check_run *run, const struct discovery_device *device,
			    const cJSON *document);

/*
 * Is the device that a probe worked on the one that its container was granted (identity.c)?
 * Compares all facts that both the probe's document and the enumeration of the node have: PCI ids and
 * address, the numbers of DRM nodes, LUID. UUIDs, which the node does not report, must differ between
 * devices.
 */

/* The UUIDs of other devices so far; zeroed at first. */
struct identity_seen {
	struct text_list uuids;	  /* "UUID" of the device at the same index of `devices` */
	struct text_list devices; /* ids */
};

void identity_seen_free(struct identity_seen *seen);

/*
 * Records each comparison. A software device must be reported as software, and hardware as hardware; on an
 * emulated system every device is software, and nothing else is compared. Unsupported: no comparison
 * distinguishes the device from the others of the node. `seen` may be NULL.
 */
void identity_expect(struct check_run *run, const struct discovery_snapshot *node,
		     const struct discovery_device *device, const cJSON *document,
		     struct identity_seen *seen);
