/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A structure as a JSON object. One table of its members reads it, with the bounds and the errors
 * of base/json.h, writes it, gives it its empty values and compares two of them. A table can check
 * and copy an object that has no structure, too; then its rows have no place.
 */

#include "base/arena.h"
#include "base/members.h"

enum json_member_type {
	JSON_MEMBER_STRING, /* const char *, never NULL but with JSON_OR_NULL */
	JSON_MEMBER_BOOL,   /* bool */
	JSON_MEMBER_INT,    /* an integer of 4 or 8 bytes, from `min` to `max` */
	JSON_MEMBER_HEX, /* the same as a string, "0x" and up to `max` digits; written with all */
	JSON_MEMBER_CHOICE,  /* an enum: the position in `names` */
	JSON_MEMBER_NAMES,   /* const char *const *: NULL-ended, no empty ones, each once */
	JSON_MEMBER_STRINGS, /* array: a pointer to const char *, any of them */
	JSON_MEMBER_INTS,    /* array: a pointer to int64_t */
	JSON_MEMBER_OBJECT,  /* an object whose `members` are of the structure at `offset` */
	JSON_MEMBER_OBJECTS, /* array: a pointer to structures of `size` bytes with `members` */
	JSON_MEMBER_MAP,     /* object of strings: a pointer to struct json_pair */
	JSON_MEMBER_SCHEMA,  /* the string `what`, of which there is no other version */
	JSON_MEMBER_ANY, /* const cJSON *: an object, of which nothing is checked; the document's */
};

struct json_pair {
	const char *name, *value;
};

enum json_presence {
	JSON_OPTIONAL, /* left out when it has its empty value */
	JSON_WRITTEN,  /* may be missing where it is read, is always written */
	JSON_NULL,     /* the same, as null when it has its empty value */
	JSON_OR_NULL,  /* of a string: the same, and null is NULL, not "" */
	JSON_REQUIRED,
	JSON_FILLED, /* and not empty */
	JSON_OTHERS, /* of the end of a table: other members may be there and are not looked at */
};

/* The end of such a table. */
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
	/* What is asked beyond the type; for each entry of STRINGS, INTS and a MAP. NULL: nothing. */
	int (*check)(const struct json_at *at, struct error *err);
};

/* The place of a member in its structure, for the rows of a table. */
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

/* Gives every member its empty value: "" or `empty`, no elements. */
void json_members_reset(const struct json_member *members, void *structure);

/* Reads the object. Strings and elements are the arena's. Errors are those of json_need(), and
 * "unknown member" for a key that the table does not have, "appears twice" for one that does. ERROR_LIMIT: too many elements. ERROR_MEMORY. */
int json_members_read(const struct json_at *object, const struct json_member *members,
		      void *structure, struct arena *arena, struct error *err);

/* A check of an object. Zeroed: the plainest one. */
struct json_checking {
	const char *const *also; /* further keys that the object may hold, NULL-ended; or NULL */
	/* Called for each member that is present and sound. NULL: for none. */
	void (*seen)(const struct json_at *at, const struct json_member *member, void *user);
	void *user;
	/* What the error is about, and the row whose check refused. */
	enum json_defect defect;
	const struct json_member *refused;
};

/* Checks only, as json_members_read() does; the table has no NAMES. `checking`: NULL for the plainest one. */
int json_members_check(const struct json_at *object, const struct json_member *members,
		       struct json_checking *checking, struct error *err);

/* Adds to `to` what the object has of the table's members; what it lacks is null where the row says JSON_NULL. */
void json_members_copy(const cJSON *object, const struct json_member *members, struct members *to);

/* NULL: out of memory. */
cJSON *json_members_write(const struct json_member *members, const void *structure);

/* Are they written alike? False when memory ran out. */
bool json_members_equal(const struct json_member *members, const void *a, const void *b);
