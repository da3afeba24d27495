/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Everything that device plugins grant a container: filled by the kubelet's merge of their answers
 * (conformance/kubelet/pod.h), read by checks, translated for the Wine node, and sent to the
 * container runtime (containers/launch/). Paths, names and values are as the plugins sent them:
 * launch_check_grant() judges them.
 */

#include "base/error.h"
#include "base/text.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

enum grant_kind {
	GRANT_ENV,
	GRANT_MOUNT,
	GRANT_DEVICE, /* device node; on Windows only a device string, as the host path */
	GRANT_ANNOTATION,
	GRANT_CDI_DEVICE, /* only a name */
	GRANT_KINDS
};

struct grant_entry {
	/* The key: unique among the entries of a kind. */
	union {
		const char *name;
		const char *container_path;
	};
	union {
		const char *value;
		const char *host_path;
	};
	const char *permissions; /* device node: some of "rwm" */
	bool read_only;		 /* mount */
	const char *resource;	 /* whose plugin granted it; NULL: none */
};

struct grant_list {
	struct grant_entry *items;
	size_t count;
};

/* Goes through the entries of a list. */
#define grant_each(entry, list)                                                                    \
	for (const struct grant_entry *(entry) = (list)->items;                                    \
	     (size_t)((entry) - (list)->items) < (list)->count; (entry)++)

/* An entry of an answer that was left out, because another one has its key. */
struct grant_conflict {
	enum grant_kind kind;
	const char *key;
	const char *winner, *winner_resource; /* value, host path (with mode), NULL when dropped */
	const char *loser, *loser_resource;
	bool same;    /* winner and loser are equal: nothing was lost */
	bool dropped; /* not a conflict: this kubelet does not pass the entry on (CDI on Windows) */
};

/* Empty when zeroed. */
struct grant {
	union {
		struct {
			struct grant_list envs, mounts, devices, annotations, cdi_devices;
		};
		struct grant_list lists[GRANT_KINDS];
	};
	struct grant_conflict *conflicts;
	size_t conflict_count;
	struct text_list strings; /* owns what the entries point to */
};

#define CLEANUP_GRANT __attribute__((cleanup(grant_free)))

/* Adds a copy of the entry, in constant time. The resource is not copied (grant_keep()). */
void grant_add(struct grant *grant, enum grant_kind kind, const struct grant_entry *entry);
void grant_add_conflict(struct grant *grant, const struct grant_conflict *conflict);

/* Replaces *string, which may be NULL, by a copy that lives as long as the grant. */
void grant_keep(struct grant *grant, const char **string);
void grant_free(struct grant *grant);

/* Annotations with this prefix hold names of CDI devices, separated by commas (pkg/cdi/annotations.go
 * of cncf-tags/container-device-interface). */
#define GRANT_CDI_ANNOTATION "cdi.k8s.io/"

/* Does it name CDI devices, as such or in annotations? */
bool grant_names_cdi(const struct grant *grant);

/* Adds these names, each once. */
void grant_list_cdi(const struct grant *grant, struct text_list *names);

/* Does it mount a shared library as a file? Mounts below /dev are links to device nodes. */
bool grant_brings_library(const struct grant *grant);

/* {"envs": [...], "mounts": [...], "devices": [...], "annotations": [...], "cdi_devices": [...],
 * "conflicts": [...]} */
cJSON *grant_json(const struct grant *grant);
