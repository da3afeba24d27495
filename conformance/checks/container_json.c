/* SPDX-License-Identifier: MIT */
/* A container as the host sees it, as JSON. */
#include "conformance/checks/container_judge.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "conformance/checks/node_file.h"
#include "containers/offers.h"

#include <stdlib.h>
#include <string.h>

/* A mount of an answer, looked up once. */
struct source {
	const char *container_path;
	struct container_place place;
	bool exists;
	char *real; /* NULL: unknown */
};

/* Is it the mount of an entry of the answer, or one that came with it? */
static bool is_granted(const struct container_mount *mount, const struct source *sources,
		       size_t count)
{
	items_each (source, sources, count) {
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

/* Only the process that mounted such a file system knows where its files are; the node's own root may be one. */
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

static void add_mounts(struct members *container, const struct container_mounts *mounts,
		       const struct grant *grant)
{
	const size_t count = grant != NULL ? grant->mounts.count : 0;
	struct source *sources CLEANUP_FREE = memory_allocate(count + 1, sizeof(*sources));
	for (size_t i = 0; i < count; i++) {
		const struct grant_entry *entry = &grant->mounts.items[i];
		sources[i].container_path = entry->container_path;
		sources[i].exists = OFFERS_INSPECTION &&
				    container_host_place(entry->host_path, &sources[i].place);
		if (file_resolve(NULL, entry->host_path, &sources[i].real, NULL) < 0)
			sources[i].real = NULL;
	}

	struct members array = member_array(container, "mounts");
	items_each (mount, mounts->items, mounts->count) {
		if (mount->covered)
			continue;
		struct members members = member_object(&array, NULL);
		member_string(&members, "path", mount->target);
		member_string(&members, "type", mount->type);
		member_string(&members, "hostPath", mount->host_path);
		member_bool(&members, "readOnly", mount->read_only);
		member_bool(&members, "shared", mount->shared);
		member_bool(&members, "granted", is_granted(mount, sources, count));
		member_bool(&members, "sourceKnown", is_source_known(mount));
	}
	items_each (source, sources, count)
		free(source->real);
}

static struct members add_node(struct members *array, const char *path, bool block, unsigned major,
			       unsigned minor)
{
	struct members node = member_object(array, NULL);
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

/* The device nodes of the answer. "allowed" is what the cgroup allows of a node; null: unknown,
 * because the node is elsewhere on the host. */
static void add_granted(struct members *container, const struct container_view *view,
			const struct grant *grant)
{
	static const struct grant nothing;
	const size_t asked = view->access_unknown == NULL ? view->host_node_count : 0;
	struct members array = member_array(container, "granted");
	grant_each (entry, &(grant != NULL ? grant : &nothing)->devices) {
		struct node_file file = {0};
		if (!node_file_identify(entry->host_path, &file) || !node_file_is_device(&file))
			continue;
		const bool block = file.kind == NODE_FILE_BLOCK;
		const char *allowed = NULL;
		for (size_t i = 0; allowed == NULL && i < asked; i++) {
			const struct container_node *node = &view->host_nodes[i];
			if (node->major == file.major && node->minor == file.minor &&
			    node->block == block)
				allowed = letters_of(node->access);
		}
		struct members members =
			add_node(&array, entry->container_path, block, file.major, file.minor);
		member_string(&members, "access", entry->permissions);
		member_string(&members, "allowed", allowed);
	}
}

static void add_cgroups(struct members *container, const struct container_view *view)
{
	struct members array = member_array(container, "deviceCgroups");
	items_each (group, view->cgroups, view->cgroup_count) {
		struct members members = member_object(&array, NULL);
		member_int(&members, "version", group->version);
		member_string(&members, "path", group->path);
		member_string(&members, "rules", group->rules);
		struct members programs = member_array(&members, "programs");
		items_each (tagged, group->programs, group->program_count) {
			struct members program = member_object(&programs, NULL);
			member_string(&program, "tag", tagged->tag);
			member_int(&program, "instructions", tagged->instructions);
		}
		member_string(&members, "unknown", group->unknown);
	}
}

cJSON *container_json(const struct container_view *view, const char *handler,
		      const struct grant *grant)
{
	struct members container CLEANUP_MEMBERS = members_new();
	member_string(&container, "handler", handler);
	add_mounts(&container, &view->mounts, grant);

	struct members nodes = member_array(&container, "nodes");
	items_each (node, view->nodes, view->node_count) {
		(void)add_node(&nodes, node->path, node->block, node->major, node->minor);
	}
	member_string(&container, "nodesCut", view->nodes_cut);
	add_granted(&container, view, grant);

	if (view->access_unknown != NULL) {
		member_null(&container, "usable");
	} else {
		struct members usable = member_array(&container, "usable");
		items_each (node, view->host_nodes, view->host_node_count) {
			if (node->access == 0)
				continue;
			struct members members = add_node(&usable, node->path, node->block,
							  node->major, node->minor);
			member_string(&members, "access", letters_of(node->access));
		}
	}
	member_string(&container, "usableUnknown", view->access_unknown);
	add_cgroups(&container, view);
	member_int(&container, "planted", (int64_t)view->planted);
	member_string(&container, "plantedUnknown", view->planted_unknown);
	member_number(&container, "capabilities", (double)view->capabilities);
	member_number(&container, "seccomp", view->seccomp);
	member_bool(&container, "noNewPrivileges", view->no_new_privileges);
	member_item(&container, "shared", json_new_strings(&view->shared));
	return members_take(&container);
}
