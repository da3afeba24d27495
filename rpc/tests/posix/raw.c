/* SPDX-License-Identifier: MIT */
#include "rpc/tests/raw.h"

#include <dirent.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

struct raw raw_connect(struct rig *rig)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)strncpy(address.sun_path, rig->path, sizeof(address.sun_path) - 1);
	CU_ASSERT_FATAL(connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0);
	return (struct raw){.object = fd};
}

void raw_write(struct raw raw, const void *bytes, size_t size)
{
	CU_ASSERT(write((int)raw.object, bytes, size) == (ssize_t)size);
}

bool raw_was_closed(struct raw raw)
{
	char byte = 0;
	ssize_t size = 0;
	do
		size = recv((int)raw.object, &byte, 1, MSG_DONTWAIT);
	while (size > 0);
	return size == 0;
}

void raw_close(struct raw raw)
{
	(void)close((int)raw.object);
}

bool raw_is_private(struct rig *rig)
{
	struct stat status = {0};
	return stat(rig->path, &status) == 0 && (status.st_mode & 07777) == 0600;
}

size_t raw_handle_count(void)
{
	DIR *directory = must(opendir("/proc/self/fd"));
	size_t count = 0;
	while (readdir(directory) != NULL)
		count++;
	(void)closedir(directory);
	return count;
}
