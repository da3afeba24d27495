/* SPDX-License-Identifier: MIT */
/* What identifies an environment: the code and the schema, of which docs/reference/ is made, say the same. */
#include "base/tests/unit.h"
#include "reports/environment.h"

#include <string.h>

/* The pointers of the members with x-identifying, in the schema's order. */
static void collect_marks(const cJSON *schema, const char *pointer, struct text_list *out)
{
	const cJSON *properties = cJSON_GetObjectItem(schema, "properties");
	const cJSON *member = NULL;
	if (cJSON_IsTrue(cJSON_GetObjectItem(schema, "x-identifying")))
		text_list_add(out, pointer);
	cJSON_ArrayForEach (member, properties) {
		char *items CLEANUP_FREE = text_format("%s/%s/0", pointer, member->string);
		char *below CLEANUP_FREE = text_format("%s/%s", pointer, member->string);
		collect_marks(member, below, out);
		collect_marks(cJSON_GetObjectItem(member, "items"), items, out);
	}
}

static void expect_same(const char *section, const struct text_list *marked)
{
	const char *const *identity = environment_identity(section);
	size_t count = 0;
	CU_ASSERT_PTR_NOT_NULL_FATAL(identity);
	for (; count < marked->count && identity[count] != NULL; count++)
		CU_ASSERT_STRING_EQUAL(marked->items[count], identity[count]);
	CU_ASSERT_EQUAL(marked->count, count);
	CU_ASSERT_PTR_NULL(identity[count]);
}

static bool has_string(const cJSON *list, const char *string)
{
	json_each (item, list) {
		if (text_equal(cJSON_GetStringValue(item), string))
			return true;
	}
	return false;
}

static void test_schema(void)
{
	cJSON *schema CLEANUP_JSON = NULL;
	cJSON *nothing CLEANUP_JSON = environment_new();
	const cJSON *sections = NULL;
	const cJSON *section = NULL;
	size_t count = 0;
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(json_read_file(GPUCERT_SOURCE_DIR
					     "/reports/schema/report.schema.json",
					     &schema, &err),
			      0);
	sections = json_pointer(schema, "/$defs/environment/properties");
	cJSON_ArrayForEach (section, sections) {
		const cJSON *items = cJSON_GetObjectItem(section, "items");
		struct text_list marks CLEANUP_TEXT_LIST = {0};
		if (strcmp(section->string, "digest") == 0)
			continue;
		/* What a report may lack is not there while nothing is known of it. */
		bool needed = has_string(json_pointer(schema, "/$defs/environment/required"),
					 section->string);
		count += needed ? 1 : 0;
		CU_ASSERT_EQUAL(cJSON_HasObjectItem(nothing, section->string), needed);
		collect_marks(items != NULL ? items : section, "", &marks);
		expect_same(section->string, &marks);
	}
	CU_ASSERT_EQUAL(count, (size_t)cJSON_GetArraySize(nothing));
}

/* A digest that does not change when one identifying member does identifies nothing. */
static void test_each_member_changes_the_digest(void)
{
	cJSON *sections CLEANUP_JSON = environment_new();
	const cJSON *section = NULL;
	char before[DIGEST_SIZE] = "";
	environment_digest(sections, before);
	cJSON_ArrayForEach (section, sections) {
		const char *const *pointer = environment_identity(section->string);
		for (; *pointer != NULL; pointer++) {
			cJSON *environment CLEANUP_JSON = cJSON_Duplicate(sections, true);
			cJSON *members = cJSON_CreateObject();
			cJSON *object = members;
			struct text_list keys CLEANUP_TEXT_LIST = {0};
			char after[DIGEST_SIZE] = "";
			text_list_split(&keys, *pointer + 1, '/');
			for (size_t i = 0; i + 1 < keys.count; i++)
				object = cJSON_AddObjectToObject(object, keys.items[i]);
			(void)cJSON_AddStringToObject(object, keys.items[keys.count - 1], "x");
			if (cJSON_IsArray(section)) {
				cJSON *array = cJSON_CreateArray();
				(void)cJSON_AddItemToArray(array, members);
				members = array;
			}
			(void)cJSON_ReplaceItemInObjectCaseSensitive(environment, section->string,
								     members);
			environment_digest(environment, after);
			CU_ASSERT_STRING_NOT_EQUAL(before, after);
		}
	}
}

static cJSON *ran_on(const char *digest, const char *origin, bool discovered)
{
	char *text CLEANUP_FREE = text_format(
		"[{\"ref\":\"gpu\",\"api\":\"vulkan\",\"files\":[{\"path\":\"/lib/a.so\",\"digest\":\"%s\","
		"\"origin\":\"%s\",\"discovered\":%s}],\"nodes\":[],\"drm\":[]},"
		"{\"ref\":\"another\",\"api\":\"vulkan\",\"files\":[],\"nodes\":[],\"drm\":[]}]",
		digest, origin, discovered ? "true" : "false");
	return cJSON_Parse(text);
}

/* Two builds of a driver that answers mount are two environments; the node's own files are in runtimeFiles. */
static void test_what_ran_identifies(void)
{
	static const struct {
		const char *digest, *origin;
		bool discovered, other;
	} rows[] = {
		{"sha256:1", "answer", true, false},  {"sha256:1", "image", false, false},
		{"sha256:1", "answer", false, true},  {"sha256:2", "answer", false, true},
		{"sha256:2", "runtime", false, true},
	};
	char before[DIGEST_SIZE] = "", last[DIGEST_SIZE] = "";
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cJSON *environment CLEANUP_JSON = cJSON_Parse("{\"devices\":[{\"ref\":\"gpu\"}]}");
		cJSON *ran CLEANUP_JSON =
			ran_on(rows[i].digest, rows[i].origin, rows[i].discovered);
		char after[DIGEST_SIZE] = "";
		environment_digest(environment, before);
		environment_add_ran(environment, ran);
		environment_digest(environment, after);
		CU_ASSERT_EQUAL(strcmp(before, after) != 0, rows[i].other);
		if (i == 3) /* as in row 2, but for the digest */
			CU_ASSERT_STRING_NOT_EQUAL(after, last);
		CU_ASSERT_EQUAL(cJSON_GetArraySize(json_pointer(environment, "/devices/0/ran")), 1);
		CU_ASSERT_PTR_NULL(json_pointer(environment, "/devices/0/ran/0/ref"));
		memcpy(last, after, sizeof(last));
	}
}

UNIT_MAIN("environment", {"the schema names what identifies", test_schema},
	  {"each identifying member changes the digest", test_each_member_changes_the_digest},
	  {"two builds of a driver are two environments", test_what_ran_identifies})
