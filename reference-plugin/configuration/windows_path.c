/* SPDX-License-Identifier: MIT */
#include "reference-plugin/configuration/windows_path.h"

#include "base/path.h"

#include <stddef.h>
#include <string.h>

static bool is_separator(char c)
{
	return c == '\\' || c == '/';
}

static size_t component_length(const char *path)
{
	return strcspn(path, "\\/");
}

const char *windows_path_base(const char *path)
{
	const char *base = path;

	for (const char *at = path; *at != '\0'; at++) {
		if (is_separator(*at))
			base = at + 1;
	}
	return base;
}

/* A name in NTFS has at most 255 units, and no more bytes than that are of use here. */
static bool is_plain_component(const char *path, size_t length)
{
	char name[256];

	if (length >= sizeof(name))
		return false;
	memcpy(name, path, length);
	name[length] = '\0';
	return path_is_windows_name(name);
}

bool windows_path_is_relative(const char *path)
{
	for (;;) {
		size_t length = component_length(path);

		if (!is_plain_component(path, length))
			return false;
		if (path[length] == '\0')
			return true;
		path += length + 1;
	}
}

bool windows_path_is_absolute(const char *path)
{
	bool letter = (path[0] >= 'A' && path[0] <= 'Z') || (path[0] >= 'a' && path[0] <= 'z');

	return letter && path[1] == ':' && is_separator(path[2]) &&
	       windows_path_is_relative(path + 3);
}

/* Equal for the letters of ASCII in either case, and for both separators. */
static int folded(char c)
{
	if (c == '/')
		return '\\';
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* What follows `directory` and its separator in `path`; NULL when it does not lie there. */
static const char *below(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	while (length > 0 && is_separator(directory[length - 1]))
		length--;
	for (size_t i = 0; i < length; i++) {
		if (folded(path[i]) != folded(directory[i]))
			return NULL;
	}
	return is_separator(path[length]) && path[length + 1] != '\0' ? path + length + 1 : NULL;
}

bool windows_path_is_within(const char *path, const char *directory)
{
	return below(path, directory) != NULL;
}

bool windows_path_is_in(const char *path, const char *directory)
{
	const char *name = below(path, directory);

	return name != NULL && path_is_windows_name(name);
}
