/* SPDX-License-Identifier: MIT */
#include "containers/registry/reference.h"

#include "base/cleanup.h"
#include "base/digester.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 255, TAG_MAX_LENGTH = 128 };

#define LOWER_AND_DIGITS   "abcdefghijklmnopqrstuvwxyz0123456789"
#define LETTERS_AND_DIGITS LOWER_AND_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

void image_reference_free(struct image_reference *reference)
{
	arena_free(&reference->arena);
	*reference = (struct image_reference){0};
}

bool registry_host_is_local(const char *host)
{
	size_t length = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
	return (length == 9 && strncmp(host, "localhost", 9) == 0) ||
	       (length == 5 && strncmp(host, "[::1]", 5) == 0) ||
	       (text_starts_with(host, "127.") && strspn(host, "0123456789.") == length);
}

static bool is_host(const char *host, size_t length)
{
	size_t name = strcspn(host, ":/");
	if (host[0] == '[') {
		name = strcspn(host, "]/") + 1;
		if (name > length || strspn(host + 1, "0123456789abcdefABCDEF:.") + 2 != name)
			return false;
	} else if (name == 0 || strspn(host, LETTERS_AND_DIGITS ".-") < name || host[0] == '-' ||
		   host[0] == '.') {
		return false;
	}
	if (name == length)
		return true;
	size_t digits = strspn(host + name + 1, "0123456789");
	return host[name] == ':' && digits > 0 && digits <= 5 && name + 1 + digits == length;
}

/* Parts of lower-case letters and digits, with '.', '_', "__" or any number of '-' between them. */
static bool is_name(const char *name)
{
	if (strlen(name) > NAME_MAX_LENGTH)
		return false;
	while (true) {
		size_t word = strspn(name, LOWER_AND_DIGITS);
		if (word == 0)
			return false;
		name += word;
		if (*name == '\0')
			return true;
		if (*name == '-')
			name += strspn(name, "-");
		else if (*name == '.' || *name == '/' || *name == '_')
			name += name[0] == '_' && name[1] == '_' ? 2 : 1;
		else
			return false;
	}
}

int image_reference_parse(const char *string, struct image_reference *out, struct error *err)
{
	struct image_reference read CLEANUP_IMAGE_REFERENCE = {0};
	size_t end = strcspn(string, "@");
	const char *rest = arena_format(&read.arena, "%.*s", (int)end, string);
	*out = (struct image_reference){0};
	if (string[end] == '@') {
		if (!digest_is_valid(string + end + 1))
			return error_set(err, ERROR_ARGUMENT, "\"%s\" is not a digest",
					 string + end + 1);
		read.digest = arena_string(&read.arena, string + end + 1);
	}
	const char *slash = strrchr(rest, '/');
	const char *colon = strchr(slash != NULL ? slash : rest, ':');
	if (colon != NULL || read.digest == NULL)
		read.tag = colon != NULL ? colon + 1 : "latest";
	if (colon != NULL) {
		const char *tag = colon + 1;
		size_t length = strlen(tag);
		if (length == 0 || length > TAG_MAX_LENGTH || tag[0] == '.' || tag[0] == '-' ||
		    strspn(tag, LETTERS_AND_DIGITS "_.-") != length)
			return error_set(err, ERROR_ARGUMENT, "\"%s\" is not a tag", tag);
		rest = arena_format(&read.arena, "%.*s", (int)(colon - rest), rest);
	}

	/* Docker's own registry has two names, and names of one part there are the official images. */
	size_t first = strcspn(rest, "/");
	bool has_host = rest[first] == '/' &&
			(memchr(rest, '.', first) != NULL || memchr(rest, ':', first) != NULL ||
			 strncmp(rest, "localhost/", first + 1) == 0);
	if (has_host && !is_host(rest, first))
		return error_set(err, ERROR_ARGUMENT, "\"%.*s\" is not a host with a port",
				 (int)first, rest);
	if (!has_host || strncmp(rest, "index.docker.io/", first + 1) == 0)
		read.host = "docker.io";
	else
		read.host = arena_format(&read.arena, "%.*s", (int)first, rest);
	rest += has_host ? first + 1 : 0;
	bool official = text_equal(read.host, "docker.io") && strchr(rest, '/') == NULL;
	read.name = arena_format(&read.arena, "%s%s", official ? "library/" : "", rest);
	if (is_name(read.name)) {
		*out = read;
		/* NOLINTNEXTLINE(clang-analyzer-deadcode.DeadStores): the cleanup reads it */
		read = (struct image_reference){0};
		return 0;
	}

	for (const char *letter = read.name; *letter != '\0'; letter++) {
		if (isupper((unsigned char)*letter))
			return error_set(err, ERROR_ARGUMENT,
					 "repository names are lower case: \"%s\"", read.name);
	}
	return error_set(err, ERROR_ARGUMENT, "\"%s\" is not the name of a repository", read.name);
}
