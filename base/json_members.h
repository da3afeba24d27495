/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A structure as a JSON object. One table of its members reads it, with the bounds and the errors
 * of base/json.h, writes it, gives it its empty values and compares two of them.
 */

#include "base/arena.h"
#include "base/json.h"

enum json_member_type {
	JSON_MEMBER_STRING, /* const char *, never NULL */
	JSON_MEMBER_BOOL,   /* bool */
	JSON_MEMBER_INT,    /* an integer of 4 or 8 bytes, from `min` to `max` */
	JSON_MEMBER_HEX, /* the same as a string, "0x" and up to `max` digits; written with all */
	JSON_MEMBER_CHOICE,  /* an enum: the position in `names` */
	JSON_MEMBER_NAMES,   /* const char *const *: NULL-ended, no empty ones, each once */
	JSON_MEMBER_OBJECT,  /* an object whose `members` are of the structure at `offset` */
	JSON_MEMBER_OBJECTS, /* array: a pointer to structures of `size` bytes with `members` */
	JSON_MEMBER_MAP,     /* object of strings: a pointer to struct json_pair */
	JSON_MEMBER_SCHEMA,  /* the string `what`, of which there is no other version */
};

struct json_pair {
	const char *name, *value;
};

enum json_presence {
	JSON_OPTIONAL, /* left out when it has its empty value */
	JSON_WRITTEN,  /* may be missing where it is read, is always written */
	JSON_NULL,     /* the same, as null when it has its empty value */
	JSON_REQUIRED,
};

struct json_member {
	const char *key; /* NULL ends a table */
	enum json_member_type type;
	enum json_presence presence;
	size_t offset, size;
	size_t count;		  /* OBJECTS, MAP: offset of the size_t that counts them */
	int64_t min, max;	  /* NAMES, OBJECTS, MAP: `max` is the most that are read */
	int64_t empty;		  /* BOOL, INT, HEX, CHOICE: what a missing one means */
	const char *const *names; /* CHOICE; NULL-ended */
	const char *what;	  /* NAMES: "the name of an API", for errors */
	const struct json_member *members;
	/* What is asked beyond the type; for each entry of a MAP. NULL: nothing. */
	int (*check)(const struct json_at *at, struct error *err);
};

/* The place of a member in its structure, for the rows of a table. */
#define JSON_AT(structure, member)                                                                 \
	.offset = offsetof(structure, member), .size = sizeof(((structure *)0)->member)

/* Rows: a string, an integer, and an array of structures that `count_` counts. */
#define JSON_TEXT(structure, key_, member_, presence_, check_)                                     \
	{                                                                                          \
		.key = (key_), .presence = (presence_), JSON_AT(structure, member_),               \
		.check = (check_)                                                                  \
	}
#define JSON_NUMBER(structure, key_, member_, presence_, min_, max_)                               \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_INT, .presence = (presence_),                   \
		JSON_AT(structure, member_), .min = (min_), .max = (max_)                          \
	}
#define JSON_LIST(structure, key_, items_, count_, presence_, max_, members_)                      \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_OBJECTS, .presence = (presence_),               \
		.offset = offsetof(structure, items_), .size = sizeof(*((structure *)0)->items_),  \
		.count = offsetof(structure, count_), .max = (max_), .members = (members_)         \
	}

/* Gives every member its empty value: "" or `empty`, no elements. */
void json_members_reset(const struct json_member *members, void *structure);

/* Reads the object. Strings and elements are the arena's. Errors are those of json_need(), and
 * "unknown member" for a key that the table does not have, "appears twice" for one that does. ERROR_MEMORY. */
int json_members_read(const struct json_at *object, const struct json_member *members,
		      void *structure, struct arena *arena, struct error *err);

/* NULL: out of memory. */
cJSON *json_members_write(const struct json_member *members, const void *structure);

/* Are they written alike? False when memory ran out. */
bool json_members_equal(const struct json_member *members, const void *a, const void *b);
