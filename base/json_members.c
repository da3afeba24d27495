/* SPDX-License-Identifier: MIT */
#include "base/json_members.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const no_names[] = {NULL};

static const char *string_of(const struct json_member *member, const void *structure)
{
	return *(const char *const *)(const void *)((const char *)structure + member->offset);
}

static const void *pointer_of(const struct json_member *member, const void *structure)
{
	return *(const void *const *)(const void *)((const char *)structure + member->offset);
}

static const char *const *names_of(const struct json_member *member, const void *structure)
{
	return *(const char *const *const *)(const void *)((const char *)structure +
							   member->offset);
}

static int64_t number_of(const struct json_member *member, const void *structure)
{
	const char *at = (const char *)structure + member->offset;
	if (member->size == sizeof(bool))
		return *(const bool *)(const void *)at;
	if (member->size == sizeof(int32_t))
		return *(const int32_t *)(const void *)at;
	return *(const int64_t *)(const void *)at;
}

static size_t count_of(const struct json_member *member, const void *structure)
{
	return *(const size_t *)(const void *)((const char *)structure + member->count);
}

static void put_pointer(const struct json_member *member, void *structure, const void *pointer)
{
	if (structure != NULL)
		*(const void **)(void *)((char *)structure + member->offset) = pointer;
}

static void put_number(const struct json_member *member, void *structure, int64_t number)
{
	if (structure == NULL)
		return;
	char *at = (char *)structure + member->offset;
	if (member->size == sizeof(bool))
		*(bool *)(void *)at = number != 0;
	else if (member->size == sizeof(int32_t))
		*(int32_t *)(void *)at = (int32_t)number;
	else
		*(int64_t *)(void *)at = number;
}

void json_members_reset(const struct json_member *members, void *structure)
{
	for (const struct json_member *member = members; member->key != NULL; member++) {
		switch (member->type) {
		case JSON_MEMBER_STRING:
			put_pointer(member, structure,
				    member->presence == JSON_OR_NULL ? NULL : "");
			break;
		case JSON_MEMBER_BOOL:
		case JSON_MEMBER_INT:
		case JSON_MEMBER_HEX:
		case JSON_MEMBER_CHOICE:
			put_number(member, structure, member->empty);
			break;
		case JSON_MEMBER_NAMES:
			put_pointer(member, structure, no_names);
			break;
		case JSON_MEMBER_OBJECT:
			json_members_reset(member->members, (char *)structure + member->offset);
			break;
		case JSON_MEMBER_STRINGS:
		case JSON_MEMBER_INTS:
		case JSON_MEMBER_OBJECTS:
		case JSON_MEMBER_MAP:
			*(size_t *)(void *)((char *)structure + member->count) = 0;
			put_pointer(member, structure, NULL);
			break;
		case JSON_MEMBER_ANY:
			put_pointer(member, structure, NULL);
			break;
		case JSON_MEMBER_SCHEMA:
			break;
		}
	}
}

/* Whole numbers that a double holds exactly. */
#define WHOLE_MAX (INT64_C(1) << 53)

/* The state of reading one object; without a structure it is only checked. */
struct reading {
	struct arena *arena;
	struct error *err;
	struct json_checking *checking;
};

static int read_object(struct reading *reading, const struct json_at *object,
		       const struct json_member *members, const char *const *also, void *structure);

PRINTF_LIKE(4, 5)
static int wrong(struct reading *reading, const struct json_at *at, enum json_defect defect,
		 const char *format, ...)
{
	struct text what CLEANUP_TEXT = {0};
	text_add_formatted(&what, format);
	reading->checking->defect = defect;
	int rc = json_error(at, reading->err, "%s", text_string(&what));
	if (defect == JSON_TOO_MANY)
		rc = ERROR_LIMIT;
	if (reading->err != NULL)
		reading->err->code = rc;
	return rc;
}

static int read_int(struct reading *reading, const struct json_at *at, int64_t min, int64_t max,
		    int64_t *out)
{
	int rc = json_int(at, min, max, out, reading->err);
	if (rc < 0)
		reading->checking->defect =
			cJSON_IsNumber(at->node) &&
					floor(at->node->valuedouble) == at->node->valuedouble
				? JSON_WRONG_VALUE
				: JSON_WRONG_TYPE;
	return rc;
}

