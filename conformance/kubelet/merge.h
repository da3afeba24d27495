/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a kubelet makes of the AllocateResponses of one container: over all resources the first one
 * wins, by name (envs, annotations, CDI devices) or container path (mounts, devices); of one key
 * that a single answer sends twice, which only a hand-made server does, the last. A kubelet
 * only logs the losers; here they are data. Nothing else is checked or changed: paths go through
 * verbatim.
 *
 * On Windows the kubelet drops CDI devices, and of several DeviceSpecs with the empty container
 * path that containerd demands there, only the first remains (pod_devices.go,
 * container_manager_windows.go, v1.36.2).
 */

#include "containers/grant/grant.h"
#include "rpc/proto/deviceplugin_v1beta1.pb-c.h"

/* One response to be merged. */
struct kubelet_answer {
	const char *resource;
	const V1beta1__ContainerAllocateResponse *response;
};

/* Merges in the order given. ERROR_MEMORY. */
int kubelet_merge(bool windows, const struct kubelet_answer *answers, size_t count,
		  struct grant *out, struct error *err);
