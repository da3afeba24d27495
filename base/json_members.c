/* SPDX-License-Identifier: MIT */
#include "base/json_members.h"

#include "base/members.h"

#include <string.h>

static const char *const no_names[] = {NULL};

static const char *string_of(const struct json_member *member, const void *structure)
{
	return *(const char *const *)(const void *)((const char *)structure + member->offset);
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
	*(const void **)(void *)((char *)structure + member->offset) = pointer;
}

static void put_count(const struct json_member *member, void *structure, size_t count)
{
	*(size_t *)(void *)((char *)structure + member->count) = count;
}

static void put_number(const struct json_member *member, void *structure, int64_t number)
{
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
			put_pointer(member, structure, "");
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
		case JSON_MEMBER_OBJECTS:
		case JSON_MEMBER_MAP:
			put_pointer(member, structure, NULL);
			put_count(member, structure, 0);
			break;
		case JSON_MEMBER_SCHEMA:
			break;
		}
	}
}

static int read_choice(const struct json_member *member, const struct json_at *at, void *structure,
		       struct error *err)
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
	return json_error(at, err, "expected %s", text_string(&known));
}

static int check_count(const struct json_member *member, const struct json_at *at, const char *what,
		       struct error *err)
{
	if (json_count(at) > (size_t)member->max)
		return json_error(at, err, "more than %lld %s", (long long)member->max, what);
	return 0;
}

static int read_names(const struct json_member *member, const struct json_at *at, void *structure,
		      struct arena *arena, struct error *err)
{
	const char **names = arena_allocate(arena, (json_count(at) + 1) * sizeof(*names));
	struct json_at name = {.parent = at};
	size_t count = 0;
	int rc = check_count(member, at, "elements", err);
	if (rc < 0 || names == NULL)
		return rc < 0 ? rc : error_memory(err);
	cJSON_ArrayForEach (name.node, at->node) {
		if (!cJSON_IsString(name.node))
			return json_error(&name, err, "expected string");
		if (name.node->valuestring[0] == '\0')
			return json_error(&name, err, "expected %s", member->what);
		if (names[text_position(names, name.node->valuestring)] == NULL)
			names[count++] = arena_string(arena, name.node->valuestring);
		name.index++;
	}
	put_pointer(member, structure, count > 0 ? names : no_names);
	return 0;
}

static int read_objects(const struct json_member *member, const struct json_at *at, void *structure,
			struct arena *arena, struct error *err)
{
	size_t count = json_count(at);
	struct json_at element = {.parent = at};
	int rc = check_count(member, at, "elements", err);
	char *items = rc == 0 ? arena_allocate(arena, count * member->size) : NULL;
	if (items == NULL)
		return rc < 0 ? rc : error_memory(err);
	cJSON_ArrayForEach (element.node, at->node) {
		if (!cJSON_IsObject(element.node))
			return json_error(&element, err, "expected object");
		rc = json_members_read(&element, member->members,
				       items + element.index * member->size, arena, err);
		if (rc < 0)
			return rc;
		element.index++;
	}
	put_pointer(member, structure, items);
	put_count(member, structure, count);
	return 0;
}

static int read_map(const struct json_member *member, const struct json_at *at, void *structure,
		    struct arena *arena, struct error *err)
{
	size_t count = 0;
	int rc = check_count(member, at, "members", err);
	struct json_pair *pairs =
		rc == 0 ? arena_allocate(arena, json_count(at) * sizeof(*pairs)) : NULL;
	if (pairs == NULL)
		return rc < 0 ? rc : error_memory(err);
	json_each (child, at->node) {
		struct json_at pair = {.node = child, .parent = at, .key = child->string};
		rc = member->check != NULL ? member->check(&pair, err) : 0;
		if (rc == 0 && !cJSON_IsString(child))
			rc = json_error(&pair, err, "expected string");
		if (rc == 0 && cJSON_GetObjectItemCaseSensitive(at->node, child->string) != child)
			rc = json_error(&pair, err, "appears twice");
		if (rc < 0)
			return rc;
		pairs[count++] = (struct json_pair){arena_string(arena, child->string),
						    arena_string(arena, child->valuestring)};
	}
	put_pointer(member, structure, pairs);
	put_count(member, structure, count);
	return 0;
}

static const enum json_type types[] = {
	[JSON_MEMBER_STRING] = JSON_STRING, [JSON_MEMBER_BOOL] = JSON_BOOL,
	[JSON_MEMBER_INT] = JSON_NUMBER,    [JSON_MEMBER_HEX] = JSON_STRING,
	[JSON_MEMBER_CHOICE] = JSON_STRING, [JSON_MEMBER_NAMES] = JSON_ARRAY,
	[JSON_MEMBER_OBJECT] = JSON_OBJECT, [JSON_MEMBER_OBJECTS] = JSON_ARRAY,
	[JSON_MEMBER_MAP] = JSON_OBJECT,    [JSON_MEMBER_SCHEMA] = JSON_STRING,
};

