/* SPDX-License-Identifier: MIT */
#include "reports/fleet/fleet.h"

#include <ctype.h>
#include <string.h>

enum { REASON_MAX = 400 };

static bool is_word(char c)
{
	return isalnum((unsigned char)c) != 0;
}

/* Bytes of the word that are hexadecimal digits: all of "3b" and of "0x1f". */
static bool is_number(const char *word, size_t size)
{
	const bool prefixed = size > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
	bool digit = false;
	for (size_t i = prefixed ? 2 : 0; i < size; i++) {
		if (!isxdigit((unsigned char)word[i]))
			return false;
		digit = digit || isdigit((unsigned char)word[i]);
	}
	return digit;
}

/* "#" after "#" and a separator is one with it: of addresses and ids only one is left. */
static void add_mark(struct text *out)
{
	const char *data = text_string(out);
	const size_t size = out->size;
	if (size >= 1 && data[size - 1] == '#')
		return;
	if (size >= 2 && data[size - 2] == '#' && strchr("-:._", data[size - 1]) != NULL)
		out->data[--out->size] = '\0';
	else
		text_add(out, "#");
}

/* A group of an id, such as a UUID or a PCI address, may have only letters. */
static bool continues_id(const struct text *out, const char *word, size_t size)
{
	const char *data = text_string(out);
	if (size % 2 != 0 || out->size < 2 || data[out->size - 2] != '#' ||
	    (data[out->size - 1] != '-' && data[out->size - 1] != ':'))
		return false;
	for (size_t i = 0; i < size; i++) {
		if (!isxdigit((unsigned char)word[i]))
			return false;
	}
	return true;
}

void fleet_add_normalised(const char *reason, struct text *out)
{
	const char *end = reason + text_fit(reason, strlen(reason), REASON_MAX);
	for (const char *at = reason; at < end;) {
		size_t size = 0;
		while (at + size < end && is_word(at[size]))
			size++;
		if (size == 0) {
			text_append(out, at++, 1);
		} else if (is_number(at, size) || continues_id(out, at, size)) {
			add_mark(out);
			at += size;
		} else {
			for (const char *word = at; at < word + size; at++) {
				if (isdigit((unsigned char)*at))
					add_mark(out);
				else
					text_append(out, at, 1);
			}
		}
	}
}
