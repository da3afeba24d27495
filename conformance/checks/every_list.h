/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Every device list of a run is judged, whatever the check is about: devices that are listed twice after a
 * kubelet's restart are seen by a check of restarts, which judges something else.
 * list-and-watch.later-lists sums up what is kept (every_check.h).
 */

#include "conformance/checks/rig.h"

/* Other checks judge the first list of a resource in a check; where it is not sound, later ones are not judged. */
void every_list_see(struct rig *rig, const struct kubelet_event *event);

/* Keeps what was seen since the last call. */
void every_list_keep(struct rig *rig);
void every_list_free(struct every_list *lists);
