/* SPDX-License-Identifier: MIT */
/* Windows containers get devices, with drivers that Windows itself mounts: the files of a grant say
 * nothing. */
#include "containers/judging/compat/case.h"

bool launch_mounts(const struct compat_launch *launch, const char *glob)
{
	(void)launch;
	(void)glob;
	return false;
}

const char *launch_driver_glibc(const struct compat_launch *launch,
				const struct image_contents *contents, struct arena *arena)
{
	(void)launch;
	(void)contents;
	(void)arena;
	return "";
}

void rule_image_driver(struct compat_case *it)
{
	(void)it;
}

void rule_driver_library(struct compat_case *it)
{
	(void)it;
}

void rule_device_node(struct compat_case *it)
{
	(void)it;
}
