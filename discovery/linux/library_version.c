/* SPDX-License-Identifier: MIT */
#include "discovery/linux/library_version.h"

#include "base/cleanup.h"
#include "base/path.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Chunks overlap by more than a marker and a version, so none is cut in two. */
enum { CHUNK_SIZE = 64 * 1024, OVERLAP = 256, SCAN_MAX = 256 * 1024 * 1024 };

static bool version_allows(char c)
{
	return isalnum((unsigned char)c) || (c != '\0' && strchr("._+~-", c) != NULL);
}

void library_version_find(const char *data, size_t size, const char *marker,
			  char out[LIBRARY_VERSION_SIZE])
{
	size_t marker_size = strlen(marker);
	const char *end = data + size;

	for (const char *at = data;
	     (at = memmem(at, (size_t)(end - at), marker, marker_size)) != NULL;) {
		size_t length = 0;

		at += marker_size;
		while (at + length < end && length < LIBRARY_VERSION_SIZE - 1 &&
		       version_allows(at[length]))
			length++;
		if (length > 0 && at + length < end && isdigit((unsigned char)at[0]) &&
		    memchr(at, '.', length) != NULL) {
			memcpy(out, at, length);
			out[length] = '\0';
			return;
		}
	}
}

void library_version_scan(const char *path, const char *marker, char out[LIBRARY_VERSION_SIZE])
{
	char *buffer CLEANUP_FREE = malloc(CHUNK_SIZE);
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t held = 0;

	out[0] = '\0';
	if (buffer == NULL || fd < 0)
		return;
	for (size_t total = 0; total < SCAN_MAX && out[0] == '\0';) {
		ssize_t count = read(fd, buffer + held, CHUNK_SIZE - held);

		if (count <= 0)
			return;
		total += (size_t)count;
		held += (size_t)count;
		library_version_find(buffer, held, marker, out);
		if (held > OVERLAP) {
			memmove(buffer, buffer + held - OVERLAP, OVERLAP);
			held = OVERLAP;
		}
	}
}

const char *library_version_of_name(const char *path)
{
	const char *suffix = strstr(path_base(path), ".so.");

	return suffix != NULL && isdigit((unsigned char)suffix[4]) ? suffix + 4 : "";
}
