/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JSON over cJSON: bounded parsing with line and column in errors, reading with errors that name
 * the place ("devices[2].luid: expected integer"), and stable printing.
 */

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	JSON_FILE_MAX = 64 * 1024 * 1024, /* bytes that json_read_file() accepts */
	JSON_DEPTH_MAX = 64,		  /* nesting that json_parse() accepts */
};

struct json_at;

/* Parses one document; trailing white space only. ERROR_FORMAT names line and column (in bytes); a
 * NUL, as \u0000 too, is an error, because strings end there, and so is a number beyond a double.
 * ERROR_LIMIT when nested deeper than JSON_DEPTH_MAX. Caller owns *out (cJSON_Delete). */
int json_parse(const char *data, size_t size, cJSON **out, struct error *err);

/*
 * For untrusted documents, before json_parse(). ERROR_LIMIT: the text has more than JSON_VALUES_MAX values, each
 * of which takes some 80 bytes when parsed.
 */
enum { JSON_VALUES_MAX = 4 * 1000 * 1000 };
int json_check_values(const char *data, size_t size, struct error *err);
/* ERROR_FORMAT: a member appears twice, and readers could use either. Names the place. */
int json_check_names(const struct json_at *document, struct error *err);
/* json_parse() with both checks. */
int json_parse_strict(const char *data, size_t size, cJSON **out, struct error *err);

/* Removes the members of these names (NULL-ended, as they are written) at any depth from the text itself, many times
 * faster than parsing: for readers that need little of large documents. Checks nothing; text that is not JSON becomes
 * arbitrary. Returns the new size. */
size_t json_drop_members(char *data, size_t size, const char *const *keys);

/* json_parse() of a whole file; every error names the path. */
int json_read_file(const char *path, cJSON **out, struct error *err);

/* Two-space indented, newline at the end. Characters that are hazardous on a terminal (base/text.h) are escapes.
 * NULL for NULL, and when memory ran out. Caller frees. */
char *json_print(const cJSON *json);
char *json_print_compact(const cJSON *json); /* one line, no newline */

/* json_print() into a file, replaced atomically (file_write_atomic). */
int json_write_file(const char *path, const cJSON *json, struct error *err);

/* A file that only grows, with one document a line. Reading gives an array, empty if the file does not exist. */
int json_append_line(const char *path, const cJSON *json, struct error *err);
int json_read_lines(const char *path, cJSON **out, struct error *err);

/* Adds a JSON string literal of the bytes up to a NUL, as json_print() writes it. Bytes that are not UTF-8 become
 * U+FFFD. */
void json_add_quoted(struct text *text, const char *data, size_t size);

/* A cJSON string of untrusted bytes: bytes that are not UTF-8 become U+FFFD. NULL: out of memory.
 */
cJSON *json_new_string(const char *data, size_t size);
cJSON *json_new_strings(const struct text_list *list); /* an array of such strings */

/* Adds a member to an object. */
void json_add_string(cJSON *object, const char *key, const char *value);

/* RFC 6901 JSON pointer ("/adapters/0/name"); NULL when it does not exist. */
const cJSON *json_pointer(const cJSON *root, const char *pointer);

/* The string there; NULL when there is none. */
const char *json_pointer_string(const cJSON *root, const char *pointer);

/* The number there; 0 when there is none. */
double json_pointer_number(const cJSON *root, const char *pointer);

/* Is the value `true`? */
bool json_pointer_true(const cJSON *root, const char *pointer);

/* Goes through the elements of an array or the members of an object; NULL is empty. */
#define json_each(item, parent)                                                                    \
	for (const cJSON *(item) = json_first(parent); (item) != NULL; (item) = (item)->next)
const cJSON *json_first(const cJSON *parent);

/*
 * A place in a document, on the caller's stack. It remembers the path from the root, so that errors
 * can name it: struct json_at devices = {0}; json_at_key(&root, "devices", JSON_ARRAY, &devices,
 * err).
 */
struct json_at {
	const cJSON *node; /* NULL when the optional member is absent */
	const struct json_at *parent;
	const char *key; /* NULL for an array element */
	size_t index;
};

enum json_type { JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_NUMBER, JSON_BOOL, JSON_ANY };

/* A string, or a YAML plain scalar in its place (base/yaml_json.h). */
cJSON_bool json_is_string(const cJSON *node);

struct json_at json_root(const cJSON *document);

/* Fills `err` with ERROR_FORMAT and "place: text"; for checks that go beyond the type. */
int json_error(const struct json_at *at, struct error *err, const char *format, ...)
	PRINTF_LIKE(3, 4);

/* A member that must exist and have the type. */
int json_need(const struct json_at *object, const char *key, enum json_type type,
	      struct json_at *out, struct error *err);
/* A member that may be absent or null (out->node NULL), but otherwise must have the type. */
int json_have(const struct json_at *object, const char *key, enum json_type type,
	      struct json_at *out, struct error *err);
/* An element of an array; ERROR_FORMAT when it is beyond the end or of another type. */
int json_element(const struct json_at *array, size_t index, enum json_type type,
		 struct json_at *out, struct error *err);
size_t json_count(const struct json_at *array); /* 0 for an absent array */

/* The whole number at a place. */
int json_int(const struct json_at *at, int64_t min, int64_t max, int64_t *out, struct error *err);

/* Values that must be present. Strings are borrowed from the document. */
int json_need_string(const struct json_at *object, const char *key, const char **out,
		     struct error *err);
int json_need_int(const struct json_at *object, const char *key, int64_t min, int64_t max,
		  int64_t *out, struct error *err);

/* Values that may be absent: *out keeps what it held. */
int json_have_string(const struct json_at *object, const char *key, const char **out,
		     struct error *err);
int json_have_int(const struct json_at *object, const char *key, int64_t min, int64_t max,
		  int64_t *out, struct error *err);
int json_have_bool(const struct json_at *object, const char *key, bool *out, struct error *err);
