/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "reference-plugin/serving/socket_file_internal.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

bool socket_file_same(const struct socket_file *a, const struct socket_file *b)
{
	return a->exists == b->exists && a->device == b->device && a->inode == b->inode &&
	       a->created_s == b->created_s && a->created_ns == b->created_ns;
}

char *socket_file_name(const char *program, const char *resource)
{
	static long long last_ms;
	uv_timeval64_t now = {0};
	long long ms = 0;

	(void)uv_gettimeofday(&now);
	ms = (long long)now.tv_sec * 1000 + now.tv_usec / 1000;
	/* Also when the clock is set back, and twice within a millisecond. */
	last_ms = ms > last_ms ? ms : last_ms + 1;
	return text_format("%s-%s-%lld-%d.sock", program, resource, last_ms, (int)uv_os_getpid());
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

bool socket_file_newer_serves(const char *directory, const char *program, const char *resource,
			      const char *own_name)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	char *prefix CLEANUP_FREE = text_format("%s-%s-", program, resource);
	long long own_ms = 0;

	if (prefix == NULL || file_list(directory, &names, NULL) < 0)
		return false;
	own_ms = strtoll(own_name + strlen(prefix), NULL, 10);
	for (size_t i = 0; i < names.count; i++) {
		char *path CLEANUP_FREE = path_join(directory, names.items[i]);

		if (path != NULL && is_own_form(names.items[i], prefix) &&
		    strtoll(names.items[i] + strlen(prefix), NULL, 10) > own_ms &&
		    !socket_file_nobody_listens(path))
			return true;
	}
	return false;
}

void socket_file_remove_stale(const char *directory, const char *program, const char *resource)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	char *prefix CLEANUP_FREE = text_format("%s-%s-", program, resource);

	if (prefix == NULL || file_list(directory, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		char *path CLEANUP_FREE = path_join(directory, names.items[i]);
		uv_fs_t request;

		if (path != NULL && is_own_form(names.items[i], prefix) &&
		    socket_file_nobody_listens(path))
			(void)uv_fs_unlink(NULL, &request, path, NULL);
	}
}
