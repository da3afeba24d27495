/* SPDX-License-Identifier: MIT */
#pragma once

/* The plugin's resources that the run's checks have seen so far: rig->known. */

#include "conformance/checks/rig.h"

/* From the file of earlier checks, and for the later ones. */
void rig_read_known(struct rig *rig);
void rig_write_known(const struct rig *rig);

/* Healthy devices now. */
size_t rig_count_healthy(const struct rig *rig, const char *resource);

/* The healthy devices that the resource is known to have; one where nothing is known. */
size_t rig_known_healthy(const struct rig *rig, const char *resource);
void rig_set_known(struct rig *rig, const char *resource, size_t healthy);

/* Adds the resources that the kubelet knows by now. True when a resource or a healthy device is new. */
bool rig_update_known(struct rig *rig);

/* Watches, when nothing is known and the plugin has tried to register: until no attempt, resource
 * or healthy device has come for a while. A plugin without a healthy device gets more time. */
void rig_learn(struct rig *rig);