static int read_choice(struct reading *reading, const struct json_at *at,
		       const struct json_member *member, void *structure)
{
	struct text known CLEANUP_TEXT = {0};
	size_t position = text_position(member->names, at->node->valuestring);
	if (member->names[position] != NULL) {
		put_number(member, structure, (int64_t)position);
		return 0;
	}
	for (size_t i = 0; member->names[i] != NULL; i++) {
		if (i > 0)
			text_add(&known, member->names[i + 1] == NULL ? " or " : ", ");
		text_addf(&known, "\"%s\"", member->names[i]);
	}
	return wrong(reading, at, JSON_WRONG_VALUE, "expected %s", text_string(&known));
}

static int read_names(struct reading *reading, const struct json_at *at,
		      const struct json_member *member, void *structure)
{
	const char **names = arena_allocate(reading->arena, (json_count(at) + 1) * sizeof(*names));
	struct json_at name = {.parent = at};
	size_t count = 0;
	if (names == NULL)
		return error_memory(reading->err);
	cJSON_ArrayForEach (name.node, at->node) {
		if (!json_is_string(name.node))
			return wrong(reading, &name, JSON_WRONG_TYPE, "expected string");
		if (name.node->valuestring[0] == '\0')
			return wrong(reading, &name, JSON_WRONG_VALUE, "expected %s", member->what);
		if (names[text_position(names, name.node->valuestring)] == NULL)
			names[count++] = arena_string(reading->arena, name.node->valuestring);
		name.index++;
	}
	put_pointer(member, structure, count > 0 ? names : no_names);
	return 0;
}

static int check_further(struct reading *reading, const struct json_at *at,
			 const struct json_member *member)
{
	int rc = member->check != NULL ? member->check(at, reading->err) : 0;
	if (rc < 0) {
		reading->checking->defect = JSON_REFUSED;
		reading->checking->refused = member;
	}
	return rc;
}

/* An element of STRINGS, INTS or OBJECTS, an entry of a MAP. */
static int read_element(struct reading *reading, const struct json_at *at,
			const struct json_member *member, void *element)
{
	int64_t number = 0;
	int rc = 0;
	if (member->type == JSON_MEMBER_OBJECTS)
		return read_object(reading, at, member->members, NULL, element);

	if (member->type == JSON_MEMBER_INTS) {
		rc = read_int(reading, at, -WHOLE_MAX, WHOLE_MAX, &number);
		if (element != NULL)
			*(int64_t *)element = number;
	} else if (!json_is_string(at->node)) {
		rc = wrong(reading, at, JSON_WRONG_TYPE, "expected string");
	} else if (element != NULL && member->type == JSON_MEMBER_MAP) {
		*(struct json_pair *)element =
			(struct json_pair){arena_string(reading->arena, at->key),
					   arena_string(reading->arena, at->node->valuestring)};
	} else if (element != NULL) {
		*(const char **)element = arena_string(reading->arena, at->node->valuestring);
	}
	return rc < 0 ? rc : check_further(reading, at, member);
}

struct place {
	const cJSON *node;
	size_t index;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *one = a;
	const struct place *other = b;
	int order = strcmp(one->node->string, other->node->string);
	return order != 0 ? order : (one->index > other->index) - (one->index < other->index);
}

/* Refuses the first repeated key. Sorts, because untrusted input determines how many there are. */
static int refuse_repeated(struct reading *reading, const struct json_at *at, size_t count)
{
	struct place *places CLEANUP_FREE = memory_allocate(count + 1, sizeof(*places));
	struct json_at element = {.parent = at};
	size_t found = 0;
	if (places == NULL)
		return error_memory(reading->err);
	json_each (child, at->node) {
		places[found] = (struct place){child, found};
		found++;
	}
	qsort(places, found, sizeof(*places), compare_places);
	const struct place *first = NULL;
	for (size_t i = 1; i < found; i++) {
		if (strcmp(places[i - 1].node->string, places[i].node->string) == 0 &&
		    (first == NULL || places[i].index < first->index))
			first = &places[i];
	}
	if (first == NULL)
		return 0;
	element.node = first->node;
	element.key = first->node->string;
	element.index = first->index;
	return wrong(reading, &element, JSON_TWICE, "appears twice");
}

