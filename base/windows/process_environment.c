/* SPDX-License-Identifier: MIT */
#include "base/windows/process_environment.h"

#include "base/cleanup.h"
#include "base/windows/wide.h"

#include <stdlib.h>
#include <string.h>
#include <windows.h>

struct environment {
	wchar_t **items;
	size_t count;
};

static void environment_free(struct environment *environment)
{
	for (size_t i = 0; i < environment->count; i++)
		free(environment->items[i]);
	free(environment->items);
}

/* "=C:=C:\dir" is a variable too: its name begins with '='. */
static size_t environment_name_length(const wchar_t *entry)
{
	return entry[0] != L'\0' ? 1 + wcscspn(entry + 1, L"=") : 0;
}

static int environment_compare_names(const wchar_t *a, const wchar_t *b)
{
	return CompareStringOrdinal(a, (int)environment_name_length(a), b,
				    (int)environment_name_length(b), TRUE) -
	       CSTR_EQUAL;
}

static int environment_compare(const void *a, const void *b)
{
	return environment_compare_names(*(wchar_t *const *)a, *(wchar_t *const *)b);
}

/* Consumes `entry`; NULL is out of memory. */
static int environment_set(struct environment *environment, wchar_t *entry, struct error *err)
{
	wchar_t **grown = NULL;

	if (entry == NULL)
		return error_memory(err);
	for (size_t i = 0; i < environment->count; i++) {
		if (environment_compare_names(environment->items[i], entry) == 0) {
			free(environment->items[i]);
			environment->items[i] = entry;
			return 0;
		}
	}
	grown = reallocarray(environment->items, environment->count + 1, sizeof(*grown));
	if (grown == NULL) {
		free(entry);
		return error_memory(err);
	}
	environment->items = grown;
	grown[environment->count++] = entry;
	return 0;
}

static int environment_inherit(struct environment *environment, struct error *err)
{
	wchar_t *block = GetEnvironmentStringsW();
	int rc = block != NULL ? 0 : error_memory(err);

	for (const wchar_t *entry = block; rc == 0 && *entry != L'\0'; entry += wcslen(entry) + 1)
		rc = environment_set(environment, _wcsdup(entry), err);
	if (block != NULL)
		(void)FreeEnvironmentStringsW(block);
	return rc;
}

static wchar_t *environment_block(const struct environment *environment)
{
	size_t units = 2; /* an empty block is ended by two NULs as well */
	wchar_t *block = NULL;
	wchar_t *end = NULL;

	for (size_t i = 0; i < environment->count; i++)
		units += wcslen(environment->items[i]) + 1;
	block = calloc(units, sizeof(*block));
	end = block;
	for (size_t i = 0; block != NULL && i < environment->count; i++) {
		wcscpy(end, environment->items[i]);
		end += wcslen(end) + 1;
	}
	return block;
}

int process_environment(const char *const *env, bool clear, wchar_t **out, struct error *err)
{
	struct environment environment CLEANUP(environment_free) = {0};
	int rc = clear ? 0 : environment_inherit(&environment, err);

	for (; rc == 0 && env != NULL && *env != NULL; env++)
		rc = environment_set(&environment, wide_from_utf8(*env), err);
	if (rc < 0)
		return rc;
	if (environment.count != 0)
		qsort(environment.items, environment.count, sizeof(*environment.items),
		      environment_compare);
	*out = environment_block(&environment);
	return *out != NULL ? 0 : error_memory(err);
}
