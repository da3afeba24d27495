/* SPDX-License-Identifier: MIT */
#include "reference-plugin/socket_file.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

struct socket_file socket_file_at(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return (struct socket_file){0};
	return (struct socket_file){
		.exists = true,
		.device = status.st_dev,
		.inode = status.st_ino,
		.created_s = status.st_mtim.tv_sec,
		.created_ns = status.st_mtim.tv_nsec,
	};
}

bool socket_file_same(const struct socket_file *a, const struct socket_file *b)
{
	return a->exists == b->exists && a->device == b->device && a->inode == b->inode &&
	       a->created_s == b->created_s && a->created_ns == b->created_ns;
}

char *socket_file_name(const char *program, const char *resource)
{
	static long long last_ms;
	struct timespec now;
	long long ms = 0;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	ms = (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	/* Also when the clock is set back, and twice within a millisecond. */
	last_ms = ms > last_ms ? ms : last_ms + 1;
	return text_format("%s-%s-%lld-%d.sock", program, resource, last_ms, (int)getpid());
}

/* Is it PREFIX<digits>-<digits>.sock? */
static bool is_own_form(const char *name, const char *prefix)
{
	static const char digits[] = "0123456789";
	const char *rest = name + strlen(prefix);
	size_t count = 0;

	if (!text_starts_with(name, prefix))
		return false;
	count = strspn(rest, digits);
	if (count == 0 || rest[count] != '-')
		return false;
	rest += count + 1;
	count = strspn(rest, digits);
	return count > 0 && strcmp(rest + count, ".sock") == 0;
}

static bool nobody_listens(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat status;
	CLEANUP_FD int fd = -1;

	if (lstat(path, &status) != 0 || !S_ISSOCK(status.st_mode) ||
	    strlen(path) >= sizeof(address.sun_path))
		return false;
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	return fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 &&
	       errno == ECONNREFUSED;
}

void socket_file_remove_stale(const char *directory, const char *program, const char *resource)
{
	CLEANUP_TEXT_LIST struct text_list names = {0};
	CLEANUP_FREE char *prefix = text_format("%s-%s-", program, resource);

	if (prefix == NULL || file_list(directory, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		CLEANUP_FREE char *path = path_join(directory, names.items[i]);

		if (path != NULL && is_own_form(names.items[i], prefix) && nobody_listens(path))
			(void)unlink(path);
	}
}
