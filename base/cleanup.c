/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"

#include <dirent.h>
#include <unistd.h>

void cleanup_fd_(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

void cleanup_dir_(void *dir)
{
	DIR *opened = *(DIR **)dir;
	if (opened != NULL)
		(void)closedir(opened);
}