static int read_elements(struct reading *reading, const struct json_at *at,
			 const struct json_member *member, void *structure)
{
	struct json_at element = {.parent = at};
	size_t count = json_count(at);
	char *room = structure != NULL && count > 0
			     ? arena_allocate(reading->arena, count * member->size)
			     : NULL;
	if (structure != NULL && count > 0 && room == NULL)
		return error_memory(reading->err);
	cJSON_ArrayForEach (element.node, at->node) {
		element.key = element.node->string;
		int rc = read_element(reading, &element, member,
				      room != NULL ? room + element.index * member->size : NULL);
		if (rc < 0)
			return rc;
		element.index++;
	}
	if (member->type == JSON_MEMBER_MAP) {
		int rc = refuse_repeated(reading, at, count);
		if (rc < 0)
			return rc;
	}
	put_pointer(member, structure, room);
	if (structure != NULL)
		*(size_t *)(void *)((char *)structure + member->count) = count;
	return 0;
}

/* Reads a member that is present and has its type. */
static int read_member(struct reading *reading, const struct json_at *at,
		       const struct json_member *member, void *structure)
{
	const char *string = at->node->valuestring;
	const bool counted = member->type == JSON_MEMBER_MAP || cJSON_IsArray(at->node);
	int64_t number = cJSON_IsTrue(at->node);
	long long hex = 0;
	int rc = 0;
	if (counted && json_count(at) > (size_t)member->max)
		return wrong(reading, at, JSON_TOO_MANY, "more than %lld %s",
			     (long long)member->max,
			     member->type == JSON_MEMBER_MAP ? "members" : "elements");

	switch (member->type) {
	case JSON_MEMBER_STRING:
		if (structure != NULL)
			string = arena_string(reading->arena, string);
		put_pointer(member, structure, string);
		return 0;
	case JSON_MEMBER_INT:
		rc = read_int(reading, at, member->min, member->max, &number);
		put_number(member, structure, number);
		return rc;
	case JSON_MEMBER_BOOL:
		put_number(member, structure, number);
		return 0;
	case JSON_MEMBER_HEX:
		if (!text_starts_with(string, "0x") ||
		    text_to_int64(string, member->key, 0, (1LL << 4 * member->max) - 1, &hex,
				  NULL) < 0)
			return wrong(reading, at, JSON_WRONG_VALUE,
				     "expected \"0x\" and at most %d digits", (int)member->max);
		put_number(member, structure, hex);
		return 0;
	case JSON_MEMBER_CHOICE:
		return read_choice(reading, at, member, structure);
	case JSON_MEMBER_NAMES:
		return read_names(reading, at, member, structure);
	case JSON_MEMBER_STRINGS:
	case JSON_MEMBER_INTS:
	case JSON_MEMBER_OBJECTS:
	case JSON_MEMBER_MAP:
		return read_elements(reading, at, member, structure);
	case JSON_MEMBER_OBJECT:
		return read_object(reading, at, member->members, NULL,
				   structure != NULL ? (char *)structure + member->offset : NULL);
	case JSON_MEMBER_SCHEMA:
		if (text_equal(string, member->what))
			return 0;
		return wrong(reading, at, JSON_WRONG_VALUE,
			     "expected \"%s\"; a newer version needs a newer gpucert",
			     member->what);
	case JSON_MEMBER_ANY:
		put_pointer(member, structure, at->node);
		return 0;
	}
	return 0;
}

static const enum json_type types[] = {
	[JSON_MEMBER_STRING] = JSON_STRING, [JSON_MEMBER_BOOL] = JSON_BOOL,
	[JSON_MEMBER_INT] = JSON_NUMBER,    [JSON_MEMBER_HEX] = JSON_STRING,
	[JSON_MEMBER_CHOICE] = JSON_STRING, [JSON_MEMBER_NAMES] = JSON_ARRAY,
	[JSON_MEMBER_STRINGS] = JSON_ARRAY, [JSON_MEMBER_INTS] = JSON_ARRAY,
	[JSON_MEMBER_OBJECT] = JSON_OBJECT, [JSON_MEMBER_OBJECTS] = JSON_ARRAY,
	[JSON_MEMBER_MAP] = JSON_OBJECT,    [JSON_MEMBER_SCHEMA] = JSON_STRING,
	[JSON_MEMBER_ANY] = JSON_OBJECT,
};