/* The member exists and is of its type. */
static int read_member(const struct json_member *member, const struct json_at *at, void *structure,
		       struct arena *arena, struct error *err)
{
	const char *text = at->node->valuestring;
	const int digits = (int)member->max;
	int64_t number = 0;
	long long hex = 0;
	int rc = 0;
	switch (member->type) {
	case JSON_MEMBER_STRING:
		put_pointer(member, structure, arena_string(arena, text));
		return 0;
	case JSON_MEMBER_BOOL:
		put_number(member, structure, cJSON_IsTrue(at->node));
		return 0;
	case JSON_MEMBER_INT:
		rc = json_need_int(at->parent, member->key, member->min, member->max, &number, err);
		if (rc == 0)
			put_number(member, structure, number);
		return rc;
	case JSON_MEMBER_HEX:
		if (!text_starts_with(text, "0x") ||
		    text_to_int64(text, member->key, 0, (1LL << 4 * digits) - 1, &hex, NULL) < 0)
			return json_error(at, err, "expected \"0x\" and at most %d digits", digits);
		put_number(member, structure, hex);
		return 0;
	case JSON_MEMBER_CHOICE:
		return read_choice(member, at, structure, err);
	case JSON_MEMBER_NAMES:
		return read_names(member, at, structure, arena, err);
	case JSON_MEMBER_OBJECT:
		return json_members_read(at, member->members, (char *)structure + member->offset,
					 arena, err);
	case JSON_MEMBER_OBJECTS:
		return read_objects(member, at, structure, arena, err);
	case JSON_MEMBER_MAP:
		return read_map(member, at, structure, arena, err);
	case JSON_MEMBER_SCHEMA:
		if (!text_equal(text, member->what))
			return json_error(at, err,
					  "expected \"%s\"; a newer version needs a newer gpucert",
					  member->what);
		return 0;
	}
	return 0;
}

int json_members_read(const struct json_at *object, const struct json_member *members,
		      void *structure, struct arena *arena, struct error *err)
{
	json_members_reset(members, structure);
	for (const struct json_member *member = members; member->key != NULL; member++) {
		struct json_at at = {0};
		int rc = (member->presence == JSON_REQUIRED ? json_need : json_have)(
			object, member->key, types[member->type], &at, err);
		if (rc == 0 && at.node != NULL)
			rc = read_member(member, &at, structure, arena, err);
		if (rc == 0 && at.node != NULL && member->check != NULL &&
		    member->type != JSON_MEMBER_MAP)
			rc = member->check(&at, err);
		if (rc < 0)
			return rc;
	}
	if (arena->failed)
		return error_memory(err);

	/* Only the members of the table, each once. */
	json_each (child, object->node) {
		struct json_at at = {.node = child, .parent = object, .key = child->string};
		const struct json_member *member = members;
		while (member->key != NULL && !text_equal(member->key, child->string))
			member++;
		if (member->key == NULL)
			return json_error(&at, err, "unknown member");
		if (cJSON_GetObjectItemCaseSensitive(object->node, child->string) != child)
			return json_error(&at, err, "appears twice");
	}
	return 0;
}

static bool all_empty(const struct json_member *members, const void *structure);

static bool is_empty(const struct json_member *member, const void *structure)
{
	switch (member->type) {
	case JSON_MEMBER_STRING:
		return string_of(member, structure)[0] == '\0';
	case JSON_MEMBER_BOOL:
	case JSON_MEMBER_INT:
	case JSON_MEMBER_HEX:
	case JSON_MEMBER_CHOICE:
		return number_of(member, structure) == member->empty;
	case JSON_MEMBER_NAMES:
		return names_of(member, structure)[0] == NULL;
	case JSON_MEMBER_OBJECT:
		return all_empty(member->members, (const char *)structure + member->offset);
	case JSON_MEMBER_OBJECTS:
	case JSON_MEMBER_MAP:
		return count_of(member, structure) == 0;
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

/* NAMES, OBJECTS or a MAP. */
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
		const void *element = string_of(member, structure) + i * member->size;
		const struct json_pair *pair = element;
		if (map)
			member_string(&json, pair->name, pair->value);
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
	case JSON_MEMBER_OBJECTS:
	case JSON_MEMBER_MAP:
		return write_elements(member, structure);
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
		if (members->presence == JSON_NULL && empty)
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
