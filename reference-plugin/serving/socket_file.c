/* SPDX-License-Identifier: MIT */
#include "reference-plugin/serving/socket_file.h"

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

struct socket_identity socket_file_at(const char *path)
{
	struct socket_identity found = {0};
	(void)socket_identify(path, &found);
	return found;
}

char *socket_file_name(const char *label)
{
	static long long last_ms;
	uv_timeval64_t now = {0};
	(void)uv_gettimeofday(&now);
	long long ms = (long long)now.tv_sec * 1000 + now.tv_usec / 1000;
	/* Unique even when the clock is set back, and twice within a millisecond. */
	last_ms = ms > last_ms ? ms : last_ms + 1;
	return text_format("%s-%lld-%d.sock", label, last_ms, (int)uv_os_getpid());
}

/* The time in a name of socket_file_name(); -1 when it is not a name of this label. */
static long long made_ms(const char *name, const char *label)
{
	static const char digits[] = "0123456789";
	if (!text_starts_with(name, label) || name[strlen(label)] != '-')
		return -1;
	const char *ms = name + strlen(label) + 1;
	const char *process = ms + strspn(ms, digits);
	if (process == ms || *process++ != '-' || strspn(process, digits) == 0)
		return -1;
	if (strcmp(process + strspn(process, digits), ".sock") != 0)
		return -1;
	return strtoll(ms, NULL, 10);
}

/* The sockets of a label that were made after `after_ms`. */
static struct text_list sockets(const char *directory, const char *label, long long after_ms)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	struct text_list paths = {0};
	if (file_list(directory, &names, NULL) < 0)
		return paths;
	text_each (name, &names) {
		if (made_ms(name, label) > after_ms)
			text_list_take(&paths, path_join(directory, name));
	}
	return paths;
}

bool socket_file_newer_serves(const char *directory, const char *label, const char *own_name)
{
	struct text_list newer CLEANUP_TEXT_LIST =
		sockets(directory, label, made_ms(own_name, label));
	text_each (path, &newer) {
		if (!socket_file_nobody_listens(path))
			return true;
	}
	return false;
}

bool socket_file_older_exists(const char *directory, const char *label, const char *own_name)
{
	struct text_list all CLEANUP_TEXT_LIST = sockets(directory, label, -1);
	text_each (path, &all) {
		if (made_ms(path_base(path), label) < made_ms(own_name, label))
			return true;
	}
	return false;
}

void socket_file_remove_stale(const char *directory, const char *label)
{
	struct text_list all CLEANUP_TEXT_LIST = sockets(directory, label, -1);
	text_each (path, &all) {
		uv_fs_t request;
		if (socket_file_nobody_listens(path))
			(void)uv_fs_unlink(NULL, &request, path, NULL);
	}
}