static int read_object(struct reading *reading, const struct json_at *object,
		       const struct json_member *members, const char *const *also, void *structure)
{
	struct error *err = reading->err;
	if (structure != NULL)
		json_members_reset(members, structure);
	if (!cJSON_IsObject(object->node))
		return wrong(reading, object, JSON_WRONG_TYPE, "expected object");

	for (const struct json_member *member = members; member->key != NULL; member++) {
		struct json_at at = {0};
		const bool needed =
			member->presence == JSON_REQUIRED || member->presence == JSON_FILLED;
		enum json_type type = types[member->type];
		int rc = needed ? json_need(object, member->key, type, &at, err)
				: json_have(object, member->key, type, &at, err);
		if (rc < 0)
			reading->checking->defect =
				at.node == NULL ? JSON_MISSING : JSON_WRONG_TYPE;
		else if (at.node == NULL)
			continue;
		else if (member->presence == JSON_FILLED && at.node->child == NULL &&
			 (at.node->valuestring == NULL || at.node->valuestring[0] == '\0'))
			rc = wrong(reading, &at, JSON_MISSING, "it is empty");
		else
			rc = read_member(reading, &at, member, structure);
		if (rc == 0 && member->type != JSON_MEMBER_STRINGS &&
		    member->type != JSON_MEMBER_INTS && member->type != JSON_MEMBER_MAP)
			rc = check_further(reading, &at, member);
		if (rc < 0)
			return rc;
		if (reading->checking->seen != NULL)
			reading->checking->seen(&at, member, reading->checking->user);
	}

	json_each (child, object->node) {
		struct json_at at = {.node = child, .parent = object, .key = child->string};
		const struct json_member *row = members;
		while (row->key != NULL && !text_equal(row->key, child->string))
			row++;
		if (row->key == NULL && row->presence != JSON_OTHERS &&
		    (also == NULL || also[text_position(also, child->string)] == NULL))
			return wrong(reading, &at, JSON_UNKNOWN, "unknown member");
		if (row->key != NULL &&
		    cJSON_GetObjectItemCaseSensitive(object->node, child->string) != child)
			return wrong(reading, &at, JSON_TWICE, "appears twice");
	}
	return 0;
}

int json_members_read(const struct json_at *object, const struct json_member *members,
		      void *structure, struct arena *arena, struct error *err)
{
	struct json_checking checking = {0};
	struct reading reading = {.arena = arena, .err = err, .checking = &checking};
	int rc = read_object(&reading, object, members, NULL, structure);
	return rc == 0 && arena->failed ? error_memory(err) : rc;
}

int json_members_check(const struct json_at *object, const struct json_member *members,
		       struct json_checking *checking, struct error *err)
{
	struct json_checking plain = {0};
	struct reading reading = {.err = err, .checking = checking != NULL ? checking : &plain};
	return read_object(&reading, object, members, reading.checking->also, NULL);
}

void json_members_copy(const cJSON *object, const struct json_member *members, struct members *to)
{
	for (; members->key != NULL; members++) {
		const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, members->key);
		if (member == NULL || cJSON_IsNull(member)) {
			if (members->presence == JSON_NULL)
				member_null(to, members->key);
		} else if (members->type == JSON_MEMBER_OBJECT) {
			struct members inner = member_object(to, members->key);
			json_members_copy(member, members->members, &inner);
		} else {
			member_copy(to, members->key, member);
		}
	}
}

static bool all_empty(const struct json_member *members, const void *structure);

