/* SPDX-License-Identifier: MIT */
#pragma once

/* The resources of the device manager (manager.go: endpoints, healthyDevices, unhealthyDevices). */

#include "conformance/kubelet/id_set.h"
#include "conformance/kubelet/state.h"

struct resource {
	struct resource *next;
	char *name;
	struct kubelet_plugin *endpoint; /* NULL: known only from the checkpoint */
	bool stopped;			 /* the endpoint's stop time is set */
	uint64_t stopped_ms;		 /* kubelet_elapsed_ms() */
	bool listed;
	bool relisted;			    /* and since the last registration */
	struct kubelet_device_list devices; /* the last message */
	struct id_set healthy, unhealthy;
	/* Neither in use nor free: chosen for a container whose Allocate failed (manager.go,
	 * allocateContainerResources: allocatedDevices is not restored). */
	struct id_set leaked;
	bool reported; /* the next two */
	size_t reported_capacity, reported_allocatable;
};

struct resource *resource_find(const struct kubelet *kubelet, const char *name);
/* The plugin answers Allocate from now on. */
void resource_serve(struct kubelet *kubelet, struct kubelet_plugin *plugin);
void resource_list(struct kubelet *kubelet, const char *name,
		   const struct kubelet_device_list *devices);
void resource_disconnected(struct kubelet *kubelet, const char *name);
/* From the checkpoint: a stopped endpoint without devices. */
void resource_recall(struct kubelet *kubelet, const char *name);
void resources_report(struct kubelet *kubelet); /* those of the checkpoint */
void resource_leak(struct kubelet *kubelet, const char *name, const struct id_set *ids);
/* Counts devices in use again, from the containers: nothing is leaked any more. */
void resources_recount(struct kubelet *kubelet);
void resources_sweep(struct kubelet *kubelet); /* grace periods */
void resources_free(struct kubelet *kubelet);
