/* SPDX-License-Identifier: MIT */
#include "discovery/linux/kfd.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "discovery/linux/node.h"

#include <stdio.h>
#include <string.h>

enum { PROPERTIES_MAX = 64 * 1024, KFD_NODES_MAX = 1024 };

/* The number after "name " at the start of a line; -1 when it is absent or not a number. */
static int64_t property(const char *text, const char *name)
{
	size_t size = strlen(name);
	for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
		line += line != text ? 1 : 0;
		if (strncmp(line, name, size) == 0 && line[size] == ' ') {
			char value[24] = "";
			long long number = 0;
			(void)snprintf(value, sizeof(value), "%.*s",
				       (int)strcspn(line + size + 1, "\r\n"), line + size + 1);
			return text_to_int64(value, name, 0, INT64_MAX, &number, NULL) == 0 ? number
											    : -1;
		}
	}
	return -1;
}

bool kfd_node_parse(const char *text, struct kfd_node *out)
{
	*out = (struct kfd_node){
		.render = property(text, "drm_render_minor"),
		.gfx = property(text, "gfx_target_version"),
		.domain = property(text, "domain"),
		.location = property(text, "location_id"),
	};
	return out->render > 0 && out->gfx > 0;
}

bool kfd_is_compute_only(const struct kfd_node *kfd)
{
	return kfd->gfx == 90008 || kfd->gfx == 90010 || (kfd->gfx >= 90400 && kfd->gfx < 100000);
}

bool kfd_is_at(const struct kfd_node *kfd, const char *pci_address)
{
	unsigned domain = 0;
	unsigned bus = 0;
	unsigned device = 0;
	return sscanf(pci_address, "%x:%x:%x.", &domain, &bus, &device) == 3 &&
	       kfd->domain == domain && (kfd->location >> 3 & 0x1fff) == (bus << 5 | device);
}

const struct kfd_node *node_find_kfd(struct node *node, const char *render)
{
	const int64_t number = node_number(render, "renderD");
	if (!node->kfd_read) {
		struct arena *arena = &node->builder->arena;
		struct text_list names CLEANUP_TEXT_LIST = {0};
		const char *directory = builder_path(node->builder, node->places->sysfs,
						     "class/kfd/kfd/topology/nodes");
		node->kfd_read = true;
		if (file_list(directory, &names, NULL) < 0)
			return NULL;
		struct kfd_node *nodes = arena_allocate(arena, KFD_NODES_MAX * sizeof(*nodes));
		node->kfd = nodes;
		for (size_t i = 0;
		     nodes != NULL && i < names.count && node->kfd_count < KFD_NODES_MAX; i++) {
			const char *path =
				arena_format(arena, "%s/%s/properties", directory, names.items[i]);
			char *text CLEANUP_FREE = NULL;
			if (file_read(path, PROPERTIES_MAX, &text, NULL, NULL) == 0 &&
			    kfd_node_parse(text, &nodes[node->kfd_count]))
				node->kfd_count++;
		}
	}
	for (size_t i = 0; i < node->kfd_count; i++) {
		if (node->kfd[i].render == number)
			return &node->kfd[i];
	}
	return NULL;
}
