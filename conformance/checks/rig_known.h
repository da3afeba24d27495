/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a plugin offers is not known before it has registered, and there is no sign that it has
 * registered all. So the first check of a run watches until nothing new comes, and leaves what it
 * saw to the later ones, which wait for just that: rig->known is {resource: healthy devices}, and
 * resources.json in the run's directory.
 */

#include "conformance/checks/rig.h"

enum { RIG_HEALTHY_MS = 30000 }; /* devices may be listed, or turn healthy, later */

/* Reads what earlier checks of the run have learned, if that was not done yet. */
void rig_known_read(struct rig *rig);
void rig_known_write(const struct rig *rig);

/* The healthy devices that the resource is known to have; one where nothing is known. */
size_t rig_known_healthy(const struct rig *rig, const char *resource);
void rig_known_set(struct rig *rig, const char *resource, size_t healthy);

/* Adds what the kubelet knows by now. True when a resource or a healthy device is new. */
bool rig_known_update(struct rig *rig);

/* Watches, when nothing is known and the plugin has tried to register: until no attempt, resource
 * or healthy device has come for a while. A plugin without a healthy device is given more time. */
void rig_known_learn(struct rig *rig);

/* The healthy devices of the resource now. */
size_t rig_healthy(const struct rig *rig, const char *resource);
