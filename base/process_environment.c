/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
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

/* The variable of the same name; their count: none. On Windows case does not matter. */
static size_t find(const struct text_list *entries, const char *entry)
{
	size_t length = name_length(entry);
	size_t i = 0;
	while (i < entries->count && (length != name_length(entries->items[i]) ||
				      compare_names(entries->items[i], entry, length) != 0))
		i++;
	return i;
}

/* Consumes `entry`. */
static void set(struct text_list *entries, char *entry)
{
	size_t at = find(entries, entry);
	if (at == entries->count) {
		text_list_take(entries, entry);
		return;
	}
	free(entries->items[at]);
	entries->items[at] = entry;
}

static void unset(struct text_list *entries, const char *name)
{
	size_t at = find(entries, name);
	if (at == entries->count)
		return;
	free(entries->items[at]);
	memmove(&entries->items[at], &entries->items[at + 1],
		(entries->count - at - 1) * sizeof(*entries->items));
	entries->count--;
}

int process_environment(const char *const *env, struct text_list *out, struct error *err)
{
	uv_env_item_t *items = NULL;
	int count = 0;
	int rc = uv_os_environ(&items, &count);
	if (rc < 0)
		return error_uv(err, rc, "environment");
	for (int i = 0; i < count; i++)
		set(out, text_format("%s=%s", items[i].name, items[i].value));
	uv_os_free_environ(items, count);

	for (; env != NULL && *env != NULL; env++) {
		if ((*env)[name_length(*env)] == '\0')
			unset(out, *env);
		else
			set(out, memory_copy(*env));
	}
	return 0;
}
