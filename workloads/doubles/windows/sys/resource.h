/* SPDX-License-Identifier: MIT */
#pragma once

/* What doubles take from the header of this name, where there is none: Windows keeps no core file
 * of a crash. */

enum { RLIMIT_CORE };

struct rlimit {
	int none;
};

static inline int setrlimit(int resource, const struct rlimit *limit)
{
	(void)limit;
	return resource;
}
