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

#include "conformance/kubelet/event.h"

enum kubelet_option_kind {
	KUBELET_OPTION_ENV,
	KUBELET_OPTION_MOUNT,
	KUBELET_OPTION_DEVICE,
	KUBELET_OPTION_ANNOTATION,
	KUBELET_OPTION_CDI_DEVICE,
	KUBELET_OPTION_KINDS
};

const char *kubelet_option_kind_name(enum kubelet_option_kind kind); /* "mount" */

/* Borrowed from the arrays' owner, the kubelet_container_options. */
struct kubelet_env {
	const char *name, *value, *resource; /* annotations use it as well: name is the key */
};

struct kubelet_mount {
	const char *container_path, *host_path, *resource;
	bool read_only;
};

struct kubelet_device_node {
	const char *container_path, *host_path, *permissions, *resource;
};

struct kubelet_cdi_device {
	const char *name, *resource;
};

/* One entry of a response that did not make it. */
struct kubelet_conflict {
	enum kubelet_option_kind kind;
	const char *key;		      /* name or container path */
	const char *winner, *winner_resource; /* value, host path (with mode), NULL when dropped */
	const char *loser, *loser_resource;
	bool same;    /* winner and loser say the same: nothing was lost */
	bool dropped; /* not a conflict: this kubelet never passes such an entry on (CDI on Windows)
		       */
};

struct kubelet_container_options {
	struct kubelet_env *envs;
	size_t env_count;
	struct kubelet_mount *mounts;
	size_t mount_count;
	struct kubelet_device_node *devices;
	size_t device_count;
	struct kubelet_env *annotations;
	size_t annotation_count;
	struct kubelet_cdi_device *cdi_devices;
	size_t cdi_device_count;
	struct kubelet_conflict *conflicts;
	size_t conflict_count;
	struct text_list strings; /* owns everything the arrays point to */
};

/* One response to be merged. */
struct kubelet_answer {
	const char *resource;
	const V1beta1__ContainerAllocateResponse *response;
};

/* Merges in the order given. ERROR_MEMORY. */
int kubelet_container_options_merge(bool windows, const struct kubelet_answer *answers,
				    size_t count, struct kubelet_container_options *out,
				    struct error *err);
void kubelet_container_options_free(struct kubelet_container_options *options);

/* {"envs": [...], "mounts": [...], "devices": [...], "annotations": [...], "cdi_devices": [...],
 * "conflicts": [...]}; NULL when memory ran out. */
cJSON *kubelet_container_options_json(const struct kubelet_container_options *options);
