/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <string.h>

/* Behind the string whose opening quote is before `at`. */
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

static const char *space_end(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
		at++;
	return at;
}

/* Behind a string, object or array that begins at `at`; NULL: it does not end. */
static const char *value_end(const char *at, const char *end)
{
	size_t depth = 0;
	if (*at == '"') {
		at = string_end(at + 1, end);
		return at < end ? at : NULL;
	}
	while (at < end) {
		const char c = *at++;
		if (c == '"')
			at = string_end(at, end);
		else if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && --depth == 0)
			return at;
	}
	return NULL;
}

static bool is_one_of(const char *const *keys, const char *key, size_t size)
{
	for (; *keys != NULL; keys++) {
		if (strlen(*keys) == size && memcmp(*keys, key, size) == 0)
			return true;
	}
	return false;
}

/* The value behind a key that is dropped: strings, objects and arrays; NULL: the string is not such a key. */
static const char *dropped_value(const char *key, const char *key_end, const char *end,
				 const char *const *keys)
{
	const char *colon = space_end(key_end, end);
	if (colon == end || *colon != ':' || key_end - key < 1 ||
	    !is_one_of(keys, key, (size_t)(key_end - key) - 1))
		return NULL;
	const char *value = space_end(colon + 1, end);
	return value < end && strchr("[{\"", *value) != NULL ? value : NULL;
}

size_t json_drop_members(char *data, size_t size, const char *const *keys)
{
	const char *end = data + size;
	const char *from = data; /* what is not copied yet */
	char *to = data;
	for (const char *at = data; (at = memchr(at, '"', (size_t)(end - at))) != NULL;) {
		const char *after = string_end(at + 1, end);
		const char *value = dropped_value(at + 1, after, end, keys);
		const char *next = value != NULL ? value_end(value, end) : NULL;
		at = after;
		if (next == NULL)
			continue;
		const char opening = *value;
		memmove(to, from, (size_t)(value - from));
		to += value - from;
		*to++ = opening;
		*to++ = opening == '[' ? ']' : opening == '{' ? '}' : '"';
		at = from = next;
	}
	memmove(to, from, (size_t)(end - from));
	return (size_t)(to - data) + (size_t)(end - from);
}