static bool is_empty(const struct json_member *member, const void *structure)
{
	switch (member->type) {
	case JSON_MEMBER_STRING:
		return string_of(member, structure) == NULL ||
		       (string_of(member, structure)[0] == '\0' &&
			member->presence != JSON_OR_NULL);
	case JSON_MEMBER_BOOL:
	case JSON_MEMBER_INT:
	case JSON_MEMBER_HEX:
	case JSON_MEMBER_CHOICE:
		return number_of(member, structure) == member->empty;
	case JSON_MEMBER_NAMES:
		return names_of(member, structure)[0] == NULL;
	case JSON_MEMBER_OBJECT:
		return all_empty(member->members, (const char *)structure + member->offset);
	case JSON_MEMBER_STRINGS:
	case JSON_MEMBER_INTS:
	case JSON_MEMBER_OBJECTS:
	case JSON_MEMBER_MAP:
		return count_of(member, structure) == 0;
	case JSON_MEMBER_ANY:
		return pointer_of(member, structure) == NULL;
	case JSON_MEMBER_SCHEMA:
		return false;
	}
	return true;
}

static bool all_empty(const struct json_member *members, const void *structure)
{
	while (members->key != NULL && is_empty(members, structure))
		members++;
	return members->key == NULL;
}

/* An array or a MAP. */
static cJSON *write_elements(const struct json_member *member, const void *structure)
{
	bool map = member->type == JSON_MEMBER_MAP;
	struct members json CLEANUP_MEMBERS = map ? members_new() : members_new_array();
	if (member->type == JSON_MEMBER_NAMES) {
		for (const char *const *name = names_of(member, structure); *name; name++)
			member_string(&json, NULL, *name);
		return members_take(&json);
	}
	for (size_t i = 0; i < count_of(member, structure); i++) {
		const void *element =
			(const char *)pointer_of(member, structure) + i * member->size;
		const struct json_pair *pair = element;
		if (map)
			member_string(&json, pair->name, pair->value);
		else if (member->type == JSON_MEMBER_STRINGS)
			member_string(&json, NULL, *(const char *const *)element);
		else if (member->type == JSON_MEMBER_INTS)
			member_int(&json, NULL, *(const int64_t *)element);
		else
			member_item(&json, NULL, json_members_write(member->members, element));
	}
	return members_take(&json);
}

static cJSON *write_member(const struct json_member *member, const void *structure)
{
	char hex[24] = "";
	switch (member->type) {
	case JSON_MEMBER_STRING:
		return json_new_string(string_of(member, structure),
				       strlen(string_of(member, structure)));
	case JSON_MEMBER_BOOL:
		return cJSON_CreateBool(number_of(member, structure) != 0);
	case JSON_MEMBER_INT:
		return cJSON_CreateNumber((double)number_of(member, structure));
	case JSON_MEMBER_HEX:
		(void)snprintf(hex, sizeof(hex), "0x%0*llx", (int)member->max,
			       (unsigned long long)number_of(member, structure));
		return cJSON_CreateString(hex);
	case JSON_MEMBER_CHOICE:
		return cJSON_CreateString(member->names[number_of(member, structure)]);
	case JSON_MEMBER_OBJECT:
		return json_members_write(member->members,
					  (const char *)structure + member->offset);
	case JSON_MEMBER_NAMES:
	case JSON_MEMBER_STRINGS:
	case JSON_MEMBER_INTS:
	case JSON_MEMBER_OBJECTS:
	case JSON_MEMBER_MAP:
		return write_elements(member, structure);
	case JSON_MEMBER_ANY:
		return cJSON_Duplicate(pointer_of(member, structure), true);
	case JSON_MEMBER_SCHEMA:
		return cJSON_CreateString(member->what);
	}
	return NULL;
}

cJSON *json_members_write(const struct json_member *members, const void *structure)
{
	struct members json CLEANUP_MEMBERS = members_new();
	for (; members->key != NULL; members++) {
		const bool empty = is_empty(members, structure);
		if (empty && (members->presence == JSON_NULL || members->presence == JSON_OR_NULL))
			member_null(&json, members->key);
		else if (members->presence != JSON_OPTIONAL || !empty)
			member_item(&json, members->key, write_member(members, structure));
	}
	return members_take(&json);
}

bool json_members_equal(const struct json_member *members, const void *a, const void *b)
{
	cJSON *left CLEANUP_JSON = json_members_write(members, a);
	cJSON *right CLEANUP_JSON = json_members_write(members, b);
	return cJSON_Compare(left, right, true);
}
