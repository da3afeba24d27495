/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include "base/array.h"
#include "base/memory.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool reserve(struct text *text, size_t more)
{
	size_t capacity = text->capacity != 0 ? text->capacity : 64;
	if (text->failed)
		return false;
	if (more >= SIZE_MAX / 2 - text->size) {
		text->failed = true;
		return false;
	}
	while (capacity < text->size + more + 1)
		capacity *= 2;
	if (capacity == text->capacity)
		return true;
	char *grown = memory_resize(text->data, capacity, 1);
	if (grown == NULL) {
		text->failed = true;
		return false;
	}
	text->data = grown;
	text->capacity = capacity;
	return true;
}

void text_append(struct text *text, const char *data, size_t size)
{
	if (!reserve(text, size))
		return;
	if (size != 0)
		memcpy(text->data + text->size, data, size);
	text->size += size;
	text->data[text->size] = '\0';
}

void text_add(struct text *text, const char *string)
{
	text_append(text, string, strlen(string));
}

char *text_extend(struct text *text, size_t size)
{
	if (!reserve(text, size))
		return NULL;
	text->size += size;
	text->data[text->size] = '\0';
	return text->data + text->size - size;
}

void text_vaddf(struct text *text, const char *format, va_list args)
{
	va_list again;
	va_copy(again, args);
	int length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (length < 0) {
		text->failed = true;
		return;
	}
	if (!reserve(text, (size_t)length))
		return;
	(void)vsnprintf(text->data + text->size, (size_t)length + 1, format, args);
	text->size += (size_t)length;
}

void text_add_item(struct text *text, const char *separator, const char *item)
{
	text_addf(text, "%s%s", text->size > 0 ? separator : "", item);
}

void text_add_joined(struct text *text, const char *separator, const char *const *items)
{
	for (size_t i = 0; items != NULL && items[i] != NULL; i++)
		text_addf(text, "%s%s", i > 0 ? separator : "", items[i]);
}

void text_add_all(struct text *text, const struct text *other)
{
	text->failed = text->failed || other->failed;
	text_append(text, text_string(other), other->size);
}

void text_addf(struct text *text, const char *format, ...)
{
	text_add_formatted(text, format);
}

const char *text_string(const struct text *text)
{
	return text->data != NULL ? text->data : "";
}

char *text_take(struct text *text)
{
	char *taken = NULL;
	if (text->data == NULL)
		text_append(text, "", 0);
	if (!text->failed) {
		taken = text->data;
		text->data = NULL;
	}
	text_free(text);
	return taken;
}

void text_reset(struct text *text)
{
	text->size = 0;
	text->failed = false;
	if (text->data != NULL)
		text->data[0] = '\0';
}

void text_free(struct text *text)
{
	free(text->data);
	*text = (struct text){0};
}

size_t text_character(const char *data, size_t size, uint32_t *code)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *s = (const unsigned char *)data;
	size_t length = size == 0		? 0
			: s[0] < 0x80		? 1
			: (s[0] & 0xe0) == 0xc0 ? 2
			: (s[0] & 0xf0) == 0xe0 ? 3
			: (s[0] & 0xf8) == 0xf0 ? 4
						: 0;
	if (length == 0 || length > size)
		return 0;
	*code = length == 1 ? s[0] : s[0] & (0x7fU >> length);
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3fU);
	}
	if (*code < smallest[length] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return length;
}

bool text_is_utf8(const char *data, size_t size)
{
	uint32_t code = 0;
	for (size_t i = 0; i < size;) {
		size_t length = text_character(data + i, size - i, &code);
		if (length == 0)
			return false;
		i += length;
	}
	return true;
}

size_t text_columns(const char *data, size_t size)
{
	size_t columns = 0;
	for (size_t i = 0; i < size; i++)
		columns += ((unsigned char)data[i] & 0xc0) != 0x80 ? 1 : 0;
	return columns;
}

bool text_is_hazardous(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c || code == 0x200b ||
	       code == 0x200e || code == 0x200f || code == 0x2060 ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
	       code == 0xfeff;
}

