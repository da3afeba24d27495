/* SPDX-License-Identifier: MIT */
#include "discovery/linux/library_version.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/path.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Chunks overlap by more than a marker and a version, so none is cut in two. */
enum { CHUNK_SIZE = 64 * 1024, OVERLAP = 256, SCAN_MAX = 256 * 1024 * 1024, CONSTANT_SIZE = 16 };

static size_t version_length(const char *text, const char *end)
{
	size_t length = 0;
	while (text + length < end && length < LIBRARY_VERSION_SIZE - 1 && text[length] != '\0' &&
	       (isalnum((unsigned char)text[length]) || strchr("._+~-", text[length]) != NULL))
		length++;
	return length;
}

const char *library_version_find(const char *data, size_t size, const char *marker,
				 char out[LIBRARY_VERSION_SIZE])
{
	const size_t marker_size = strlen(marker);
	const char *end = data + size;
	for (const char *at = data;
	     (at = memmem(at, (size_t)(end - at), marker, marker_size)) != NULL;) {
		at += marker_size;
		const size_t length = version_length(at, end);
		if (length > 0 && at + length < end && isdigit((unsigned char)at[0]) &&
		    memchr(at, '.', length) != NULL) {
			memcpy(out, at, length);
			out[length] = '\0';
			return at;
		}
	}
	return NULL;
}

const char *library_version_find_whole(const char *data, size_t size, const char *number,
				       char out[LIBRARY_VERSION_SIZE])
{
	const size_t number_size = strlen(number);
	const char *end = data + size;
	for (const char *at = data;
	     (at = memmem(at, (size_t)(end - at), number, number_size)) != NULL; at++) {
		const size_t length = version_length(at, end);
		if (at > data && at[-1] == '\0' && at + length < end && at[length] == '\0' &&
		    !isdigit((unsigned char)at[number_size])) {
			memcpy(out, at, length + 1);
			return at;
		}
	}
	return NULL;
}

typedef const char *find_version(const char *data, size_t size, const char *text,
				 char out[LIBRARY_VERSION_SIZE]);

/* Returns where in the file the version begins. */
static size_t scan(const char *path, find_version *find, const char *text,
		   char out[LIBRARY_VERSION_SIZE])
{
	char *buffer CLEANUP_FREE = memory_allocate(1, CHUNK_SIZE);
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t held = 0;
	if (buffer == NULL || fd < 0)
		return 0;
	for (size_t total = 0; total < SCAN_MAX;) {
		ssize_t count = read(fd, buffer + held, CHUNK_SIZE - held);
		if (count <= 0)
			return 0;
		total += (size_t)count;
		held += (size_t)count;
		const char *found = find(buffer, held, text, out);
		if (found != NULL)
			return total - held + (size_t)(found - buffer);
		if (held > OVERLAP) {
			memmove(buffer, buffer + held - OVERLAP, OVERLAP);
			held = OVERLAP;
		}
	}
	return 0;
}

void library_version_scan(const char *path, const char *marker, char out[LIBRARY_VERSION_SIZE])
{
	char number[LIBRARY_VERSION_SIZE] = "", whole[LIBRARY_VERSION_SIZE] = "";
	out[0] = '\0';
	const size_t begin = scan(path, library_version_find, marker, out) - strlen(marker);
	if (begin % CONSTANT_SIZE != 0 || strlen(marker) + strlen(out) < CONSTANT_SIZE)
		return;
	memcpy(number, out, strspn(out, "0123456789."));
	(void)scan(path, library_version_find_whole, number, whole);
	if (whole[0] != '\0')
		memcpy(out, whole, sizeof(whole));
}

const char *library_version_of_name(const char *path)
{
	const char *suffix = strstr(path_base(path), ".so.");

	return suffix != NULL && isdigit((unsigned char)suffix[4]) ? suffix + 4 : "";
}
