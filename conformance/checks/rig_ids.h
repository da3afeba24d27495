/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Devices of a live node that its pods hold (context->held). No check asks the plugin for them: Allocate and
 * PreStartContainer may reset a device.
 */

#include "conformance/checks/granted.h"
#include "conformance/checks/rig.h"

/* The pod that holds this id, another id that may be the same device's, or the device of the node that the id names; NULL:
 * none is known. */
const struct held_device *rig_holder(const struct rig *rig, const char *resource, const char *id);

/* The same, for struct kubelet_options; the rig is `user`. */
bool rig_is_held(const char *resource, const char *id, void *user);

/* The pod with an id, of any resource, that names this device of the node. */
const struct held_device *rig_device_holder(const struct rig *rig,
					    const struct discovery_device *device);

/* "busy: gpu-0 is held by pod default/train, container main". Lives as long as the check. */
const char *rig_busy(const struct rig *rig, const char *what, const struct held_device *held);

/* Adds the healthy ids of a resource that no pod holds, sorted and each once, and to `busy` who holds the others: the
 * first time with a note. Returns how many others there are. */
size_t rig_free_ids(struct rig *rig, const char *resource, struct text_list *ids,
		    struct text *busy);
