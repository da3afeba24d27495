/* SPDX-License-Identifier: MIT */
#include "containers/wine/place.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The entry of a directory that a step means; NULL in *out when there is none. */
static int find_entry(const char *directory, const char *step, char **out, struct error *err)
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

static void lower(char *step)
{
	for (; *step != '\0'; step++) {
		if (*step >= 'A' && *step <= 'Z')
			*step = (char)(*step - 'A' + 'a');
	}
}

/* What its symbolic links lead to, which must lie below `directory`. */
static int stay_below(char **place, const char *directory, struct error *err)
{
	char *resolved CLEANUP_FREE = NULL;
	char *root CLEANUP_FREE = NULL;
	int rc = file_resolve(NULL, directory, &root, err);
	if (rc == 0)
		rc = file_resolve(NULL, *place, &resolved, err);
	if (rc < 0)
		return rc;
	if (!path_is_within(resolved, root))
		return error_set(err, ERROR_ARGUMENT, "%s: leads out of %s", *place, directory);
	return 0;
}

int wine_place(const struct windows_path *path, const char *directory, char **out, bool *found,
	       struct error *err)
{
	char *place CLEANUP_FREE = strdup(directory);
	int rc = place != NULL ? 0 : error_memory(err);
	*found = rc == 0 && file_exists(place);
	for (size_t i = 0; rc == 0 && i < path->names.count; i++) {
		char *name CLEANUP_FREE = NULL;
		char *next = NULL;
		if (*found)
			rc = find_entry(place, path->names.items[i], &name, err);
		if (rc == 0 && name == NULL) {
			*found = false;
			name = strdup(path->names.items[i]);
			if (name != NULL)
				lower(name);
		}
		next = rc == 0 && name != NULL ? path_join(place, name) : NULL;
		if (next == NULL)
			return rc < 0 ? rc : error_memory(err);
		free(place);
		place = next;
		if (*found)
			rc = stay_below(&place, directory, err);
	}
	if (rc == 0)
		*out = STEAL(place);
	return rc;
}
