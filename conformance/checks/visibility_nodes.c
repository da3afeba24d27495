/* SPDX-License-Identifier: MIT */
/* Device nodes of a container, by their numbers. */
#include "conformance/checks/visibility.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "base/text.h"
#include "conformance/checks/node_file.h"
#include "conformance/runner/context.h"

#include <string.h>

enum { NODES_TOLD = 8, PROC_DEVICES_MAX = 64 * 1024 };

struct visible_node {
	const char *path;
	bool block;
	unsigned major, minor;
};

/* Calls `each` for the device nodes in the container; the probe knows those of GPUs alone. False:
 * `each` ended it. */
static bool visibility_each_node(const struct sight *sight,
				 bool (*each)(const struct visible_node *node, void *user),
				 void *user)
{
	const cJSON *entry = NULL;

	for (size_t i = 0; sight->view != NULL && i < sight->view->node_count; i++) {
		const struct container_node *told = &sight->view->nodes[i];

		if (!each(&(struct visible_node){told->path, told->block, told->major, told->minor},
			  user))
			return false;
	}
	if (sight->view != NULL)
		return true;
	cJSON_ArrayForEach (entry, json_pointer(sight->document, "/nodes")) {
		const char *path = cJSON_GetStringValue(json_pointer(entry, "/path"));
		const char *type = cJSON_GetStringValue(json_pointer(entry, "/type"));
		const char *number = cJSON_GetStringValue(json_pointer(entry, "/number"));
		struct visible_node node = {.path = path != NULL ? path : "",
					    .block = text_equal(type, "block")};

		if (number != NULL && sscanf(number, "%u:%u", &node.major, &node.minor) == 2 &&
		    !each(&node, user))
			return false;
	}
	return true;
}

/* /dev/dri/card0 beside /dev/dri/renderD128: the kernel says whose they are. */
static bool visibility_is_sibling(const struct discovery_device *device, unsigned major,
				  unsigned minor)
{
	char *link CLEANUP_FREE = text_format("/sys/dev/char/%u:%u/device", major, minor);
	char *real CLEANUP_FREE = NULL;

	return device->pci_address[0] != '\0' && link != NULL &&
	       file_resolve(NULL, link, &real, NULL) == 0 &&
	       strcmp(path_base(real), device->pci_address) == 0;
}

/* Nodes that NVIDIA's driver has beside those of its GPUs (nvidia-uvm, nvidia-caps, ...), by the
 * names of majors in /proc/devices. */
static bool visibility_accompanies(const struct discovery_device *device, unsigned major)
{
	char *text CLEANUP_FREE = NULL;
	struct text_list lines CLEANUP_TEXT_LIST = {0};

	if (strcmp(device->driver_name, "nvidia") != 0 ||
	    file_read("/proc/devices", PROC_DEVICES_MAX, &text, NULL, NULL) < 0 ||
	    text_list_split(&lines, text, '\n', NULL) < 0)
		return false;
	for (size_t i = 0; i < lines.count; i++) {
		unsigned told = 0;
		char name[64] = "";

		if (sscanf(lines.items[i], "%u %63s", &told, name) == 2 && told == major &&
		    text_starts_with(name, "nvidia-") && strcmp(name, "nvidia-frontend") != 0)
			return true;
	}
	return false;
}

bool visibility_is_node_of(const struct discovery_device *device, bool block, unsigned major,
			   unsigned minor)
{
	for (size_t i = 0; i < device->node_count; i++) {
		struct node_file file = {0};

		if (node_file_identify(device->nodes[i].path, &file) &&
		    (file.kind == NODE_FILE_BLOCK) == block && file.major == major &&
		    file.minor == minor)
			return true;
	}
	return !block && device->node_count != 0 &&
	       (visibility_is_sibling(device, major, minor) ||
		visibility_accompanies(device, major));
}

struct visibility_search {
	const struct discovery_snapshot *node;
	const struct discovery_device *device; /* whose own nodes are looked for */
	const struct visible_node *same;       /* or one like this */
};

