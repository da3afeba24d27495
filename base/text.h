/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Growing byte strings, lists of strings, and the escapes for untrusted text.
 *
 * Appends need no checks: when memory runs out the object remembers it, further appends do nothing,
 * and text_take() returns NULL. One check at the end is enough.
 */

#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *data; /* NUL-ended once anything was appended; may hold other NULs */
	size_t size;
	size_t capacity;
	bool failed;
};

#define CLEANUP_TEXT	  __attribute__((cleanup(text_free)))
#define CLEANUP_TEXT_LIST __attribute__((cleanup(text_list_free)))

void text_append(struct text *text, const char *data, size_t size);
void text_add(struct text *text, const char *string);

/* Makes the text `size` bytes longer and returns a pointer to the new bytes, which the caller
 * fills. NULL when memory ran out. */
char *text_extend(struct text *text, size_t size);

/* Adds the separator, unless the text is empty, and the item. */
void text_add_item(struct text *text, const char *separator, const char *item);

/* Adds the strings of a NULL-ended list, which may be NULL, with the separator between them. */
void text_add_joined(struct text *text, const char *separator, const char *const *items);

/* Adds the content of another text; a failed one makes this one fail. */
void text_add_all(struct text *text, const struct text *other);
void text_addf(struct text *text, const char *format, ...) PRINTF_LIKE(2, 3);
void text_vaddf(struct text *text, const char *format, va_list args) PRINTF_LIKE(2, 0);

/* In a function whose last named parameter is `format`: adds the arguments after it, formatted as printf() does. */
#define text_add_formatted(text, format)                                                           \
	do {                                                                                       \
		va_list args_;                                                                     \
		va_start(args_, format);                                                           \
		text_vaddf(text, format, args_);                                                   \
		va_end(args_);                                                                     \
	} while (0)

/* The string built so far, "" when empty. Owned by the object. */
const char *text_string(const struct text *text);

/* Hands the string over; the object is empty afterwards. NULL when memory ran out. */
char *text_take(struct text *text);
void text_reset(struct text *text); /* empties it and keeps the memory */
void text_free(struct text *text);

/* Does a terminal act on this character, or reorder the text around it, or show nothing? Controls of ASCII and C1, DEL,
 * marks, embeddings, overrides and isolates of the Unicode bidirectional algorithm, line separators, and spaces without
 * width. */
bool text_is_hazardous(uint32_t code);

/* Adds untrusted bytes so that a terminal or a one-line log shows them harmlessly: hazardous characters and bytes that
 * are not UTF-8 become \xNN or \u{NNNN}; a backslash becomes two. Nor does a CI system whose job prints the text find a
 * command in it: "::" after a blank, or at the start, becomes \x3a: (GitHub), "##" is #\x23 ("##[" of GitHub and Azure
 * Pipelines, "##vso[", "##teamcity["). */
void text_add_escaped(struct text *text, const char *data, size_t size);

/* Adds the formatted text, escaped as above, and a newline. */
void text_add_line(struct text *text, const char *format, ...) PRINTF_LIKE(2, 3);

/* Adds text for an XML attribute or element: the five entities; hazardous characters except tabs and line feeds as
 * references; characters that XML 1.0 does not allow become U+FFFD. */
void text_add_xml(struct text *text, const char *data, size_t size);

/* Adds an argument in double quotes, as the C runtime of Windows reads command lines (Microsoft,
 * "Parsing C command-line arguments"): backslashes are escapes only before a quote. */
void text_add_argument(struct text *text, const char *argument);

/* A new formatted string, NULL when memory ran out. */
char *text_format(const char *format, ...) PRINTF_LIKE(1, 2);

/* Two lowercase digits a byte, and the end mark: `out` has room for 2 * size + 1. */
void text_hex(char *out, const unsigned char *bytes, size_t size);

/* Are these bytes the word? */
bool text_is(const char *data, size_t size, const char *word);
bool text_starts_with(const char *string, const char *prefix);
bool text_ends_with(const char *string, const char *suffix);
/* Whether the word occurs with no letter or digit next to it. The empty word never does. */
bool text_has_word(const char *string, const char *word);
bool text_equal(const char *a, const char *b);	  /* NULL equals only NULL */
bool text_is_utf8(const char *data, size_t size); /* strict: no surrogates, no overlong forms */

/* Length of the UTF-8 character at `data`, whose value goes into *code; 0: none. */
size_t text_character(const char *data, size_t size, uint32_t *code);

/* How many of the first bytes, at most `max`, are complete UTF-8 characters. */
static inline size_t text_fit(const char *data, size_t size, size_t max)
{
	if (size <= max)
		return size;
	while (max > 0 && ((unsigned char)data[max] & 0xc0) == 0x80)
		max--;
	return max;
}

/* Characters of UTF-8, which is what a terminal shows. */
size_t text_columns(const char *data, size_t size);

bool text_glob(const char *pattern,
	       const char *string); /* '*' any run, '?' one byte; nothing else */

/* Edits (insert, delete, replace, swap of neighbours) that turn one string into the other, for "did
 * you mean"; long strings are cut. */
size_t text_distance(const char *a, const char *b);
bool text_is_near(const char *wanted,
		  const char *known); /* at most one edit for each three characters */

/* The index of the string in a NULL-ended list; the list's length when it is not in it. */
size_t text_position(const char *const *list, const char *string);

/* Whole-string integers. ERROR_FORMAT when it is not a number, ERROR_LIMIT when out of [min, max].
 * `what` names the value in the error. Base 10, or 16 with 0x. */
int text_to_int64(const char *string, const char *what, long long min, long long max,
		  long long *out, struct error *err);
int text_to_bool(const char *string, const char *what, bool *out, struct error *err);

/* A device number as the kernel writes it: "226:128". False: NULL, or not such a number. */
bool text_to_device_number(const char *string, unsigned *major, unsigned *minor);

/* A list that owns its strings. `items` is NULL-ended whenever it is not NULL. A list, too, remembers
 * that memory ran out. */
struct text_list {
	char **items;
	size_t count;
	bool failed;
};

/* Goes through the strings of a list. */
#define text_each(string, list)                                                                    \
	for (char **string##_at = (list)->items,                                                   \
		  *(string) = string##_at != NULL ? *string##_at : NULL;                           \
	     (string) != NULL; (string) = *++string##_at)

void text_list_add(struct text_list *list, const char *string); /* copies */
void text_list_take(struct text_list *list, char *string);	/* consumes; NULL: out of memory */
void text_list_addf(struct text_list *list, const char *format, ...) PRINTF_LIKE(2, 3);
void text_list_split(struct text_list *list, const char *string, char separator);
int text_list_check(const struct text_list *list, struct error *err); /* 0, or ERROR_MEMORY */
bool text_list_has(const struct text_list *list, const char *string);
void text_list_sort(struct text_list *list);
void text_list_free(struct text_list *list);
