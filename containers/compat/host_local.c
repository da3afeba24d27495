/* SPDX-License-Identifier: MIT */
#include "base/cpu_level.h"
#include "base/os_version.h"
#include "containers/compat/host_system.h"
#include "discovery/include/gpucert/discovery.h"

int host_facts_local(const struct discovery_options *where, struct host_facts *out,
		     struct error *err)
{
	struct discovery_options options = where != NULL ? *where : (struct discovery_options){0};
	struct discovery_snapshot *node = NULL;
	options.filter =
		(struct discovery_filter){.include_integrated = true, .include_detachable = true};
	*out = (struct host_facts){0};
	int rc = discovery_take(&options, &node, err);
	if (rc == 0)
		rc = host_facts_of_node(node, out, err);
	if (rc == 0) {
		out->cpu_level = cpu_level();
		rc = host_system_facts(&options, node, out, err);
	}
	discovery_free(node);
	return rc;
}

int host_platform(struct arena *arena, struct image_platform *out, struct error *err)
{
	struct os_version version = {0};
	int rc = os_version_read(&version, err);
	const char *machine = arena_string(arena, version.architecture);
	*out = (struct image_platform){.os = host_os,
				       .architecture = host_architecture(machine),
				       .variant = "",
				       .os_version = ""};
	return rc == 0 && arena->failed ? error_memory(err) : rc;
}
