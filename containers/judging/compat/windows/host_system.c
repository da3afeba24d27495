/* SPDX-License-Identifier: MIT */
#include "containers/judging/compat/host_system.h"

#include "containers/judging/compat/hcs_service.h"

const char host_os[] = "windows";

void host_system_facts(const struct discovery_options *where, const struct discovery_snapshot *node,
		       struct host_facts *out)
{
	struct hcs_service service = {0};
	(void)where;
	(void)node;
	if (hcs_service_ask(&service, NULL) < 0)
		return;
	const struct hcs_version *newest = hcs_versions_newest(&service.versions);
	if (newest != NULL)
		out->hcs_schema = arena_format(&out->arena, "%u.%u", newest->major, newest->minor);
}
