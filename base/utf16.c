/* SPDX-License-Identifier: MIT */
#include "base/utf16.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdbool.h>
#include <string.h>

enum { REPLACEMENT = 0xFFFD };

static bool is_high(uint32_t unit)
{
	return unit >= 0xD800 && unit <= 0xDBFF;
}

static bool is_low(uint32_t unit)
{
	return unit >= 0xDC00 && unit <= 0xDFFF;
}

/* The character at `text`, which holds at least one unit; *used units. */
static uint32_t decode(const uint16_t *text, size_t count, size_t *used)
{
	uint32_t first = text[0];
	*used = 1;
	if (is_high(first) && count > 1 && is_low(text[1])) {
		*used = 2;
		return 0x10000 + ((first - 0xD800) << 10) + (text[1] - 0xDC00U);
	}
	return is_high(first) || is_low(first) ? REPLACEMENT : first;
}

static size_t encode(uint32_t character, char *out)
{
	static const uint32_t marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
	size_t length = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
	for (size_t i = length - 1; i > 0; i--, character >>= 6)
		out[i] = (char)(0x80 | (character & 0x3F));
	out[0] = (char)(marks[length] | character);
	return length;
}

char *utf16_to_utf8(const uint16_t *text, size_t count)
{
	/* A unit becomes at most three bytes. */
	char *out = count < SIZE_MAX / 4 ? memory_allocate(3 * count + 1, 1) : NULL;
	size_t size = 0;
	for (size_t i = 0, used = 0; out != NULL && i < count; i += used)
		size += encode(decode(text + i, count - i, &used), out + size);
	if (out != NULL)
		out[size] = '\0';
	return out;
}

uint16_t *utf16_from_utf8(const char *text, size_t *count)
{
	size_t size = strlen(text);
	/* A byte becomes at most one unit. */
	uint16_t *out = size < SIZE_MAX / 4 ? memory_allocate(size + 1, sizeof(*out)) : NULL;
	size_t units = 0;
	for (size_t i = 0; out != NULL && i < size;) {
		uint32_t character = 0;
		size_t used = text_character(text + i, size - i, &character);
		if (used == 0)
			character = REPLACEMENT;
		i += used != 0 ? used : 1;
		if (character >= 0x10000) {
			out[units++] = (uint16_t)(0xD800 + ((character - 0x10000) >> 10));
			out[units++] = (uint16_t)(0xDC00 + ((character - 0x10000) & 0x3FF));
		} else {
			out[units++] = (uint16_t)character;
		}
	}
	if (out != NULL)
		out[units] = 0;
	if (count != NULL)
		*count = units;
	return out;
}
