/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A structure as a JSON object. One table of its members reads it with the bounds and the errors of
 * base/json.h, writes it, resets it and compares two of them. A table without a structure, whose
 * rows have no offset, can check and copy objects.
 */

#include "base/arena.h"
#include "base/members.h"

enum json_member_type {
	JSON_MEMBER_STRING,  /* const char *, never NULL except with JSON_OR_NULL */
	JSON_MEMBER_BOOL,    /* bool */
	JSON_MEMBER_INT,     /* an integer of 4 or 8 bytes, from `min` to `max` */
	JSON_MEMBER_HEX,     /* as a string: "0x" and up to `max` digits; all are written */
	JSON_MEMBER_CHOICE,  /* an enum: the position in `names` */
	JSON_MEMBER_NAMES,   /* const char *const *: NULL-ended; none is empty, each appears once */
	JSON_MEMBER_STRINGS, /* array: a pointer to const char *, any strings */
	JSON_MEMBER_INTS,    /* array: a pointer to int64_t */
	JSON_MEMBER_OBJECT,  /* an object whose `members` are of the structure at `offset` */
	JSON_MEMBER_OBJECTS, /* array: a pointer to structures of `size` bytes with `members` */
	JSON_MEMBER_MAP,     /* object of strings: a pointer to struct json_pair */
	JSON_MEMBER_SCHEMA,  /* exactly the string `what` */
	JSON_MEMBER_ANY,     /* const cJSON *: an object, unchecked and owned by the document */
};

struct json_pair {
	const char *name, *value;
};

enum json_presence {
	JSON_OPTIONAL, /* left out when it has its empty value */
	JSON_WRITTEN,  /* may be missing when read, is always written */
	JSON_NULL,     /* the same, as null when it has its empty value */
	JSON_OR_NULL,  /* the same for a string, but null is NULL, not "" */
	JSON_REQUIRED,
	JSON_FILLED, /* required, and not empty */
	JSON_OTHERS, /* at the end of a table: other members are allowed and ignored */
};

/* Ends a table that allows other members. */
#define JSON_END_OTHERS                                                                            \
	{                                                                                          \
		.presence = JSON_OTHERS                                                            \
	}

/* What is wrong with an object. */
enum json_defect {
	JSON_SOUND,
	JSON_MISSING,
	JSON_WRONG_TYPE,
	JSON_WRONG_VALUE,
	JSON_TOO_MANY,
	JSON_UNKNOWN,
	JSON_TWICE,
	JSON_REFUSED, /* by the `check` of a row */
};

struct json_member {
	const char *key; /* NULL ends a table */
	enum json_member_type type;
	enum json_presence presence;
	size_t offset, size;
	size_t count;		  /* offset of the size_t that counts STRINGS, INTS, OBJECTS, MAP */
	int64_t min, max;	  /* of arrays and MAP: `max` is the most that are read */
	int64_t empty;		  /* BOOL, INT, HEX, CHOICE: what a missing one means */
	const char *const *names; /* CHOICE; NULL-ended */
	const char *what;	  /* NAMES: "the name of an API", for errors */
	const struct json_member *members;
	int tag; /* the table's own */
	/* A check beyond the type, called for each entry of STRINGS, INTS and a MAP. NULL: none. */
	int (*check)(const struct json_at *at, struct error *err);
};

/* The offset of a member in its structure, for the rows of a table. */
#define JSON_AT(structure, member)                                                                 \
	.offset = offsetof(structure, member), .size = sizeof(((structure *)0)->member)

/* The same for an array, or a MAP, that another member counts. */
#define JSON_COUNTED(structure, items_, count_)                                                    \
	.offset = offsetof(structure, items_), .size = sizeof(*((structure *)0)->items_),          \
	.count = offsetof(structure, count_)

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
		JSON_COUNTED(structure, items_, count_), .max = (max_), .members = (members_)      \
	}

/* Sets every member to its empty value: "" or `empty`, no elements. */
void json_members_reset(const struct json_member *members, void *structure);

/* Reads the object. Strings and elements are in the arena. Errors are those of json_need(), and "unknown member" for a
 * key that the table does not have, "appears twice" for one that does. ERROR_LIMIT: too many elements. ERROR_MEMORY. */
int json_members_read(const struct json_at *object, const struct json_member *members,
		      void *structure, struct arena *arena, struct error *err);

/* How an object is checked. Zeroed: the defaults. */
struct json_checking {
	const char *const *also; /* further keys that the object may hold, NULL-ended; or NULL */
	/* Called for each member that is present and sound. NULL: for none. */
	void (*seen)(const struct json_at *at, const struct json_member *member, void *user);
	void *user;
	/* What the error is about, and the row whose check refused. */
	enum json_defect defect;
	const struct json_member *refused;
};

/* Checks only, as json_members_read() does; the table has no NAMES. `checking`: NULL for the defaults. */
int json_members_check(const struct json_at *object, const struct json_member *members,
		       struct json_checking *checking, struct error *err);

/* Adds to `to` the object's members that are in the table; a missing one is null where the row says JSON_NULL. */
void json_members_copy(const cJSON *object, const struct json_member *members, struct members *to);

/* NULL: out of memory. */
cJSON *json_members_write(const struct json_member *members, const void *structure);

/* Are they written alike? False when memory ran out. */
bool json_members_equal(const struct json_member *members, const void *a, const void *b);
