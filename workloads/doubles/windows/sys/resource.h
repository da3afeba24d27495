/* SPDX-License-Identifier: MIT */
#pragma once

/* Replaces the header of this name on Windows, which keeps no core files. */

enum { RLIMIT_CORE };

struct rlimit {
	int none;
};

static inline int setrlimit(int resource, const struct rlimit *limit)
{
	(void)limit;
	return resource;
}
