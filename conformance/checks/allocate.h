/* SPDX-License-Identifier: MIT */
#pragma once

/* Answers of Allocate, and their verdicts: shared by the suites "allocate" and "windows". */

#include "conformance/checks/rig.h"

/* Allocates and records that it worked and holds a container response. Returns that response or
 * NULL; it belongs to the reply, which the caller frees. A plugin may refuse several ids in one call,
 * with a reason, when two of them stand for one device, and on Windows, where kubelets up to 1.36 pass
 * only the first one on: NULL then, with a note. It may refuse an id that has turned unhealthy: the
 * check is unsupported then. */
const V1beta1__ContainerAllocateResponse *allocate_expect(struct rig *rig, const char *resource,
							  const char *const *ids, size_t count,
							  const char *what,
							  struct rpc_answer *reply);

/* The same for the first id; and that the plugin still serves. False: recorded. */
bool allocate_expect_first(struct rig *rig, const struct rig_item *item, const char *what);
void allocate_expect_serves(struct rig *rig, const struct rig_item *item);

/* Allocates and records whether there is an answer, which may be a refusal. */
bool allocate_expect_answered(struct rig *rig, const char *resource, const char *const *ids,
			      size_t count, struct rpc_answer *reply);

/* Allocates on a connection of its own to the plugin's socket. Errors of rpc_channel_open() and
 * rpc_unary_answer(). */
int allocate_on_socket(struct rig *rig, const char *socket, const char *id,
		       struct rpc_answer *reply, struct error *err);

/* Is the reply to several ids a refusal that is allowed? Then a note reports it. Asks the plugin for up to 64 of them one by
 * one. */
bool allocate_accept_refusal(struct rig *rig, const char *resource, const char *const *ids,
			     size_t count, const struct rpc_answer *reply);

/* The same for all ids of the resource in one call, up to a number. */
const V1beta1__ContainerAllocateResponse *
allocate_together(struct rig *rig, const struct rig_item *item, struct rpc_answer *reply);

/* Calls `judge` with the answer for each id, one by one; of very many ids only for a spread-out
 * sample, which a note reports. */
void allocate_for_each(struct rig *rig, const struct rig_item *item, check_judge *judge);

/* The same, and then with the answer for several of them at once, whose item has `ids` in place of `id`; all of these items
 * have `user`. A refusal of several is allocate.each-and-all's business. */
void allocate_for_each_and_all(struct rig *rig, const struct rig_item *item, check_judge *judge,
			       void *user);

/* One verdict about all of a resource's answers: the row's param. */
struct allocate_rule {
	const char *what, *wanted; /* of the tally, which is the `user` of the judge's items */
	const char *none;	   /* why the row does not apply if the judge tallies nothing */
	check_judge *judge;
};
check_judge allocate_tally;

enum allocate_members {
	/* Everything that a container gets. The order of lists does not matter, also of comma-separated names in
	 * a value, nor do the keys of CDI annotations. */
	ALLOCATE_ALL,
	/* Device nodes, mounted files, CDI devices and names of variables: a plugin may invent a value or a folder for
	 * each container. */
	ALLOCATE_GRANTED,
	/* Device nodes at any path, CDI devices, and names: a plugin may number the paths of a container by the order of
	 * the ids, and invent values and files for each container. */
	ALLOCATE_SHAPE,
	/* Device nodes, mounted files and CDI devices of the first answer that the second one lacks. */
	ALLOCATE_ADDED,
};

enum { ALLOCATE_SHOWN = 200 };

/* A member in which two answers differ: "mounts[/a] = /b (read-only)", cut and escaped. */
struct allocate_difference {
	bool found;
	bool is_device; /* a device node, which is shown before other members */
	char first[ALLOCATE_SHOWN], second[ALLOCATE_SHOWN];
};

/* Do the answers differ? Fills the first difference. */
bool allocate_differ(enum allocate_members members, const V1beta1__ContainerAllocateResponse *first,
		     const V1beta1__ContainerAllocateResponse *second,
		     struct allocate_difference *out);

/* Does the plugin give one id the same answer twice? Many invent values or folders for each container. */
bool allocate_is_stable(struct rig *rig, const struct rig_item *item);

/* Do two answers differ: for a stable plugin in anything, else in a device node? */
bool allocate_changed(bool stable, const V1beta1__ContainerAllocateResponse *first,
		      const V1beta1__ContainerAllocateResponse *second,
		      struct allocate_difference *out);

/* Do two answers hand out the same device nodes and CDI devices, at whatever paths of the container; without any, do
 * their variables have the same values? Fills the first difference. */
bool allocate_same_sources(const V1beta1__ContainerAllocateResponse *first,
			   const V1beta1__ContainerAllocateResponse *second,
			   struct allocate_difference *out);

/* Records whether two answers mean the same, and returns it. A NULL answer was recorded before, and counts as the
 * same. */
bool allocate_expect_same(struct rig *rig, const char *what, enum allocate_members members,
			  const V1beta1__ContainerAllocateResponse *first,
			  const V1beta1__ContainerAllocateResponse *second);

enum { ALLOCATE_KEPT_MAX = 16 };

/* Answers for one id each, kept over restarts to be compared with later ones. */
struct allocate_kept {
	size_t count;
	struct allocate_kept_answer {
		const char *resource, *id;
		struct rpc_answer reply;
		const V1beta1__ContainerAllocateResponse *answer; /* in the reply */
	} each[ALLOCATE_KEPT_MAX];
};

/* Allocates the id and keeps the answer, up to that number. False: recorded as by allocate_expect(). */
bool allocate_keep(struct rig *rig, const char *resource, const char *id,
		   struct allocate_kept *kept);
void allocate_kept_free(struct allocate_kept *kept);
#define CLEANUP_ALLOCATE_KEPT CLEANUP(allocate_kept_free)

/* Judges of the answer's content (allocate_answer.c), for each resource. */
check_judge allocate_paths_exist, allocate_unique_paths;

/* Rules about its names of variables, annotations and permissions (allocate_members.c). */
extern const struct allocate_rule allocate_variable_names, allocate_cdi_names, allocate_permissions;

/* Whether it replaces files of a container or exposes the node to it, also by CDI devices (allocate_harm.c). */
check_judge allocate_read_only;
extern const struct allocate_rule allocate_harmless_variables;

/* Requests that are malformed, many at once, or cancelled (allocate_requests.c). */
check_judge allocate_duplicate_id, allocate_no_requests, allocate_parallel,
	allocate_parallel_clients, allocate_cancelled, allocate_size;
check_body allocate_unhealthy_id, allocate_files_stay;

/* Answers must not depend on other calls, other ids or a restart (allocate_later.c). */
check_judge allocate_independent;
check_body allocate_lists_stay, allocate_after_restart;

/* Several resources in one container (allocate_members.c). */
check_body allocate_across_resources;

/* The body of allocate.cdi-*, and the params of their rows. Where no answer names a CDI device they do not apply. */
check_body allocate_cdi, allocate_one_device;
extern const struct allocate_cdi_rule allocate_cdi_resolves, allocate_cdi_specs, allocate_cdi_files,
	allocate_cdi_agrees, allocate_cdi_once, allocate_cdi_one_device;
