/* SPDX-License-Identifier: MIT */
/* A Windows node hands out devices by strings, never by files. */
#include "conformance/checks/node_file.h"

bool node_file_identify(const char *path, struct node_file *out)
{
	(void)path;
	(void)out;
	return false;
}

void node_file_walk(const char *folder, size_t most,
		    bool (*each)(const char *path, const struct node_file *file, void *user),
		    void *user)
{
	(void)folder;
	(void)most;
	(void)each;
	(void)user;
}
