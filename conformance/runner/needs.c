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

static bool needs_probes(const struct check_needs *needs)
{
	return needs->launcher || needs->containers;
}

/* The needs without which the rule is not about this node. */
static enum needs_verdict needs_judge_node(const struct check_needs *needs,
					   const struct context *context, char **reason)
{
	size_t devices = needs_count_devices(context, NULL);

	if (!needs_os_is_met(needs, context)) {
		*reason = text_format("needs a %s node, this one is %s", needs->os,
				      context->node->system.os);
		return NEEDS_NOT_APPLICABLE;
	}
	if (devices < needs->devices) {
		*reason = text_format("needs %u device%s, the node has %zu", needs->devices,
				      needs->devices == 1 ? "" : "s", devices);
		return devices == 0 ? NEEDS_UNSUPPORTED : NEEDS_NOT_APPLICABLE;
	}
	if ((needs->live_node || needs_probes(needs)) && context->node_file != NULL) {
		*reason = strdup("needs the node itself; a recorded node was given (--node)");
		return NEEDS_NOT_APPLICABLE;
	}
	if (needs->api != NULL && needs_count_devices(context, needs->api) == 0) {
		*reason = text_format("no device of the node offers %s", needs->api);
		return NEEDS_API;
	}
	return NEEDS_MET;
}

/* The needs of a test of which the rule knows nothing. */
static enum needs_verdict needs_judge_run(const struct check_needs *needs,
					  const struct context *context, char **reason)
{
	if (needs->own_plugin && context->plugin_command == NULL)
		*reason = strdup("needs a plugin that the suite starts itself (--plugin)");
	else if (needs_probes(needs) && strcmp(context->launcher, "none") == 0)
		*reason = text_format("needs to run probes: %s", context->launcher_missing);
	else if (needs->containers && strcmp(context->launcher, "containerd") != 0)
		*reason = strdup("needs containers; --launcher process runs probes on the host");
	else
		return NEEDS_MET;
	return NEEDS_UNSUPPORTED;
}

int needs_judge(const struct check_needs *needs, const struct context *context,
		enum needs_verdict *verdict, char **reason, struct error *err)
{
	*reason = NULL;
	*verdict = needs_judge_node(needs, context, reason);
	if (*verdict == NEEDS_MET)
		*verdict = needs_judge_run(needs, context, reason);
	return *verdict == NEEDS_MET || *reason != NULL ? 0 : error_memory(err);
}

const char *needs_unproven(const struct check_needs *needs, const struct context *context)
{
	return needs->launcher && strcmp(context->launcher, "process") == 0
		       ? "the probes ran on the host (--launcher process), which proves nothing "
			 "about containers"
		       : NULL;
}
