/* SPDX-License-Identifier: MIT */
#include "base/process_internal.h"

#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define compare_names strnicmp
#else
#define compare_names strncmp
#endif

/* "=C:=C:\\dir" is a variable of Windows: its name begins with '='. */
static size_t name_length(const char *entry)
{
	return entry[0] != '\0' ? 1 + strcspn(entry + 1, "=") : 0;
}

/* Consumes `entry`; NULL is out of memory. On Windows names are the same whatever their case. */
static int set(struct text_list *entries, char *entry, struct error *err)
{
	for (size_t i = 0; entry != NULL && i < entries->count; i++) {
		size_t length = name_length(entry);
		if (length != name_length(entries->items[i]) ||
		    compare_names(entries->items[i], entry, length) != 0)
			continue;
		free(entries->items[i]);
		entries->items[i] = entry;
		return 0;
	}
	return text_list_take(entries, entry, err);
}

static int inherit(struct text_list *entries, struct error *err)
{
	uv_env_item_t *items = NULL;
	int count = 0;
	int rc = uv_os_environ(&items, &count);
	if (rc < 0)
		return error_uv(err, rc, "environment");
	for (int i = 0; rc == 0 && i < count; i++)
		rc = set(entries, text_format("%s=%s", items[i].name, items[i].value), err);
	uv_os_free_environ(items, count);
	return rc;
}

int process_environment(const char *const *env, struct text_list *out, struct error *err)
{
	int rc = inherit(out, err);
	for (size_t i = 0; rc == 0 && env != NULL && env[i] != NULL; i++)
		rc = set(out, strdup(env[i]), err);
	return rc;
}
