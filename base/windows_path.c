/* SPDX-License-Identifier: MIT */
#include "base/windows_path.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define SEPARATORS "\\/"

void windows_path_free(struct windows_path *path)
{
	text_list_free(&path->names);
}

bool windows_path_is_separator(char c)
{
	return c == '\\' || c == '/';
}

void windows_path_use_backslashes(char *path)
{
	for (; *path != '\0'; path++) {
		if (*path == '/')
			*path = '\\';
	}
}

/* "CON", "com1.txt": the name before the first dot, without blanks at its end, is a device's. */
static bool is_device(const char *name, size_t length)
{
	static const char *const devices[] = {"CON",	"PRN",	   "AUX",   "NUL",
					      "CONIN$", "CONOUT$", "CLOCK$"};
	const char *dot = memchr(name, '.', length);
	const char *number = name + 3;
	length = dot != NULL ? (size_t)(dot - name) : length;
	while (length > 0 && name[length - 1] == ' ')
		length--;
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		if (strlen(devices[i]) == length && strncasecmp(name, devices[i], length) == 0)
			return true;
	}
	if (length < 4 || (strncasecmp(name, "COM", 3) != 0 && strncasecmp(name, "LPT", 3) != 0))
		return false;
	/* Superscripts (U+00B9, U+00B2, U+00B3) are digits as well. */
	return (length == 4 && isdigit((unsigned char)*number)) ||
	       (length == 5 && number[0] == '\xc2' && strchr("\xb9\xb2\xb3", number[1]) != NULL);
}

static size_t units(const char *name, size_t length)
{
	size_t count = 0;
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)name[i];
		count += byte >= 0xf0 ? 2 : (byte & 0xc0) != 0x80;
	}
	return count;
}

static bool has_any(const char *name, size_t length, const char *characters)
{
	return strcspn(name, characters) < length;
}

/* Why Windows would not accept the name for a file; NULL: it would. */
static const char *offence(const char *name, size_t length)
{
	if (length == 0)
		return "is empty";
	if ((length == 1 || (length == 2 && name[1] == '.')) && name[0] == '.')
		return "steps up or stays";
	if (has_any(name, length, ":"))
		return "names an alternate data stream";
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
			return "holds a control character";
	}
	if (has_any(name, length, "<>\"|?*" SEPARATORS))
		return "holds a character that names cannot have";
	if (name[length - 1] == '.' || name[length - 1] == ' ')
		return "ends with a dot or a blank, which Windows drops";
	if (is_device(name, length))
		return "is the name of a device";
	return units(name, length) > WINDOWS_NAME_MAX ? "is longer than 255 characters" : NULL;
}

static int refuse(const char *what, const char *text, const char *why, struct error *err)
{
	struct text shown CLEANUP_TEXT = {0};
	text_add_escaped(&shown, text, strlen(text));
	return error_set(err, ERROR_ARGUMENT, "%s '%.200s': %s", what, text_string(&shown), why);
}

static int add_names(const char *text, const char *what, struct windows_path *path,
		     struct error *err)
{
	size_t length = 0;
	for (const char *at = text + 3; *at != '\0'; at += length) {
		at += strspn(at, SEPARATORS);
		length = strcspn(at, SEPARATORS);
		const char *why = length > 0 ? offence(at, length) : NULL;
		if (why != NULL) {
			struct text sentence CLEANUP_TEXT = {0};
			text_add(&sentence, "'");
			text_add_escaped(&sentence, at, length);
			text_addf(&sentence, "' %s", why);
			return refuse(what, text, text_string(&sentence), err);
		}
		if (length > 0)
			text_list_take(&path->names, memory_copy_start(at, length));
	}
	return text_list_check(&path->names, err);
}

static bool has_drive(const char *path)
{
	return isalpha((unsigned char)path[0]) && path[1] == ':' &&
	       windows_path_is_separator(path[2]);
}

int windows_path_parse(const char *text, const char *what, struct windows_path *out,
		       struct error *err)
{
	struct windows_path path CLEANUP_WINDOWS_PATH = {0};
	if (text == NULL || text[0] == '\0')
		return error_set(err, ERROR_ARGUMENT, "%s: path is empty", what);
	if (strlen(text) > WINDOWS_PATH_MAX)
		return error_set(err, ERROR_ARGUMENT, "%s: path is longer than %d bytes", what,
				 WINDOWS_PATH_MAX);
	if (!text_is_utf8(text, strlen(text)))
		return refuse(what, text, "is not UTF-8", err);
	if (windows_path_is_separator(text[0]) && windows_path_is_separator(text[1]))
		return refuse(what, text, "is a network or device path", err);
	if (!has_drive(text))
		return refuse(what, text, "does not begin at the root of a drive", err);
	path.drive = (char)toupper((unsigned char)text[0]);
	int rc = add_names(text, what, &path, err);
	if (rc < 0)
		return rc;
	*out = STEAL(path);
	return 0;
}

static bool is_sound(const char *name, size_t length)
{
	return text_is_utf8(name, length) && offence(name, length) == NULL;
}

bool windows_path_is_name(const char *name)
{
	return is_sound(name, strlen(name));
}

bool windows_path_is_relative(const char *path)
{
	for (;;) {
		size_t length = strcspn(path, SEPARATORS);
		if (!is_sound(path, length))
			return false;
		if (path[length] == '\0')
			return true;
		path += length + 1;
	}
}

bool windows_path_is_absolute(const char *path)
{
	return has_drive(path) && windows_path_is_relative(path + 3);
}

/* The part of `path` after `directory` and a separator; NULL when it is not below it. */
static const char *below(const char *path, const char *directory)
{
	size_t length = strlen(directory);
	while (length > 0 && windows_path_is_separator(directory[length - 1]))
		length--;
	for (size_t i = 0; i < length; i++) {
		if (windows_path_is_separator(path[i]) && windows_path_is_separator(directory[i]))
			continue;
		if (tolower((unsigned char)path[i]) != tolower((unsigned char)directory[i]))
			return NULL;
	}
	return windows_path_is_separator(path[length]) && path[length + 1] != '\0'
		       ? path + length + 1
		       : NULL;
}

bool windows_path_is_within(const char *path, const char *directory)
{
	return below(path, directory) != NULL;
}

bool windows_path_is_in(const char *path, const char *directory)
{
	const char *name = below(path, directory);
	return name != NULL && windows_path_is_name(name);
}

const char *windows_path_base(const char *path)
{
	const char *base = path;
	for (; *path != '\0'; path++)
		base = windows_path_is_separator(*path) ? path + 1 : base;
	return base;
}

char *windows_path_place(const char *path)
{
	struct text place CLEANUP_TEXT = {0};
	bool drive = isalpha((unsigned char)path[0]) && path[1] == ':';
	text_addf(&place, "%c:", drive ? tolower((unsigned char)path[0]) : 'c');
	for (path += drive ? 2 : 0; *path != '\0'; path++) {
		bool separator = windows_path_is_separator(*path);
		char letter = (char)(separator ? '\\' : tolower((unsigned char)*path));
		if (!separator || !text_ends_with(text_string(&place), "\\"))
			text_append(&place, &letter, 1);
	}
	if (!place.failed && place.size > 3 && place.data[place.size - 1] == '\\')
		place.data[--place.size] = '\0';
	return text_take(&place);
}