/* Would a CI system read a command from this character on? A character that is not ASCII may be a blank. */
static bool begins_command(const struct text *text, const char *at, const char *end)
{
	signed char before = ' ';
	if (text->size > 0)
		before = (signed char)text->data[text->size - 1];
	if (*at == '#')
		return before == '#';
	return *at == ':' && before <= ' ' && end - at > 1 && at[1] == ':';
}

void text_add_escaped(struct text *text, const char *data, size_t size)
{
	for (const char *at = data, *end = data + size; at < end;) {
		uint32_t code = 0;
		const size_t length = text_character(at, (size_t)(end - at), &code);
		if (length == 0)
			text_addf(text, "\\x%02x", (unsigned)(unsigned char)*at);
		else if (code == '\\')
			text_add(text, "\\\\");
		else if (code == '\n')
			text_add(text, "\\n");
		else if (code == '\t')
			text_add(text, "\\t");
		else if (text_is_hazardous(code) || begins_command(text, at, end))
			text_addf(text, code < 0x80 ? "\\x%02x" : "\\u{%04x}", (unsigned)code);
		else
			text_append(text, at, length);
		at += length > 0 ? length : 1;
	}
}

void text_add_line(struct text *text, const char *format, ...)
{
	struct text line CLEANUP_TEXT = {0};
	text_add_formatted(&line, format);
	text->failed = text->failed || line.failed;
	text_add_escaped(text, text_string(&line), line.size);
	text_add(text, "\n");
}

void text_add_argument(struct text *text, const char *argument)
{
	size_t backslashes = 0;
	text_add(text, "\"");
	for (; *argument != '\0'; argument++) {
		for (size_t i = 0; *argument == '"' && i <= backslashes; i++)
			text_add(text, "\\");
		backslashes = *argument == '\\' ? backslashes + 1 : 0;
		text_append(text, argument, 1);
	}
	for (size_t i = 0; i < backslashes; i++)
		text_add(text, "\\");
	text_add(text, "\"");
}

char *text_format(const char *format, ...)
{
	struct text text = {0};
	text_add_formatted(&text, format);
	return text_take(&text);
}

bool text_is(const char *data, size_t size, const char *word)
{
	return size == strlen(word) && memcmp(data, word, size) == 0;
}

bool text_starts_with(const char *string, const char *prefix)
{
	return strncmp(string, prefix, strlen(prefix)) == 0;
}

bool text_has_word(const char *string, const char *word)
{
	size_t size = strlen(word);
	for (const char *at = string; size != 0 && (at = strstr(at, word)) != NULL; at++) {
		if ((at == string || !isalnum((unsigned char)at[-1])) &&
		    !isalnum((unsigned char)at[size]))
			return true;
	}
	return false;
}

bool text_ends_with(const char *string, const char *suffix)
{
	size_t length = strlen(string);
	size_t tail = strlen(suffix);
	return length >= tail && memcmp(string + length - tail, suffix, tail) == 0;
}

bool text_equal(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return strcmp(a, b) == 0;
}

