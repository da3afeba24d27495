/* SPDX-License-Identifier: MIT */
#include "reports/attest/faults.h"

int faults_add(struct faults *faults, struct error *err, const char *kind, const char *format, ...)
{
	struct members fault CLEANUP_MEMBERS = members_new();
	struct text what CLEANUP_TEXT = {0};
	va_list args;
	if (faults->items == NULL)
		faults->items = cJSON_CreateArray();
	const size_t count = faults_count(faults);
	if (count == FAULTS_MAX)
		return 0;
	va_start(args, format);
	text_vaddf(&what, format, args);
	va_end(args);
	member_string(&fault, "kind", kind);
	if (count == FAULTS_MAX - 1)
		member_string(&fault, "what", "this and more that is not told here");
	else
		member_taken(&fault, "what", text_take(&what));
	return members_append(faults->items, members_take(&fault), err);
}

int faults_take(struct faults *faults, const struct error *why, const char *kind, const char *what,
		struct error *err)
{
	return why->code == ERROR_MEMORY ? error_memory(err)
					 : faults_add(faults, err, kind, "%s: %s", what, why->text);
}

size_t faults_count(const struct faults *faults)
{
	return (size_t)cJSON_GetArraySize(faults->items);
}

void faults_free(struct faults *faults)
{
	cJSON_Delete(faults->items);
	*faults = (struct faults){0};
}
