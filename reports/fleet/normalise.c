/* SPDX-License-Identifier: MIT */
#include "reports/fleet/fleet.h"

#include <ctype.h>
#include <string.h>

enum { REASON_MAX = 400 };

static bool ends_in_mark(const struct text *out, const char *separators)
{
	const char *end = text_string(out) + out->size;
	return out->size >= 2 && end[-2] == '#' && strchr(separators, end[-1]) != NULL;
}

/* Merges "#", a separator and "#" into one: addresses and ids become a single mark. */
static void add_mark(struct text *out)
{
	if (ends_in_mark(out, "-:._"))
		out->data[--out->size] = '\0';
	else if (!text_ends_with(text_string(out), "#"))
		text_add(out, "#");
}

/* A hexadecimal number, or a group of an id, such as a UUID or a PCI address, which may have only letters. */
static bool is_number(const char *word, size_t size, const struct text *out)
{
	bool digit = false;
	for (size_t i = 0; i < size; i++) {
		if (!isxdigit((unsigned char)word[i]) &&
		    (i != 1 || word[0] != '0' || tolower((unsigned char)word[i]) != 'x'))
			return false;
		digit = digit || isdigit((unsigned char)word[i]);
	}
	return digit || (size % 2 == 0 && ends_in_mark(out, "-:"));
}

void fleet_add_normalised(const char *reason, struct text *out)
{
	const char *end = reason + text_fit(reason, strlen(reason), REASON_MAX);
	for (const char *at = reason; at < end;) {
		size_t size = 0;
		while (at + size < end && isalnum((unsigned char)at[size]))
			size++;
		if (size > 0 && is_number(at, size, out)) {
			add_mark(out);
			at += size;
			continue;
		}
		for (const char *next = at + (size > 0 ? size : 1); at < next; at++) {
			if (isdigit((unsigned char)*at))
				add_mark(out);
			else
				text_append(out, at, 1);
		}
	}
}
