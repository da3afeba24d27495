/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <limits.h>
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

/* As the parser has it: every control character is. */
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

/* Behind an object or array that begins at `at`; NULL: it does not end. */
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

/* Behind a value that begins at `at`; NULL: it does not end. */
static const char *value_end(const char *at, const char *end)
{
	if (at < end && (*at == '{' || *at == '['))
		return nested_end(at, end);
	if (at < end && *at == '"')
		at = string_end(at + 1, end);
	else
		while (at < end && !is_space(*at) && memchr(",}]", *at, 3) == NULL)
			at++;
	return at < end ? at : NULL;
}

static bool is_one_of(const char *const *keys, const char *key, size_t size)
{
	for (; *keys != NULL; keys++) {
		if (**keys == *key && strlen(*keys) == size && memcmp(*keys, key, size) == 0)
			return true;
	}
	return false;
}

/* Behind the member whose key begins at `key`; NULL: the string is not a key that is dropped. */
static const char *dropped_end(const char *key, const char *key_end, const char *end,
			       const char *const *keys)
{
	const char *colon = space_end(key_end, end);
	if (colon == end || *colon != ':' || !is_one_of(keys, key, (size_t)(key_end - key) - 1))
		return NULL;
	return value_end(space_end(colon + 1, end), end);
}

/* What is left of the text up to `to` when a last member is taken away, with the comma before it. */
static char *without_comma(const char *data, char *to)
{
	char *at = to;
	while (at > data && is_space(at[-1]))
		at--;
	return at > data && at[-1] == ',' ? at - 1 : to;
}

size_t json_drop_members(char *data, size_t size, const char *const *keys)
{
	const char *end = data + size;
	const char *from = data; /* what is not copied yet */
	char *to = data;
	for (const char *at = data; (at = memchr(at, '"', (size_t)(end - at))) != NULL;) {
		const char *key = at;
		const char *after = string_end(at + 1, end);
		const char *next = dropped_end(key + 1, after, end, keys);
		at = after;
		if (next == NULL)
			continue;
		memmove(to, from, (size_t)(key - from));
		to += key - from;
		const char *comma = space_end(next, end);
		if (comma < end && *comma == ',')
			next = space_end(comma + 1, end);
		else
			to = without_comma(data, to);
		at = from = next;
	}
	memmove(to, from, (size_t)(end - from));
	return (size_t)(to - data) + (size_t)(end - from);
}
