/* SPDX-License-Identifier: MIT */
/* A container as the host sees it, as JSON. */
#include "conformance/checks/container_judge.h"

#include "base/file.h"
#include "base/members.h"
#include "base/path.h"
#include "conformance/checks/node_file.h"
#include "containers/offers.h"

#include <stdlib.h>
#include <string.h>

/* Entries of an answer, looked up once. */
struct source {
	const char *container_path;
	struct container_place place;
	bool exists;
	char *real; /* NULL: unknown */
};

struct sources {
	struct source *items;
	size_t count;
};

static void sources_free(struct sources *sources)
{
	for (size_t i = 0; i < sources->count; i++)
		free(sources->items[i].real);
	free(sources->items);
}

/* Without memory none, so that every mount is one that nobody granted. */
static struct sources sources_of(const struct grant *grant)
{
	struct sources sources = {0};
	size_t count = grant != NULL ? grant->mounts.count : 0;
	sources.items = calloc(count + 1, sizeof(*sources.items));
	for (size_t i = 0; sources.items != NULL && i < count; i++) {
		const struct grant_entry *entry = &grant->mounts.items[i];
		struct source *source = &sources.items[sources.count++];
		source->container_path = entry->container_path;
		source->exists =
			OFFERS_INSPECTION && container_host_place(entry->host_path, &source->place);
		if (file_resolve(NULL, entry->host_path, &source->real, NULL) < 0)
			source->real = NULL;
	}
	return sources;
}

/* Is it the mount of an entry of the answer, or one that came with it? */
static bool is_granted(const struct container_mount *mount, const struct sources *sources)
{
	for (size_t i = 0; i < sources->count; i++) {
		const struct source *source = &sources->items[i];
		if (source->exists && source->place.device == mount->device &&
		    source->place.inode == mount->inode)
			return true;
		if (mount->host_path != NULL && source->real != NULL &&
		    path_is_within(mount->target, source->container_path) &&
		    path_is_within(mount->host_path, source->real))
			return true;
	}
	return false;
}

/* Where files of these lie is for whoever mounted them to say; the node's own root may be one. */
static bool is_source_known(const struct container_mount *mount)
{
	static const char *const others[] = {
		"9p",	"aufs",	    "ceph",    "cifs",	   "ecryptfs", "erofs",
		"fuse", "fuseblk",  "iso9660", "nfs",	   "nfs4",     "overlay",
		"smb3", "squashfs", "udf",     "virtiofs", NULL};
	enum { LOOP_MAJOR = 7 };
	bool other = mount->major == LOOP_MAJOR || text_starts_with(mount->type, "fuse.") ||
		     others[text_position(others, mount->type)] != NULL;
	return mount->host_path != NULL && (!other || mount->on_host_root);
}

static cJSON *mounts_json(const struct container_mounts *mounts, const struct grant *grant)
{
	struct members array CLEANUP_MEMBERS = members_new_array();
	struct sources sources CLEANUP(sources_free) = sources_of(grant);
	for (size_t i = 0; i < mounts->count; i++) {
		const struct container_mount *mount = &mounts->items[i];
		struct members members CLEANUP_MEMBERS = members_new();
		if (mount->covered)
			continue;
		member_string(&members, "path", mount->target);
		member_string(&members, "type", mount->type);
		member_string(&members, "hostPath", mount->host_path);
		member_bool(&members, "readOnly", mount->read_only);
		member_bool(&members, "shared", mount->shared);
		member_bool(&members, "granted", is_granted(mount, &sources));
		member_bool(&members, "sourceKnown", is_source_known(mount));
		member_item(&array, NULL, members_take(&members));
	}
	return members_take(&array);
}

static struct members node_members(const char *path, bool block, unsigned major, unsigned minor)
{
	struct members node = members_new();
	member_string(&node, "path", path);
	member_string(&node, "type", block ? "block" : "character");
	member_format(&node, "number", "%u:%u", major, minor);
	return node;
}

static const char *letters_of(unsigned access)
{
	static const char *const letters[] = {"", "r", "w", "rw"};
	return letters[access & (CONTAINER_READ | CONTAINER_WRITE)];
}

