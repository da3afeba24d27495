/* SPDX-License-Identifier: MIT */
/* A Windows node hands out devices by strings, never by files. */
#include "conformance/checks/node_file.h"

bool node_file_identify(const char *path, struct node_file *out)
{
	(void)path;
	(void)out;
	return false;
}

int node_file_mode(const char *path)
{
	(void)path;
	return -1;
}

size_t node_file_count_open(const char *path)
{
	(void)path;
	return 0;
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

bool node_file_find_private(const char *path, size_t most, char **found)
{
	(void)path;
	(void)most;
	(void)found;
	return false;
}
