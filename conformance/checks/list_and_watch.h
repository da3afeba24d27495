/* SPDX-License-Identifier: MIT */
#pragma once

/* Bodies of list-and-watch.*, and shared functions. */

#include "conformance/checks/rig.h"
#include "conformance/checks/tally.h"

/* Is it UTF-8 without control characters? */
bool list_id_is_text(const char *id);

bool list_health_is_known(const struct kubelet_device *device);

/* "RESOURCE" as the plugin under test lists it, sorted by id. The pointers are those of the list; caller frees. */
const struct kubelet_device **list_sorted(const struct kubelet_device_list *list);

/* " 0 1": the device's NUMA nodes. Caller frees. */
char *list_numa_text(const struct kubelet_device *device);

/* Are both ids those of replicas, by their names, of one device (sharing.c)? */
bool list_is_same_device(const char *a, const char *b);

/* May they stand for one device: equal but for the number of a replica, which one of them may lack? */
bool list_may_be_one_device(const char *a, const char *b);

/* Opens a stream, and waits for its first list. The caller frees *out in any case. */
int list_open_stream(struct rig *rig, struct kubelet_plugin *plugin, struct kubelet_stream **out,
		     struct error *err);

/* For checks that need the list of a stream beside the kubelet's. False: the check is recorded as unsupported, because
 * the plugin sends none, which list-and-watch.two-streams judges. */
bool list_need_further(struct rig *rig, const char *resource);

/* Watches without a call (list_watch.c). */
check_body list_idle, list_no_storm;

/* Sums up the lists of all checks (every_list.c). */
check_body list_later_lists;

/* More streams, more resources, and restarts (list_streams.c). */
check_body list_ids_stable, list_two_streams, list_cancel, list_ids_across, list_ids_apart;
