/* SPDX-License-Identifier: MIT */
#include "reports/certificates/faults.h"

void faults_add(struct faults *faults, const char *kind, const char *format, ...)
{
	struct members fault CLEANUP_MEMBERS = members_new();
	struct text what CLEANUP_TEXT = {0};
	const size_t count = faults_count(faults);
	va_list args;
	if (count == FAULTS_MAX)
		return;
	va_start(args, format);
	text_vaddf(&what, format, args);
	va_end(args);
	member_string(&fault, "kind", kind);
	if (count == FAULTS_MAX - 1)
		member_string(&fault, "what", "this and more faults that are not listed");
	else
		member_taken(&fault, "what", text_take(&what));
	if (faults->items == NULL)
		faults->items = cJSON_CreateArray();
	array_add(faults->items, members_take(&fault));
}

void faults_take(struct faults *faults, const struct error *why, const char *kind, const char *what)
{
	faults_add(faults, why->code == ERROR_PERMISSION ? "unreadable-file" : kind, "%s: %s", what,
		   why->text);
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
