/* SPDX-License-Identifier: MIT */
/* The device nodes of a container, by their numbers. */
#include "conformance/checks/visibility.h"

#include "base/file.h"
#include "base/path.h"
#include "conformance/checks/node_file.h"
#include "conformance/checks/tally.h"
#include "conformance/runner/context.h"

#include <string.h>

enum { PROC_DEVICES_MAX = 64 * 1024 };

/* The device node at *index or after it; *index moves beyond it. A probe's document lists only nodes of
 * GPUs. False: there is none. */
static bool next_node(const struct observation *observation, size_t *index,
		      struct container_node *out)
{
	const struct container_view *view = observation->view;
	const cJSON *nodes = view == NULL ? json_pointer(observation->document, "/nodes") : NULL;
	if (view != NULL && *index < view->node_count) {
		*out = view->nodes[(*index)++];
		return true;
	}
	for (const cJSON *entry = cJSON_GetArrayItem(nodes, (int)*index); entry != NULL;
	     entry = entry->next) {
		const char *type = json_pointer_string(entry, "/type");
		const char *number = json_pointer_string(entry, "/number");
		++*index;
		*out = (struct container_node){
			.path = json_pointer_string(entry, "/path"),
			.block = text_equal(type, "block"),
		};
		if (text_to_device_number(number, &out->major, &out->minor))
			return true;
	}
	return false;
}

bool visibility_is_node_of(const struct discovery_device *device, bool block, unsigned major,
			   unsigned minor)
{
	items_each (node, device->nodes, device->node_count) {
		struct node_file file = {0};
		if (node_file_identify(node->path, &file) &&
		    node_file_has_number(&file, block, major, minor))
			return true;
	}
	if (block || device->node_count == 0)
		return false;

	/* /dev/dri/card0 next to /dev/dri/renderD128: sysfs links both to their device. */
	char *link CLEANUP_FREE = text_format("/sys/dev/char/%u:%u/device", major, minor);
	char *real CLEANUP_FREE = NULL;
	if (device->pci_address[0] != '\0' && file_resolve(NULL, link, &real, NULL) == 0 &&
	    strcmp(path_base(real), device->pci_address) == 0)
		return true;

	/* Further nodes of NVIDIA's driver (nvidia-uvm, nvidia-caps, ...), by the names of majors in
	 * /proc/devices. */
	char *text CLEANUP_FREE = NULL;
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	if (strcmp(device->driver_name, "nvidia") != 0 ||
	    file_read("/proc/devices", PROC_DEVICES_MAX, &text, NULL, NULL) < 0)
		return false;
	text_list_split(&lines, text, '\n');
	text_each (line, &lines) {
		unsigned named = 0;
		char name[64] = "";
		if (sscanf(line, "%u %63s", &named, name) == 2 && named == major &&
		    text_starts_with(name, "nvidia-") && strcmp(name, "nvidia-frontend") != 0)
			return true;
	}
	return false;
}

/* How many devices of the node it belongs to. */
static size_t count_owners(const struct discovery_snapshot *node, const struct container_node *seen)
{
	size_t count = 0;
	node_each (device, node)
		count += visibility_is_node_of(device, seen->block, seen->major, seen->minor);
	return count;
}

bool visibility_has_own_node(const struct discovery_snapshot *node,
			     const struct discovery_device *device,
			     const struct observation *observation)
{
	struct container_node seen = {0};
	for (size_t i = 0; device->node_count != 0 && next_node(observation, &i, &seen);) {
		if (visibility_is_node_of(device, seen.block, seen.major, seen.minor) &&
		    count_owners(node, &seen) == 1)
			return true;
	}
	return false;
}

/* Without a bare container to compare with, the nodes of all the node's devices are unexpected. */
static bool is_strange(const struct discovery_snapshot *node, const struct observation *bare,
		       const struct granted *grant, const struct container_node *seen)
{
	struct container_node usual = {0};
	granted_each (device, grant) {
		if (visibility_is_node_of(device, seen->block, seen->major, seen->minor))
			return false;
	}
	if (bare == NULL)
		return count_owners(node, seen) != 0;
	for (size_t i = 0; bare->view != NULL && next_node(bare, &i, &usual);) {
		if (usual.block == seen->block && usual.major == seen->major &&
		    usual.minor == seen->minor)
			return false;
	}
	return true;
}

void visibility_expect_nodes(struct check_run *run, const char *label,
			     const struct observation *observation, const struct observation *bare,
			     const struct granted *grant)
{
	const struct discovery_snapshot *node = check_context(run)->node;
	const char *what = check_format(run, "%s: device nodes", label);
	struct tally nodes = TALLY_OF(run, what, "those of the granted devices");
	struct container_node seen = {0};
	for (size_t i = 0; next_node(observation, &i, &seen);)
		tally_add(&nodes, !is_strange(node, bare, grant, &seen), "%s (%s %u:%u)",
			  seen.path != NULL ? seen.path : "", seen.block ? "block" : "character",
			  seen.major, seen.minor);
	tally_end(&nodes);
	granted_each (device, grant) {
		bool there = device->node_count == 0 ||
			     visibility_has_own_node(node, device, observation);
		(void)check_expect(run, there, what, "there", "those of %s: %s", device->id,
				   there ? "there" : "missing");
	}
}
