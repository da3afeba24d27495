/* SPDX-License-Identifier: MIT */
#include "base/path.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <string.h>
#include <uv.h>

char *path_join(const char *head, const char *tail)
{
	size_t length = strlen(head);

	while (length > 0 && head[length - 1] == '/')
		length--;
	while (*tail == '/')
		tail++;
	return text_format("%.*s/%s", (int)length, head, tail);
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

char *path_directory(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return strdup(".");
	while (slash > path && slash[-1] == '/')
		slash--;
	return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

bool path_is_absolute(const char *path)
{
	return path[0] == '/';
}

/* Drops the last component of `out`; false when there is none that may be dropped. */
static bool path_drop_last(struct text *out, bool absolute)
{
	const char *string = text_string(out);
	const char *slash = strrchr(string, '/');
	const char *last = slash != NULL ? slash + 1 : string;

	if (out->size == 0 || strcmp(last, "..") == 0)
		return absolute;
	out->size = slash != NULL ? (size_t)(slash - string) : 0;
	out->data[out->size] = '\0';
	return true;
}

char *path_normalize(const char *path)
{
	struct text out CLEANUP_TEXT = {0};
	bool absolute = path_is_absolute(path);

	for (const char *p = path; *p != '\0';) {
		size_t length = strcspn(p, "/");
		bool parent = length == 2 && memcmp(p, "..", 2) == 0;

		if (length != 0 && !(length == 1 && *p == '.') &&
		    !(parent && path_drop_last(&out, absolute))) {
			if (out.size != 0 || absolute)
				text_add(&out, "/");
			text_append(&out, p, length);
		}
		p += length;
		p += *p == '/' ? 1 : 0;
	}
	if (out.size == 0)
		text_add(&out, absolute ? "/" : ".");
	return text_take(&out);
}

bool path_is_within(const char *path, const char *directory)
{
	char *inner CLEANUP_FREE = path_normalize(path);
	char *outer CLEANUP_FREE = path_normalize(directory);
	size_t length = 0;

	if (inner == NULL || outer == NULL)
		return false;
	if (strcmp(outer, "/") == 0)
		return path_is_absolute(inner);
	length = strlen(outer);
	return strncmp(inner, outer, length) == 0 &&
	       (inner[length] == '/' || inner[length] == '\0');
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
	*out = strdup(buffer);
	return *out != NULL ? 0 : error_memory(err);
}

int path_beside_program(const char *relative, char **out, struct error *err)
{
	char *program CLEANUP_FREE = NULL;
	char *directory CLEANUP_FREE = NULL;
	char *joined CLEANUP_FREE = NULL;
	int rc = path_of_program(&program, err);

	if (rc < 0)
		return rc;
	directory = program != NULL ? path_directory(program) : NULL;
	joined = directory != NULL ? path_join(directory, relative) : NULL;
	*out = joined != NULL ? path_normalize(joined) : NULL;
	return *out != NULL ? 0 : error_memory(err);
}
