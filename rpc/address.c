/* SPDX-License-Identifier: MIT */
#include "rpc/address.h"

#include "base/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool has_drive(const char *path)
{
	return isalpha((unsigned char)path[0]) != 0 && path[1] == ':';
}

static int pipe_name(const char *text, enum address_rules rules, struct address *out,
		     struct error *err)
{
	static const char root[] = "\\\\.\\pipe\\";
	const char *name = text_starts_with(text, "npipe:") ? text + strlen("npipe:") : text;
	if (text_starts_with(name, "////")) /* npipe:////./pipe/NAME */
		name += 2;
	if (strlen(name) > ADDRESS_PIPE_MAX)
		return error_set(err, ERROR_LIMIT,
				 "pipe name \"%s\" has %zu bytes; at most %zu are possible", name,
				 strlen(name), ADDRESS_PIPE_MAX - strlen(root));
	out->kind = ADDRESS_PIPE;
	(void)snprintf(out->name, sizeof(out->name), "%s", name);
	for (char *at = out->name; *at != '\0'; at++)
		if (*at == '/')
			*at = '\\';
	name = out->name + strlen(root);
	if (!text_starts_with(out->name, root) || *name == '\0' || strchr(name, '\\') != NULL)
		return error_set(
			err, ERROR_ARGUMENT,
			"address \"%s\": expected npipe:////./pipe/NAME or \\\\.\\pipe\\NAME",
			text);
	if (rules == ADDRESS_POSIX)
		return error_set(err, ERROR_UNSUPPORTED,
				 "address \"%s\": named pipes exist on Windows only", text);
	return 0;
}

int address_parse(const char *text, enum address_rules rules, struct address *out,
		  struct error *err)
{
	if (text_starts_with(text, "npipe:") || text_starts_with(text, "\\\\"))
		return pipe_name(text, rules, out, err);
	if (!text_starts_with(text, "unix:"))
		return error_set(
			err, ERROR_ARGUMENT,
			"address \"%s\": expected unix:PATH, unix:///PATH or npipe:////./pipe/NAME",
			text);

	const char *path = text + strlen("unix:");
	if (!text_starts_with(path, "//"))
		return address_of_path(path, out, err);
	path += 2;
	/* A path with a drive is absolute after "unix://" and, as in a URL, "unix:///". */
	if (rules == ADDRESS_WINDOWS && path[0] == '/' && has_drive(path + 1))
		path++;
	if (path[0] != '/' && !(rules == ADDRESS_WINDOWS && has_drive(path)))
		return error_set(err, ERROR_ARGUMENT,
				 "address \"%s\": a path after unix:// must be absolute", text);
	return address_of_path(path, out, err);
}

int address_of_path(const char *path, struct address *out, struct error *err)
{
	if (*path == '\0')
		return error_set(err, ERROR_ARGUMENT, "the path of a socket is empty");
	if (strlen(path) > ADDRESS_PATH_MAX)
		return error_set(err, ERROR_LIMIT,
				 "socket path \"%s\" has %zu bytes; at most %d are possible", path,
				 strlen(path), (int)ADDRESS_PATH_MAX);
	out->kind = ADDRESS_FILE;
	(void)snprintf(out->name, sizeof(out->name), "%s", path);
	return 0;
}
