/* SPDX-License-Identifier: MIT */
#include "conformance/checks/sights.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/members.h"
#include "base/path.h"
#include "conformance/runner/context.h"
#include "containers/offers.h"

#include <string.h>

static const char file_name[] = "sights.json";

/* Is it the mount of an entry of the answer, or one that came with it? */
static bool is_granted(const struct container_mount *mount, const struct grant *grant)
{
	for (size_t i = 0; grant != NULL && i < grant->mounts.count; i++) {
		const char *path = grant->mounts.items[i].host_path;
		struct container_place place = {0};
		char *real CLEANUP_FREE = NULL;
		if (OFFERS_INSPECTION && container_host_place(path, &place) &&
		    place.device == mount->device && place.inode == mount->inode)
			return true;
		if (mount->host_path != NULL && file_resolve(NULL, path, &real, NULL) == 0 &&
		    path_is_within(mount->host_path, real))
			return true;
	}
	return false;
}

static cJSON *mount_json(const struct container_mount *mount, const struct grant *grant)
{
	struct members members CLEANUP_MEMBERS = members_new();
	member_string(&members, "path", mount->target);
	member_string(&members, "type", mount->type);
	member_string(&members, "hostPath", mount->host_path);
	member_bool(&members, "readOnly", mount->read_only);
	member_bool(&members, "shared", mount->shared);
	member_bool(&members, "granted", is_granted(mount, grant));
	return members_take(&members);
}

static cJSON *nodes_json(const struct container_node *nodes, size_t count)
{
	struct members array CLEANUP_MEMBERS = members_new_array();
	for (size_t i = 0; i < count; i++) {
		struct members node CLEANUP_MEMBERS = members_new();
		member_string(&node, "path", nodes[i].path);
		member_string(&node, "type", nodes[i].block ? "block" : "character");
		member_format(&node, "number", "%u:%u", nodes[i].major, nodes[i].minor);
		member_item(&array, NULL, members_take(&node));
	}
	return members_take(&array);
}

static cJSON *container_json(const struct container_view *view, const struct grant *grant)
{
	struct members container CLEANUP_MEMBERS = members_new();
	struct members mounts CLEANUP_MEMBERS = members_new_array();
	for (size_t i = 0; i < view->mounts.count; i++) {
		if (!view->mounts.items[i].covered)
			member_item(&mounts, NULL, mount_json(&view->mounts.items[i], grant));
	}
	member_item(&container, "mounts", members_take(&mounts));
	member_item(&container, "nodes", nodes_json(view->nodes, view->node_count));
	if (view->usable_untold == NULL)
		member_item(&container, "usable", nodes_json(view->usable, view->usable_count));
	else
		member_null(&container, "usable");
	member_string(&container, "usableUntold", view->usable_untold);
	member_number(&container, "capabilities", (double)view->capabilities);
	member_number(&container, "seccomp", view->seccomp);
	member_bool(&container, "noNewPrivileges", view->no_new_privileges);
	member_item(&container, "shared", json_new_strings(&view->shared));
	return members_take(&container);
}

static cJSON *devices_json(const struct granted *granted)
{
	struct members array CLEANUP_MEMBERS = members_new_array();
	for (size_t i = 0; granted != NULL && i < granted->count; i++)
		member_string(&array, NULL, granted->devices[i]->id);
	return members_take(&array);
}

bool sights_add(struct check_run *run, cJSON *sights, const char *label, const struct sight *sight,
		const struct granted *granted, const struct grant *grant)
{
	struct members members CLEANUP_MEMBERS = members_new();
	struct error err = {0};
	member_string(&members, "label", label);
	member_item(&members, "devices", devices_json(granted));
	member_bool(&members, "byRuntime", granted != NULL && granted->by_runtime);
	member_copy(&members, "document", sight->document);
	if (sight->view != NULL) {
		cJSON *container = container_json(sight->view, grant);
		if (container != NULL)
			check_evidence_json(run, check_format(run, "%s.container.json", label),
					    container);
		member_item(&members, "container", container);
	} else {
		member_null(&members, "container");
	}
	return check_works(run, members_append(sights, members_take(&members), &err), label, &err);
}

static char *file_path(struct check_run *run)
{
	return path_join(check_context(run)->run_directory, file_name);
}

bool sights_save(struct check_run *run, const cJSON *sights)
{
	char *path CLEANUP_FREE = file_path(run);
	struct error err = {0};
	int rc = path != NULL ? json_write_file(path, sights, &err) : error_memory(&err);
	return check_works(run, rc, file_name, &err);
}

cJSON *sights_read(struct check_run *run)
{
	char *path CLEANUP_FREE = file_path(run);
	cJSON *sights = NULL;
	return path != NULL && file_exists(path) && json_read_file(path, &sights, NULL) == 0
		       ? sights
		       : NULL;
}
