/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Is the device that a probe worked on the one that its container was granted? Everything that both
 * the probe's document and the enumeration of the node tell is compared: PCI ids and address, the
 * numbers of DRM nodes, LUID. UUIDs, which the node does not tell, must differ between devices.
 */

#include "conformance/runner/check.h"

#include <cjson/cJSON.h>
#include <gpucert/discovery.h>

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
