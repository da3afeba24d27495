/* SPDX-License-Identifier: MIT */
#include "conformance/runner/needs.h"

#include "base/text.h"

#include <string.h>

static bool needs_device_offers(const struct discovery_device *device, const char *api)
{
	for (const char *const *offered = device->apis; offered != NULL && *offered != NULL;
	     offered++) {
		if (strcmp(*offered, api) == 0)
			return true;
	}
	return false;
}

static size_t needs_count_devices(const struct context *context, const char *api)
{
	size_t count = 0;

	for (size_t i = 0; i < context->node->device_count; i++) {
		if (api == NULL || needs_device_offers(&context->node->devices[i], api))
			count++;
	}
	return count;
}

bool needs_os_is_met(const struct check_needs *needs, const struct context *context)
{
	return needs->os == NULL || strcmp(context->node->system.os, needs->os) == 0;
}

char *needs_missing(const struct check_needs *needs, const struct context *context)
{
	size_t devices = needs_count_devices(context, NULL);
	bool recorded = context->node_file != NULL;

	if (!needs_os_is_met(needs, context))
		return text_format("needs a %s node, this one is %s", needs->os,
				   context->node->system.os);
	if (devices < needs->devices)
		return text_format("needs %u device%s, the node has %zu", needs->devices,
				   needs->devices == 1 ? "" : "s", devices);
	if (needs->own_plugin && context->plugin_command == NULL)
		return strdup("needs a plugin that the suite starts itself (--plugin)");
	if ((needs->live_node || needs->launcher || needs->containers) && recorded)
		return strdup("needs the node itself; a recorded node was given (--node)");
	if ((needs->launcher || needs->containers) && strcmp(context->launcher, "none") == 0)
		return text_format("needs to run probes: %s", context->launcher_missing);
	if (needs->containers && strcmp(context->launcher, "containerd") != 0)
		return strdup("needs containers; --launcher process runs probes on the host");
	if (needs->api != NULL && needs_count_devices(context, needs->api) == 0)
		return text_format("needs a device that offers %s", needs->api);
	return NULL;
}
