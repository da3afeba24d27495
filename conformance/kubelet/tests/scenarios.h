/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a kubelet v1.36.2 does, scenario by scenario. The expected lines come from its source
 * (pkg/kubelet/cm/devicemanager, pkg/kubelet/pluginmanager), from grpc-go and protobuf-go, and from
 * runs of the real device manager; never from the fake one. test_scenarios.c interprets them.
 *
 * A scenario is a script, one step a line:
 *
 *   plugin {...}           starts a scripted plugin (script_help()); the first is number 0
 *   list N {...}           it sends a list: "devices" or "device_count" of a script
 *   fill N COUNT EXTRA     it sends devices of 64 bytes each, the last EXTRA bytes longer
 *   stop N                 it ends in order
 *   cut N                  it ends without a word
 *   unlink N               its socket file is removed
 *   goaway N               it says GOAWAY on every connection
 *   folder PATH            is made in REG
 *   admit POD/NAME COUNT   a container wants devices; "init" or "sidecar" may follow
 *   start POD/NAME         the container is started
 *   remove POD             the pod is gone
 *   advance MS             so much time passes
 *   restart                the kubelet stops and starts
 *   during CALL STEP       the step is done when a plugin gets this call
 *   < LINE                 what happens next; '*' stands for anything
 *   = CAPACITY/ALLOCATABLE USED    what the node shows; or "= unknown"
 *
 * Lines that can be expected, each as soon as it happens:
 *
 *   registered, answer CODE TEXT, abandoned    how Register ended
 *   list COUNT, end CODE TEXT                  ListAndWatch
 *   resource CAPACITY/ALLOCATABLE, removed     the node's status
 *   preferred IDS, allocate IDS CODE, pre-start CODE
 *   admitted POD/NAME, rejected TEXT           an admission, or the start of a container
 *   container envs=N mounts=N devices=N annotations=N cdi=N
 *   told TEXT                                  NotifyRegistrationStatus of a refusal
 *   notified TEXT                              NotifyRegistrationStatus failed
 *   swept, problem TEXT
 *
 * DIR and REG stand for the directories of plugins in texts.
 */

#include "conformance/kubelet/kubelet.h"

struct scenario {
	const char *title;
	const char *script;
	enum kubelet_profile profile;
	unsigned dial_ms, pre_start_ms; /* 0: the kubelet's own */
};

extern const struct scenario scenarios[];
extern const size_t scenario_count;