static cJSON *nodes_json(const struct container_view *view)
{
	struct members array CLEANUP_MEMBERS = members_new_array();
	for (size_t i = 0; i < view->node_count; i++) {
		const struct container_node *node = &view->nodes[i];
		struct members members CLEANUP_MEMBERS =
			node_members(node->path, node->block, node->major, node->minor);
		member_item(&array, NULL, members_take(&members));
	}
	return members_take(&array);
}

/* Null where it is not known. */
static cJSON *usable_json(const struct container_view *view)
{
	struct members array CLEANUP_MEMBERS = members_new_array();
	if (view->access_untold != NULL)
		return cJSON_CreateNull();
	for (size_t i = 0; i < view->host_node_count; i++) {
		const struct container_node *node = &view->host_nodes[i];
		struct members members CLEANUP_MEMBERS =
			node_members(node->path, node->block, node->major, node->minor);
		member_string(&members, "access", letters_of(node->access));
		if (node->access != 0)
			member_item(&array, NULL, members_take(&members));
	}
	return members_take(&array);
}

/* What the cgroup allows of a node of the answer; NULL: it was not asked, for the host has it elsewhere. */
static const char *allowed(const struct container_view *view, const struct node_file *file)
{
	for (size_t i = 0; view->access_untold == NULL && i < view->host_node_count; i++) {
		const struct container_node *node = &view->host_nodes[i];
		if (node->major == file->major && node->minor == file->minor &&
		    node->block == (file->kind == NODE_FILE_BLOCK))
			return letters_of(node->access);
	}
	return NULL;
}

/* The device nodes of the answer. */
static cJSON *granted_json(const struct container_view *view, const struct grant *grant)
{
	static const struct grant nothing;
	struct members array CLEANUP_MEMBERS = members_new_array();
	grant_each (entry, &(grant != NULL ? grant : &nothing)->devices) {
		struct node_file file = {0};
		if (!node_file_identify(entry->host_path, &file) ||
		    (file.kind != NODE_FILE_CHARACTER && file.kind != NODE_FILE_BLOCK))
			continue;
		struct members members CLEANUP_MEMBERS =
			node_members(entry->container_path, file.kind == NODE_FILE_BLOCK,
				     file.major, file.minor);
		member_string(&members, "access", entry->permissions);
		member_string(&members, "allowed", allowed(view, &file));
		member_item(&array, NULL, members_take(&members));
	}
	return members_take(&array);
}

static cJSON *cgroups_json(const struct container_view *view)
{
	struct members array CLEANUP_MEMBERS = members_new_array();
	for (size_t i = 0; i < view->cgroup_count; i++) {
		const struct container_cgroup *group = &view->cgroups[i];
		struct members members CLEANUP_MEMBERS = members_new();
		struct members programs CLEANUP_MEMBERS = members_new_array();
		for (size_t j = 0; j < group->program_count; j++) {
			struct members program CLEANUP_MEMBERS = members_new();
			member_string(&program, "tag", group->programs[j].tag);
			member_int(&program, "instructions", group->programs[j].instructions);
			member_item(&programs, NULL, members_take(&program));
		}
		member_int(&members, "version", group->version);
		member_string(&members, "path", group->path);
		member_string(&members, "rules", group->rules);
		member_item(&members, "programs", members_take(&programs));
		member_string(&members, "untold", group->untold);
		member_item(&array, NULL, members_take(&members));
	}
	return members_take(&array);
}

cJSON *container_json(const struct container_view *view, const char *handler,
		      const struct grant *grant)
{
	struct members container CLEANUP_MEMBERS = members_new();
	member_string(&container, "handler", handler);
	member_item(&container, "mounts", mounts_json(&view->mounts, grant));
	member_item(&container, "nodes", nodes_json(view));
	member_string(&container, "nodesCut", view->nodes_cut);
	member_item(&container, "granted", granted_json(view, grant));
	member_item(&container, "usable", usable_json(view));
	member_string(&container, "usableUntold", view->access_untold);
	member_item(&container, "deviceCgroups", cgroups_json(view));
	member_int(&container, "planted", (int64_t)view->planted);
	member_string(&container, "plantedUntold", view->planted_untold);
	member_number(&container, "capabilities", (double)view->capabilities);
	member_number(&container, "seccomp", view->seccomp);
	member_bool(&container, "noNewPrivileges", view->no_new_privileges);
	member_item(&container, "shared", json_new_strings(&view->shared));
	return members_take(&container);
}
