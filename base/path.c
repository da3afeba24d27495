/* SPDX-License-Identifier: MIT */
#include "base/path.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>
#include <uv.h>

#ifdef _WIN32
#define PATH_SEPARATORS "\\/"
#define PATH_SEPARATOR	"\\"
#else
#define PATH_SEPARATORS "/"
#define PATH_SEPARATOR	"/"
#endif

static bool is_separator(char c)
{
	return c != '\0' && strchr(PATH_SEPARATORS, c) != NULL;
}

static const char *last_separator(const char *path)
{
	const char *last = NULL;
	for (; *path != '\0'; path++)
		last = is_separator(*path) ? path : last;
	return last;
}

#ifdef _WIN32
/* "C:\", "\\server\share\", "\\?\", "\", or the part of it that is present; a drive without a
 * separator ("C:") does not count. */
static size_t root_length(const char *path)
{
	size_t length = 2;
	if (isalpha((unsigned char)path[0]) && path[1] == ':')
		return is_separator(path[2]) ? 3 : 0;
	if (!is_separator(path[0]))
		return 0;
	if (!is_separator(path[1]))
		return 1;
	for (int parts = 0; parts < 2; parts++) {
		length += strcspn(path + length, PATH_SEPARATORS);
		length += is_separator(path[length]) ? 1 : 0;
	}
	return length;
}

static int compare(const char *a, const char *b, size_t length)
{
	return strnicmp(a, b, length);
}
#else
static size_t root_length(const char *path)
{
	return path[0] == '/' ? 1 : 0;
}

static int compare(const char *a, const char *b, size_t length)
{
	return strncmp(a, b, length);
}
#endif

char *path_join(const char *head, const char *tail)
{
	size_t length = strlen(head);
	while (length > 0 && is_separator(head[length - 1]))
		length--;
	while (is_separator(*tail))
		tail++;
	return text_format("%.*s" PATH_SEPARATOR "%s", (int)length, head, tail);
}

const char *path_base(const char *path)
{
	const char *separator = last_separator(path);
	return separator != NULL ? separator + 1 : path;
}

char *path_directory(const char *path)
{
	const char *separator = last_separator(path);
	size_t root = root_length(path);
	if (separator == NULL)
		return memory_copy(".");
	while (separator > path && is_separator(separator[-1]))
		separator--;
	return memory_copy_start(
		path, (size_t)(separator - path) < root ? root : (size_t)(separator - path));
}

bool path_is_absolute(const char *path)
{
	return root_length(path) != 0;
}

/* Drops the last component of `out` after the root; false when none may be dropped. */
static bool drop_last(struct text *out, size_t root)
{
	const char *rest = text_string(out) + root;
	const char *separator = last_separator(rest);
	const char *last = separator != NULL ? separator + 1 : rest;
	if (out->size <= root || strcmp(last, "..") == 0)
		return root != 0;
	out->size = root + (separator != NULL ? (size_t)(separator - rest) : 0);
	out->data[out->size] = '\0';
	return true;
}

char *path_normalize(const char *path)
{
	struct text out CLEANUP_TEXT = {0};
	size_t root = root_length(path);
	/* Room for all of it: drop_last() relies on what was appended. */
	if (text_extend(&out, strlen(path) + 1) == NULL)
		return NULL;
	text_reset(&out);
	for (size_t i = 0; i < root; i++)
		text_append(&out, is_separator(path[i]) ? PATH_SEPARATOR : path + i, 1);
	for (const char *p = path + root; *p != '\0';) {
		size_t length = strcspn(p, PATH_SEPARATORS);
		bool parent = length == 2 && memcmp(p, "..", 2) == 0;
		if (length != 0 && !(length == 1 && *p == '.') &&
		    !(parent && drop_last(&out, root))) {
			if (out.size > root ||
			    (root != 0 && !is_separator(text_string(&out)[out.size - 1])))
				text_add(&out, PATH_SEPARATOR);
			text_append(&out, p, length);
		}
		p += length;
		p += *p != '\0' ? 1 : 0;
	}
	if (out.size == 0)
		text_add(&out, ".");
	return text_take(&out);
}

bool path_is_within(const char *path, const char *directory)
{
	char *inner CLEANUP_FREE = path_normalize(path);
	char *outer CLEANUP_FREE = path_normalize(directory);
	if (inner == NULL || outer == NULL)
		return false;
	size_t length = strlen(outer);
	if (compare(inner, outer, length) != 0)
		return false;
	return is_separator(outer[length - 1]) || is_separator(inner[length]) ||
	       inner[length] == '\0';
}

bool path_is_bare_name(const char *name)
{
	if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return false;
	for (const unsigned char *p = (const unsigned char *)name; *p != '\0'; p++) {
		if (*p == '/' || *p == '\\' || *p < 0x20 || *p == 0x7f)
			return false;
	}
	return true;
}

int path_of_program(char **out, struct error *err)
{
	char buffer[4096];
	size_t size = sizeof(buffer);
	int rc = uv_exepath(buffer, &size);
	if (rc < 0)
		return error_uv(err, rc, "path of the running program");
	*out = memory_copy(buffer);
	return *out != NULL ? 0 : error_memory(err);
}

int path_beside_program(const char *relative, char **out, struct error *err)
{
	char *program CLEANUP_FREE = NULL;
	int rc = path_of_program(&program, err);
	if (rc < 0)
		return rc;
	char *directory CLEANUP_FREE = path_directory(program);
	char *joined CLEANUP_FREE = directory != NULL ? path_join(directory, relative) : NULL;
	*out = joined != NULL ? path_normalize(joined) : NULL;
	return *out != NULL ? 0 : error_memory(err);
}

int path_of_helper(const char *name, char **out, struct error *err)
{
	char *folder CLEANUP_FREE = NULL;
	int rc = path_beside_program(".", &folder, err);
	if (rc < 0)
		return rc;
	char *above CLEANUP_FREE = path_directory(folder);
	if (above == NULL)
		return error_memory(err);
	bool within = strcmp(path_base(folder), "gpucert") == 0 &&
		      strcmp(path_base(above), "libexec") == 0;
	if (within)
		return path_beside_program(name, out, err);
	char *beside CLEANUP_FREE = path_join("../libexec/gpucert", name);
	return beside != NULL ? path_beside_program(beside, out, err) : error_memory(err);
}