bool text_glob(const char *pattern, const char *string)
{
	const char *star = NULL;
	const char *mark = NULL;
	while (*string != '\0') {
		if (*pattern == '*') {
			star = pattern++;
			mark = string;
		} else if (*pattern == '?' || *pattern == *string) {
			pattern++;
			string++;
		} else if (star != NULL) {
			pattern = star + 1;
			string = ++mark;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

int text_to_int64(const char *string, const char *what, long long min, long long max,
		  long long *out, struct error *err)
{
	char *end = NULL;
	int base = 10;
	if (text_starts_with(string, "0x") || text_starts_with(string, "-0x"))
		base = 16;
	errno = 0;
	long long value = strtoll(string, &end, base);
	if (end == string || *end != '\0' || strchr(" \t\n\v\f\r+", string[0]) != NULL)
		return error_set(err, ERROR_FORMAT, "%s: '%s' is not a whole number", what, string);
	if (errno == ERANGE || value < min || value > max)
		return error_set(err, ERROR_LIMIT, "%s: %s is outside %lld to %lld", what, string,
				 min, max);
	*out = value;
	return 0;
}

bool text_to_device_number(const char *string, unsigned *major, unsigned *minor)
{
	int end = 0;
	/* No signs and blanks, which sscanf() accepts, and no overflow, which it does not notice. */
	return string != NULL && string[strspn(string, "0123456789:")] == '\0' &&
	       sscanf(string, "%9u:%9u%n", major, minor, &end) == 2 && string[end] == '\0';
}

int text_to_bool(const char *string, const char *what, bool *out, struct error *err)
{
	static const char *const yes[] = {"true", "yes", "on", "1", "t", "y"};
	static const char *const no[] = {"false", "no", "off", "0", "f", "n"};
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		bool is_yes = strcasecmp(string, yes[i]) == 0;
		if (!is_yes && strcasecmp(string, no[i]) != 0)
			continue;
		*out = is_yes;
		return 0;
	}
	return error_set(err, ERROR_FORMAT, "%s: '%s' is neither true nor false", what, string);
}

void text_list_take(struct text_list *list, char *string)
{
	char **grown = string != NULL ? array_grow(list->items, list->count, sizeof(*grown)) : NULL;
	if (grown == NULL) {
		free(string);
		list->failed = true;
		return;
	}
	list->items = grown;
	list->items[list->count++] = string;
	list->items[list->count] = NULL;
}

void text_list_add(struct text_list *list, const char *string)
{
	text_list_take(list, memory_copy(string));
}

void text_list_addf(struct text_list *list, const char *format, ...)
{
	struct text text CLEANUP_TEXT = {0};
	text_add_formatted(&text, format);
	text_list_take(list, text_take(&text));
}

void text_list_split(struct text_list *list, const char *string, char separator)
{
	for (const char *start = string; start != NULL;) {
		const char *end = strchr(start, separator);
		size_t length = end != NULL ? (size_t)(end - start) : strlen(start);
		if (length != 0)
			text_list_take(list, memory_copy_start(start, length));
		start = end != NULL ? end + 1 : NULL;
	}
}

int text_list_check(const struct text_list *list, struct error *err)
{
	return list->failed ? error_memory(err) : 0;
}

bool text_list_has(const struct text_list *list, const char *string)
{
	text_each (item, list) {
		if (strcmp(item, string) == 0)
			return true;
	}
	return false;
}

static int text_list_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void text_list_sort(struct text_list *list)
{
	if (list->count > 1)
		qsort(list->items, list->count, sizeof(*list->items), text_list_compare);
}

void text_list_free(struct text_list *list)
{
	text_each (item, list)
		free(item);
	free(list->items);
	*list = (struct text_list){0};
}

enum { DISTANCE_LENGTH_MAX = 79 };

/* Keeps the last three rows of the table of distances between prefixes. */
size_t text_distance(const char *a, const char *b)
{
	size_t rows[3][DISTANCE_LENGTH_MAX + 1] = {{0}};
	size_t height = strnlen(a, DISTANCE_LENGTH_MAX);
	size_t width = strnlen(b, DISTANCE_LENGTH_MAX);
	for (size_t j = 0; j <= width; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= height; i++) {
		const size_t *before = rows[(i + 1) % 3];
		const size_t *above = rows[(i + 2) % 3];
		size_t *row = rows[i % 3];
		row[0] = i;
		for (size_t j = 1; j <= width; j++) {
			size_t best = above[j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0);
			if (above[j] + 1 < best)
				best = above[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
	}
	return rows[height % 3][width];
}

bool text_is_near(const char *wanted, const char *known)
{
	return text_distance(wanted, known) <= strlen(known) / 3;
}

size_t text_position(const char *const *list, const char *string)
{
	size_t position = 0;
	while (list[position] != NULL && !text_equal(list[position], string))
		position++;
	return position;
}

void text_hex(char *out, const unsigned char *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < size; i++) {
		*out++ = digits[bytes[i] >> 4];
		*out++ = digits[bytes[i] & 0xf];
	}
	*out = '\0';
}