/* Ends at a node that is the device's and no other's. */
static bool visibility_is_not_own(const struct visible_node *node, void *user)
{
	const struct visibility_search *search = user;

	if (!visibility_is_node_of(search->device, node->block, node->major, node->minor))
		return true;
	for (size_t i = 0; i < search->node->device_count; i++) {
		const struct discovery_device *other = &search->node->devices[i];

		if (other != search->device &&
		    visibility_is_node_of(other, node->block, node->major, node->minor))
			return true;
	}
	return false;
}

bool visibility_has_own_node(const struct discovery_snapshot *node,
			     const struct discovery_device *device, const struct sight *sight)
{
	struct visibility_search search = {.node = node, .device = device};

	return device->node_count != 0 &&
	       !visibility_each_node(sight, visibility_is_not_own, &search);
}

static bool visibility_is_another(const struct visible_node *node, void *user)
{
	const struct visibility_search *search = user;

	return node->block != search->same->block || node->major != search->same->major ||
	       node->minor != search->same->minor;
}

struct visibility_judgement {
	const struct discovery_snapshot *node;
	const struct sight *bare;
	const struct granted *grant;
	struct text strangers;
	size_t count, strange;
};

/* Without a bare container to compare with, the nodes of the node's devices are strange. */
static bool visibility_is_strange(const struct visibility_judgement *judgement,
				  const struct visible_node *node)
{
	struct visibility_search search = {.same = node};

	for (size_t i = 0; i < judgement->grant->count; i++) {
		if (visibility_is_node_of(judgement->grant->devices[i], node->block, node->major,
					  node->minor))
			return false;
	}
	if (judgement->bare != NULL && judgement->bare->view != NULL)
		return visibility_each_node(judgement->bare, visibility_is_another, &search);
	if (judgement->bare != NULL)
		return true;
	for (size_t i = 0; i < judgement->node->device_count; i++) {
		if (visibility_is_node_of(&judgement->node->devices[i], node->block, node->major,
					  node->minor))
			return true;
	}
	return false;
}

static bool visibility_judge_node(const struct visible_node *node, void *user)
{
	struct visibility_judgement *judgement = user;

	judgement->count++;
	if (!visibility_is_strange(judgement, node))
		return true;
	if (judgement->strange++ < NODES_TOLD)
		text_addf(&judgement->strangers, "%s%s (%s %u:%u)",
			  judgement->strange != 1 ? ", " : "", node->path,
			  node->block ? "block" : "character", node->major, node->minor);
	return true;
}

void visibility_expect_nodes(struct check_run *run, const char *label, const struct sight *sight,
			     const struct sight *bare, const struct granted *grant)
{
	struct visibility_judgement judgement = {
		.node = check_context(run)->node, .bare = bare, .grant = grant};
	char *what CLEANUP_FREE = text_format("%s: device nodes", label);

	(void)visibility_each_node(sight, visibility_judge_node, &judgement);
	if (what == NULL || judgement.strangers.failed)
		check_broken(run, "out of memory");
	else if (judgement.strange == 0)
		(void)check_expect(run, true, what, "those of the granted devices",
				   "%zu, none of another device", judgement.count);
	else
		(void)check_expect(run, false, what, "those of the granted devices",
				   "%zu others: %s%s", judgement.strange,
				   text_string(&judgement.strangers),
				   judgement.strange > NODES_TOLD ? ", ..." : "");
	for (size_t i = 0; what != NULL && i < grant->count; i++) {
		const struct discovery_device *device = grant->devices[i];
		bool there = device->node_count == 0 ||
			     visibility_has_own_node(judgement.node, device, sight);

		(void)check_expect(run, there, what, "there", "those of %s: %s", device->id,
				   there ? "there" : "missing");
	}
	if (sight->view != NULL && sight->view->nodes_cut)
		check_unsupported(run, "%s has too many files to look for device nodes", label);
	text_free(&judgement.strangers);
}
