/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <limits.h>
#include <string.h>

/* The end of the string whose opening quote is before `at`. */
static const char *string_end(const char *at, const char *end)
{
	for (const char *quote = at; (quote = memchr(quote, '"', (size_t)(end - quote))) != NULL;
	     quote++) {
		const char *before = quote;
		while (before > at && before[-1] == '\\')
			before--;
		if ((quote - before) % 2 == 0)
			return quote + 1;
	}
	return end;
}

/* Control characters count, as for the parser. */
static bool is_space(char c)
{
	return (unsigned char)c <= ' ';
}

static const char *space_end(const char *at, const char *end)
{
	while (at < end && is_space(*at))
		at++;
	return at;
}

/* The end of an object or array that begins at `at`; NULL: it does not end. */
static const char *nested_end(const char *at, const char *end)
{
	static const bool stops[UCHAR_MAX + 1] = {
		['"'] = true, ['{'] = true, ['['] = true, ['}'] = true, [']'] = true};
	size_t depth = 0;
	while (at < end) {
		const unsigned char c = (unsigned char)*at++;
		if (!stops[c])
			continue;
		if (c == '"')
			at = string_end(at, end);
		else if (c == '{' || c == '[')
			depth++;
		else if (--depth == 0)
			return at;
	}
	return NULL;
}

/* The end of a value that begins at `at`; NULL: it does not end. */
static const char *value_end(const char *at, const char *end)
{
	if (at < end && (*at == '{' || *at == '['))
		return nested_end(at, end);
	if (at < end && *at == '"')
		at = string_end(at + 1, end);
	else
		while (at < end && !is_space(*at) && *at != ',' && *at != '}' && *at != ']')
			at++;
	return at < end ? at : NULL;
}

/* Is it one of the keys? */
static bool is_key(const char *const *keys, const char *key, size_t size)
{
	for (; *keys != NULL; keys++) {
		if (**keys == *key && text_is(key, size, *keys))
			return true;
	}
	return false;
}

size_t json_drop_members(char *data, size_t size, const char *const *keys)
{
	const char *end = data + size;
	const char *from = data; /* the part not copied yet */
	char *to = data;
	for (const char *at = data; (at = memchr(at, '"', (size_t)(end - at))) != NULL;) {
		const char *key = at;
		at = string_end(at + 1, end);
		const char *colon = space_end(at, end);
		if (colon == end || *colon != ':' || !is_key(keys, key + 1, (size_t)(at - key) - 2))
			continue;
		const char *next = value_end(space_end(colon + 1, end), end);
		if (next == NULL)
			continue;
		memmove(to, from, (size_t)(key - from));
		to += key - from;
		const char *comma = space_end(next, end);
		if (comma < end && *comma == ',') {
			next = space_end(comma + 1, end);
		} else {
			/* The last member is removed with the comma before it. */
			char *before = to;
			while (before > data && is_space(before[-1]))
				before--;
			if (before > data && before[-1] == ',')
				to = before - 1;
		}
		at = from = next;
	}
	memmove(to, from, (size_t)(end - from));
	return (size_t)(to - data) + (size_t)(end - from);
}
