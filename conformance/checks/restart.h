/* SPDX-License-Identifier: MIT */
#pragma once

/* Shared by the bodies about restarts of kubelets and plugins: restart.c, restart_events.c,
 * registration_odd.c. */

#include "conformance/checks/rig_usage.h"

check_body registration_in_registry, registration_notified_refusal;
check_body registration_refused, registration_unavailable, registration_answer_delayed,
	registration_before_kubelet, registration_beside_file;
check_body restart_again, restart_leaks, restart_kubelet_absent, restart_register_unanswered,
	restart_kubelet_disconnects, restart_side_by_side, restart_answer_stays, restart_both,
	restart_directory_recreated, restart_during_allocate, restart_at_once, restart_every_end;

/* Is it one through plugins_registry, which rules about Register do not concern? True: recorded. NULL is none. */
bool registration_is_by_watcher(struct rig *rig, const struct kubelet_registration *registration);

/* What is at kubelet.sock before the kubelet comes. */
enum restart_absence { RESTART_NO_SOCKET, RESTART_OTHER_FILE, RESTART_NO_DIRECTORY };

/* rig_ready(); from now on a plugin that ends is started again. */
struct rig *restart_ready(struct check_run *run);

/* The plugin's present run registers; one that ends is started again, once, as by a DaemonSet. */
bool restart_expect_registered(struct rig *rig);

/* Starts a second instance, which becomes the rig's; *older still runs, and is freed after the check. False:
 * recorded. */
bool restart_start_second(struct rig *rig, struct process **older);

/* Every resource lists its devices and allocates one of them; again, if the plugin was UNAVAILABLE. */
void restart_expect_works(struct rig *rig);

/* "RESOURCE ID" of each listed device, with `places` also its NUMA nodes, sorted; and expects that these are listed
 * now. */
void restart_add_devices(struct rig *rig, bool places, struct text_list *out);
void restart_expect_devices(struct rig *rig, bool places, const struct text_list *before,
			    const char *when);
