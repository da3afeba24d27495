/* SPDX-License-Identifier: MIT */
#include "workloads/visibility/nodes.h"
#include "workloads/visibility/sysfs.h"

#include "base/members.h"

/* Windows has no device nodes in the file system, and no file system of its kernel. */

int nodes_list(const char *root, bool try_open, cJSON **out, struct error *err)
{
	(void)root;
	(void)try_open;
	*out = cJSON_CreateArray();
	return *out != NULL ? 0 : error_memory(err);
}

int sysfs_list(const char *sys_root, const char *proc_root, cJSON **out, struct error *err)
{
	struct members sysfs CLEANUP_MEMBERS = members_new();

	(void)sys_root;
	(void)proc_root;
	member_null(&sysfs, "drm");
	member_null(&sysfs, "nvidia");
	*out = members_take(&sysfs);
	return *out != NULL ? 0 : error_memory(err);
}
