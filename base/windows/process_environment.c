/* SPDX-License-Identifier: MIT */
/* Command line and environment block of a child process. */
#include "base/process_internal.h"

#include "base/cleanup.h"
#include "base/windows/wide.h"

#include <string.h>

/* "=C:=C:\\dir" is a variable too: its name begins with '='. */
static size_t name_length(const char *entry)
{
	return entry[0] != '\0' ? 1 + strcspn(entry + 1, "=") : 0;
}

static int compare(const void *a, const void *b)
{
	return stricmp(*(char *const *)a, *(char *const *)b);
}

/* Consumes `entry`; NULL is out of memory. Names are the same whatever their case. */
static int set(struct text_list *entries, char *entry, struct error *err)
{
	for (size_t i = 0; entry != NULL && i < entries->count; i++) {
		size_t length = name_length(entry);
		if (length != name_length(entries->items[i]) ||
		    strnicmp(entries->items[i], entry, length) != 0)
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

int process_environment(const char *const *env, wchar_t **out, struct error *err)
{
	struct text_list entries CLEANUP_TEXT_LIST = {0};
	struct text block CLEANUP_TEXT = {0};
	int rc = inherit(&entries, err);
	for (size_t i = 0; rc == 0 && env != NULL && env[i] != NULL; i++)
		rc = set(&entries, strdup(env[i]), err);
	if (rc < 0)
		return rc;
	if (entries.count > 0)
		qsort(entries.items, entries.count, sizeof(*entries.items), compare);
	for (size_t i = 0; i < entries.count; i++) {
		wchar_t *wide CLEANUP_FREE = wide_from_utf8(entries.items[i]);
		if (wide == NULL)
			return error_memory(err);
		text_append(&block, (const char *)wide, (wcslen(wide) + 1) * sizeof(*wide));
	}
	/* An empty block is ended by two NULs as well. */
	text_append(&block, (const char *)L"\0", 2 * sizeof(wchar_t));
	*out = (wchar_t *)(void *)text_take(&block);
	return *out != NULL ? 0 : error_memory(err);
}

char *process_command_line(const char *const *argv)
{
	struct text out CLEANUP_TEXT = {0};
	for (size_t i = 0; argv[i] != NULL; i++) {
		text_add(&out, i != 0 ? " " : "");
		if (argv[i][0] != '\0' && strpbrk(argv[i], " \t\n\v\"") == NULL)
			text_add(&out, argv[i]);
		else
			text_add_argument(&out, argv[i]);
	}
	return text_take(&out);
}
