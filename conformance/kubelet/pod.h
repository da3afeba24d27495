/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Containers that request devices. A container belongs to a pod, named by its uid; both exist from
 * their first admission to kubelet_remove_pod(). Sources: manager.go (devicesToAllocate,
 * allocateContainerResources, GetDeviceRunContainerOptions) of kubelet v1.36.2.
 */

#include "conformance/kubelet/kubelet.h"
#include "containers/grant/grant.h"

struct kubelet_limit {
	const char *resource;
	size_t count;
	/* These `count` devices: a choice that the kubelet could make, without the plugin's
	 * preference. NULL: the kubelet chooses. */
	const char *const *ids;
};

enum kubelet_container_kind {
	KUBELET_CONTAINER_APP,
	/* Its devices are offered first to the later containers of the pod, which leads to a second
	 * Allocate of the same ids. */
	KUBELET_CONTAINER_INIT,
	KUBELET_CONTAINER_RESTARTABLE_INIT, /* keeps its devices */
};

struct kubelet_container {
	const char *pod, *name;
	enum kubelet_container_kind kind;
	const struct kubelet_limit *limits;
	size_t limit_count;
	uint64_t numa_mask; /* topology hint: bit n is NUMA node n; 0: no hint */
};

/* The outcome of an admission or a start: what the kubelet writes into the pod's status. */
struct kubelet_outcome {
	bool accepted;
	const char *
		reason; /* "UnexpectedAdmissionError", "CreateContainerError"; NULL when accepted */
	char *message;	/* with the kubelet's wording; NULL when accepted */
};

void kubelet_outcome_free(struct kubelet_outcome *outcome);

/*
 * Chooses devices and calls GetPreferredAllocation and Allocate, one resource after the other. A
 * refusal, by the device model or by the plugin, is an outcome and not an error. Resources that
 * nobody registered are refused. A container that was admitted before is admitted again without any
 * call, as on its restart.
 *
 * A kubelet has no deadline for these calls: `timeout_ms` is for each of them, and when it passes
 * the call is cancelled and ERROR_TIMEOUT returned; the container then holds nothing.
 * ERROR_CANCELLED after kubelet_interrupt().
 */
int kubelet_admit(struct kubelet *kubelet, const struct kubelet_container *container,
		  uint64_t timeout_ms, struct kubelet_outcome *out, struct error *err);

/*
 * Before each start of an admitted container: PreStartContainer for every resource whose plugin
 * requires it, then the merge of the cached responses in random order of resources. A
 * refusal is an outcome; `grant` is filled when accepted. Errors as kubelet_admit();
 * ERROR_NOT_FOUND for a container that was never admitted.
 */
int kubelet_start_container(struct kubelet *kubelet, const char *pod, const char *container,
			    uint64_t timeout_ms, struct kubelet_outcome *out, struct grant *grant,
			    struct error *err);

/* The pod is gone: its devices are free again. No call notifies plugins. */
void kubelet_remove_pod(struct kubelet *kubelet, const char *pod);

/*
 * How a kubelet merges the AllocateResponses of one container: over all resources the first entry
 * wins, by name (envs, annotations, CDI devices) or container path (mounts, devices); if a single
 * answer sends a key twice, which only a hand-made server does, the last one wins. A kubelet only
 * logs the losers; here they are data. Nothing else is checked or changed: paths are kept verbatim.
 *
 * On Windows the kubelet drops CDI devices, and of several DeviceSpecs with the empty container
 * path that containerd demands there, only the first remains (pod_devices.go,
 * container_manager_windows.go, v1.36.2).
 */

/* Goes through a list of an answer: its mounts, devices, envs, annotations or cdi_devices. */
#define answer_each(entry, answer, list)                                                           \
	for (__typeof__(*(answer)->list) *entry##_at = (answer)->list, (entry) = NULL;             \
	     (size_t)(entry##_at - (answer)->list) < (answer)->n_##list &&                         \
	     ((entry) = *entry##_at) != NULL;                                                      \
	     entry##_at++)

/* One response to be merged. */
struct kubelet_answer {
	const char *resource;
	const V1beta1__ContainerAllocateResponse *response;
};

/* Merges in the order of `answers`. */
void kubelet_merge(bool windows, const struct kubelet_answer *answers, size_t count,
		   struct grant *out);
