/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a container is given by device plugins: filled by the kubelet's merge of their answers
 * (conformance/kubelet/pod.h), read by checks, translated for the Wine node, and sent to the
 * container runtime (containers/launch/). The same structure all the way. Paths, names and values
 * are the plugins' own words: launch_check_grant() judges them.
 */

#include "base/error.h"
#include "base/text.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

enum grant_kind {
	GRANT_ENV,
	GRANT_MOUNT,
	GRANT_DEVICE, /* device node; on Windows a device string as the host path, nothing else */
	GRANT_ANNOTATION,
	GRANT_CDI_DEVICE, /* a name, nothing else */
	GRANT_KINDS
};

struct grant_entry {
	/* The key, by which the entries of a kind are told apart. */
	union {
		const char *name;
		const char *container_path;
	};
	union {
		const char *value;
		const char *host_path;
	};
	const char *permissions; /* of a device node: some of "rwm" */
	bool read_only;		 /* a mount */
	const char *resource;	 /* whose plugin gave it; NULL: nobody's */
};

struct grant_list {
	struct grant_entry *items;
	size_t count;
};

/* Goes through the entries of a list. */
#define grant_each(entry, list)                                                                    \
	for (const struct grant_entry *(entry) = (list)->items;                                    \
	     (size_t)((entry) - (list)->items) < (list)->count; (entry)++)

/* An entry of an answer that was left out, because an earlier one has its key. */
struct grant_conflict {
	enum grant_kind kind;
	const char *key;
	const char *winner, *winner_resource; /* value, host path (with mode), NULL when dropped */
	const char *loser, *loser_resource;
	bool same;    /* winner and loser say the same: nothing was lost */
	bool dropped; /* not a conflict: this kubelet passes no such entry on (CDI on Windows) */
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

/* Adds a copy of the entry, in constant time; of the resource alone the pointer (grant_keep()).
 * ERROR_MEMORY. */
int grant_add(struct grant *grant, enum grant_kind kind, const struct grant_entry *entry,
	      struct error *err);
int grant_add_conflict(struct grant *grant, const struct grant_conflict *conflict,
		       struct error *err); /* as above, both resources being kept already */

/* Replaces *string, which may be NULL, by a copy that lives as long as the grant. ERROR_MEMORY. */
int grant_keep(struct grant *grant, const char **string, struct error *err);
void grant_free(struct grant *grant);

/* Annotations with this prefix hold names of CDI devices, with commas between them (pkg/cdi/annotations.go
 * of cncf-tags/container-device-interface). */
#define GRANT_CDI_ANNOTATION "cdi.k8s.io/"

/* Does it name CDI devices, as such or in annotations? */
bool grant_names_cdi(const struct grant *grant);

/* Adds these names, each once. ERROR_MEMORY. */
int grant_list_cdi(const struct grant *grant, struct text_list *names, struct error *err);

/* Does it mount a shared library as such? Below /dev lie links to device nodes. */
bool grant_brings_library(const struct grant *grant);

/* {"envs": [...], "mounts": [...], "devices": [...], "annotations": [...], "cdi_devices": [...],
 * "conflicts": [...]}; NULL when memory ran out. */
cJSON *grant_json(const struct grant *grant);
