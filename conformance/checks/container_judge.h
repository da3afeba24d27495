/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Finds what a container holds in addition to its devices and the runtime's own files: one set of rules for
 * every Linux container of a run. stage.c judges each one while its probe is held, whatever the check is
 * about, and the checks of the suite isolation judge theirs by the same rules.
 *
 *   nodes       Device nodes, by number: those of the OCI runtime specification, those of a container
 *               without devices, and nodes of GPUs that the answer hands out. Disks and the node's memory
 *               are findings always. The same holds for what the device cgroup lets the container use.
 *   mounts      Those of the runtime and those of the answer, none of which exposes the node
 *               (host_places.h) or propagates mounts to it.
 *   privileges  Capabilities, seccomp, no_new_privs and namespaces, compared with those of a container
 *               without devices.
 *
 * Where a file system hides its source (overlay, FUSE, network, loop devices) or a folder was not read to
 * its end, the question is open, except for read-only files that a device of the node needs.
 */

#include "base/json.h"
#include "conformance/checks/granted.h"
#include "conformance/checks/host_places.h"
#include "conformance/checks/node_file.h"
#include "conformance/checks/stage.h"

/* The object "container" of isolation.h for a view; `handler` may be NULL, and `grant` is the answer with
 * CDI edits applied, NULL for none. */
cJSON *container_json(const struct container_view *view, const char *handler,
		      const struct grant *grant);

struct container_case {
	const struct context *context;
	const cJSON *container;
	const cJSON
		*bare; /* a container without devices; it may be `container`, or NULL: unknown */
	struct host_places *places;
	bool needs_runtime; /* the answer has entries for the runtime, which may add mounts and nodes */
	const struct granted *devices; /* NULL: any that the answer hands out */
};

struct container_findings {
	struct text_list nodes, mounts, privileges; /* "/etc of the node at /opt/x (read-only)" */
	struct text_list open;			    /* why something is unknown */
	struct text_list notes;
};

void container_findings_free(struct container_findings *findings);
#define CLEANUP_CONTAINER_FINDINGS CLEANUP(container_findings_free)

/* Adds the findings of one container. */
void container_judge(const struct container_case *one, struct container_findings *out);

/* Records findings of some kinds on the check, as "LABEL: ...", or that there are none. */
enum { CONTAINER_NODES = 1, CONTAINER_REACH = 2 };
void container_record(struct check_run *run, const char *label, unsigned kinds,
		      const struct container_findings *findings);

/* A device node of a container's JSON or of a probe's document. */
struct node_number {
	const char *type, *text; /* "character", "226:128" */
	unsigned major, minor;
};

bool node_number_read(const cJSON *node, struct node_number *out);
const cJSON *node_number_find(const cJSON *nodes, const struct node_number *number);

/* Does every container have it, by the OCI runtime specification? */
bool node_number_is_default(const struct node_number *number);

/* May the container have a node of this number? */
bool container_may_have(const struct container_case *one, const struct node_number *number);

/* /dev/mem and the like, and block devices. */
bool node_file_is_of_the_node(const struct node_file *file);

/* A mount of a container's JSON. */
struct container_mount_json {
	const char *path, *type;
	const char *host_path; /* NULL: the host does not see it */
	bool read_only;
	bool granted;  /* the answer names it */
	bool runtimes; /* the runtime mounts it in every container */
};

struct container_mount_json container_mount_read(const struct container_case *one,
						 const cJSON *json);

/* Is it a file that a device of the node needs, or a folder that holds one? */
bool container_holds_driver(const struct context *context, const char *host_path);

/* The element of an array of objects with this "path"; NULL: none. */
const cJSON *container_find_path(const cJSON *array, const char *path);
