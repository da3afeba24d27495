/* SPDX-License-Identifier: MIT */
#include "containers/wine/windows_path.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void windows_path_free(struct windows_path *path)
{
	text_list_free(&path->steps);
}

static bool windows_is_separator(char c)
{
	return c == '\\' || c == '/';
}

/* The name up to its first dot, without blanks at its end, is that of a device. */
static bool windows_is_device_name(const char *step)
{
	static const char *const names[] = {"CON", "PRN", "AUX",     "NUL",	"CONIN$", "CONOUT$",
					    "COM", "LPT", "COM\xc2", "LPT\xc2", "CLOCK$", NULL};
	size_t length = strcspn(step, ".");

	while (length > 0 && step[length - 1] == ' ')
		length--;
	for (size_t i = 0; names[i] != NULL; i++) {
		size_t size = strlen(names[i]);
		bool numbered =
			strncmp(names[i], "COM", 3) == 0 || strncmp(names[i], "LPT", 3) == 0;

		if (length < size || strncasecmp(step, names[i], size) != 0)
			continue;
		if (!numbered && length == size)
			return true;
		/* COM0 to COM9, and the superscript digits U+00B9, U+00B2, U+00B3. */
		if (numbered && length == size + 1 &&
		    (size == 4 ? strchr("\xb9\xb2\xb3", step[size]) != NULL
			       : isdigit((unsigned char)step[size]) != 0))
			return true;
	}
	return false;
}

/* Why Windows would not take the step for a plain name; NULL: it is one. */
static const char *windows_step_offence(const char *step)
{
	size_t length = strlen(step);

	if (strcmp(step, "..") == 0 || strcmp(step, ".") == 0)
		return "steps up or stays";
	if (strchr(step, ':') != NULL)
		return "names an alternate data stream";
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)step[i] < 0x20 || step[i] == 0x7f)
			return "holds a control character";
	}
	if (step[strcspn(step, "<>\"|?*")] != '\0')
		return "holds a character that names cannot have";
	if (step[length - 1] == '.' || step[length - 1] == ' ')
		return "ends with a dot or a blank, which Windows drops";
	return windows_is_device_name(step) ? "is the name of a device" : NULL;
}

static int windows_path_refuse(const char *what, const char *text, const char *why,
			       struct error *err)
{
	struct text shown CLEANUP_TEXT = {0};

	text_add_escaped(&shown, text, strlen(text));
	return error_set(err, ERROR_ARGUMENT, "%s '%.200s': %s", what, text_string(&shown), why);
}

static int windows_path_add_steps(const char *text, const char *what, struct windows_path *path,
				  struct error *err)
{
	const char *at = text + 3;
	int rc = 0;

	while (rc == 0 && *at != '\0') {
		size_t length = strcspn(at, "\\/");
		char *step CLEANUP_FREE = strndup(at, length);
		const char *offence = NULL;

		at += length + (at[length] != '\0');
		if (step == NULL)
			return error_memory(err);
		if (length == 0)
			continue;
		offence = windows_step_offence(step);
		if (offence != NULL) {
			struct text why CLEANUP_TEXT = {0};

			text_add(&why, "'");
			text_add_escaped(&why, step, length);
			text_addf(&why, "' %s", offence);
			return windows_path_refuse(what, text, text_string(&why), err);
		}
		rc = text_list_take(&path->steps, STEAL(step), err);
	}
	return rc;
}

int windows_path_parse(const char *text, const char *what, struct windows_path *out,
		       struct error *err)
{
	struct windows_path path CLEANUP_WINDOWS_PATH = {0};
	int rc = 0;

	if (text == NULL || text[0] == '\0')
		return error_set(err, ERROR_ARGUMENT, "%s: path is empty", what);
	if (strlen(text) > WINDOWS_PATH_MAX)
		return error_set(err, ERROR_ARGUMENT, "%s: path is longer than %d bytes", what,
				 WINDOWS_PATH_MAX);
	if (!text_is_utf8(text, strlen(text)))
		return windows_path_refuse(what, text, "is not UTF-8", err);
	if (windows_is_separator(text[0]) && windows_is_separator(text[1]))
		return windows_path_refuse(what, text, "is a network or device path", err);
	if (isalpha((unsigned char)text[0]) == 0 || text[1] != ':' ||
	    !windows_is_separator(text[2]))
		return windows_path_refuse(what, text, "does not begin at the root of a drive",
					   err);
	path.drive = (char)toupper((unsigned char)text[0]);
	rc = windows_path_add_steps(text, what, &path, err);
	if (rc < 0)
		return rc;
	*out = path;
	path = (struct windows_path){0};
	return 0;
}

/* The entry of a directory that a step means; NULL in *out when there is none. */
static int windows_find_entry(const char *directory, const char *step, char **out,
			      struct error *err)
{
	char *exact CLEANUP_FREE = path_join(directory, step);
	struct text_list names CLEANUP_TEXT_LIST = {0};

	if (exact == NULL)
		return error_memory(err);
	if (file_exists(exact)) {
		*out = strdup(step);
		return *out != NULL ? 0 : error_memory(err);
	}
	if (!file_is_directory(directory))
		return 0;
	int rc = file_list(directory, &names, err);

	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		if (strcasecmp(names.items[i], step) == 0) {
			*out = strdup(names.items[i]);
			return *out != NULL ? 0 : error_memory(err);
		}
	}
	return rc;
}

static void windows_lower(char *step)
{
	for (; *step != '\0'; step++) {
		if (*step >= 'A' && *step <= 'Z')
			*step = (char)(*step - 'A' + 'a');
	}
}

/* Replaces *place by what its symbolic links lead to, which must lie below `directory`. */
static int windows_stay_below(char **place, const char *directory, struct error *err)
{
	char *resolved CLEANUP_FREE = NULL;
	char *root CLEANUP_FREE = NULL;
	int rc = file_resolve(NULL, directory, &root, err);

	rc = rc == 0 ? file_resolve(NULL, *place, &resolved, err) : rc;
	if (rc < 0)
		return rc;
	if (!path_is_within(resolved, root))
		return error_set(err, ERROR_ARGUMENT, "%s: leads out of %s", *place, directory);
	return 0;
}

int windows_path_below(const struct windows_path *path, const char *directory, char **out,
		       bool *found, struct error *err)
{
	char *place CLEANUP_FREE = strdup(directory);
	int rc = place != NULL ? 0 : error_memory(err);

	*found = rc == 0 && file_exists(place);
	for (size_t i = 0; rc == 0 && i < path->steps.count; i++) {
		char *name CLEANUP_FREE = NULL;
		char *next = NULL;

		if (*found)
			rc = windows_find_entry(place, path->steps.items[i], &name, err);
		if (rc == 0 && name == NULL) {
			*found = false;
			name = strdup(path->steps.items[i]);
			if (name != NULL)
				windows_lower(name);
		}
		next = rc == 0 && name != NULL ? path_join(place, name) : NULL;
		if (next == NULL)
			return rc < 0 ? rc : error_memory(err);
		free(place);
		place = next;
		if (*found)
			rc = windows_stay_below(&place, directory, err);
	}
	if (rc == 0)
		*out = STEAL(place);
	return rc;
}
