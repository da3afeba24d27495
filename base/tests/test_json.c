/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json_members.h"
#include "base/path.h"
#include "base/tests/unit.h"

static int parse(const char *data, cJSON **out, struct error *err)
{
	return json_parse(data, strlen(data), out, err);
}

static void test_parse_errors_name_the_place(void)
{
	static const struct {
		const char *data;
		int code;
		const char *text;
	} cases[] = {
		{"", ERROR_FORMAT, "line 1, column 1: not valid JSON"},
		{"{\n \"a\": tru\n}", ERROR_FORMAT, "line 2, column 7: not valid JSON"},
		{"{} x", ERROR_FORMAT, "line 1, column 4: not valid JSON"},
		{"[1,]", ERROR_FORMAT, "line 1, column 4: not valid JSON"},
		{"\"\xff\"", ERROR_FORMAT, "JSON is not UTF-8"},
		{"[{\"a\": 1e999}]", ERROR_FORMAT, "JSON holds a number that is out of range"},
		{"{\"luid\\u0000x\": 1}", ERROR_FORMAT, "line 1, column 7: NUL character"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cJSON *json CLEANUP_JSON = NULL;
		struct error err = {0};
		UNIT_INT(parse(cases[i].data, &json, &err), cases[i].code);
		UNIT_STRING(err.text, cases[i].text);
		CU_ASSERT_PTR_NULL(json);
	}
}

static void test_nul_byte(void)
{
	cJSON *json CLEANUP_JSON = NULL;
	struct error err = {0};
	UNIT_INT(json_parse("[1\0]", 4, &json, &err), ERROR_FORMAT);
	UNIT_STRING(err.text, "line 1, column 3: NUL character");
	/* A backslash that is itself escaped starts no escape. */
	UNIT_INT(parse("[\"\\\\u0000\"]", &json, &err), 0);
	UNIT_STRING(json->child->valuestring, "\\u0000");
}

static void test_depth(void)
{
	char nested[2 * (JSON_DEPTH_MAX + 1) + 1];
	struct error err = {0};
	for (size_t depth = JSON_DEPTH_MAX; depth <= JSON_DEPTH_MAX + 1; depth++) {
		cJSON *json CLEANUP_JSON = NULL;
		memset(nested, '[', depth);
		memset(nested + depth, ']', depth);
		UNIT_INT(json_parse(nested, 2 * depth, &json, &err),
			 depth <= JSON_DEPTH_MAX ? 0 : ERROR_LIMIT);
	}
	UNIT_STRING(err.text, "JSON is nested deeper than 64 levels");
}

static void test_print_is_stable(void)
{
	static const char wanted[] = "{\n"
				     "  \"b\": [\n    1,\n    2.5,\n    []\n  ],\n"
				     "  \"a\\\"\": {\n    \"x\": null\n  },\n"
				     "  \"t\": true\n}\n";
	cJSON *json CLEANUP_JSON = NULL;
	char *printed CLEANUP_FREE = NULL;
	char *compact CLEANUP_FREE = NULL;
	UNIT_INT(parse("{\"b\":[1,2.5,[]],\"a\\\"\":{\"x\":null},\"t\":true} \n", &json, NULL), 0);
	printed = json_print(json);
	UNIT_STRING(printed, wanted);
	compact = json_print_compact(json);
	UNIT_STRING(compact, "{\"b\":[1,2.5,[]],\"a\\\"\":{\"x\":null},\"t\":true}");
}

static void test_files(void)
{
	char *directory CLEANUP_FREE = NULL;
	char *path CLEANUP_FREE = NULL;
	cJSON *json CLEANUP_JSON = NULL;
	struct error err = {0};
	struct error wanted = {0};
	UNIT_INT(file_make_temporary("/tmp", "gpucert-test-", &directory, NULL), 0);
	path = text_format("%s/x.json", directory);
	UNIT_INT(parse("[1]", &json, NULL), 0);
	UNIT_INT(json_write_file(path, json, &err), 0);
	cJSON_Delete(STEAL(json));
	UNIT_INT(json_read_file(path, &json, &err), 0);
	UNIT_INT(cJSON_GetArraySize(json), 1);
	UNIT_INT(file_write_atomic(path, "[x", 2, 0644, NULL), 0);
	cJSON_Delete(STEAL(json));
	UNIT_INT(json_read_file(path, &json, &err), ERROR_FORMAT);
	(void)error_set(&wanted, 0, "%s: line 1, column 2: not valid JSON", path);
	UNIT_STRING(err.text, wanted.text);
	UNIT_INT(json_read_file(path, &json, NULL), ERROR_FORMAT);
	UNIT_INT(json_read_file("/no/such.json", &json, &err), ERROR_NOT_FOUND);
	UNIT_INT(file_remove_tree(directory, NULL), 0);
}

static void test_untrusted_strings(void)
{
	struct text text CLEANUP_TEXT = {0};
	cJSON *string CLEANUP_JSON = json_new_string("a\xff\xe2\x82z", 5);
	json_add_quoted(&text, "a\"b\\c\n\t\x01\x7f\xff\xc3\xa9", 12);
	UNIT_STRING(text_string(&text), "\"a\\\"b\\\\c\\n\\t\\u0001\\u007f\xef\xbf\xbd\xc3\xa9\"");
	UNIT_STRING(cJSON_GetStringValue(string), "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz");
}

/* What a terminal would act on, in keys too, is an escape, and parses to the same again. */
static void test_harmless_on_terminals(void)
{
	static const char text[] =
		"{\"\xc2\x9b[31m\":[\"\x7f\xe2\x80\xae\xe2\x81\xa6\xef\xbb\xbf\xe2\x80\xa8\",\"\xc3\xa9\xef\xbf\xbd\xf0\x9f\x98\x80\"]}";
	static const char wanted[] =
		"{\"\\u009b[31m\":[\"\\u007f\\u202e\\u2066\\ufeff\\u2028\",\"\xc3\xa9\xef\xbf\xbd\xf0\x9f\x98\x80\"]}";
	cJSON *json CLEANUP_JSON = NULL;
	cJSON *again CLEANUP_JSON = NULL;
	cJSON *broken CLEANUP_JSON = cJSON_CreateString("\x9b");
	UNIT_INT(parse(text, &json, NULL), 0);
	char *compact CLEANUP_FREE = json_print_compact(json);
	char *printed CLEANUP_FREE = json_print(json);
	char *repaired CLEANUP_FREE = json_print_compact(broken);
	UNIT_STRING(compact, wanted);
	CU_ASSERT_PTR_NOT_NULL(strstr(printed, "  \"\\u009b[31m\": [\n    \"\\u007f\\u202e"));
	UNIT_INT(parse(printed, &again, NULL), 0);
	CU_ASSERT_TRUE(cJSON_Compare(json, again, true));
	UNIT_STRING(repaired, "\"\\ufffd\"");
}

static void test_pointer(void)
{
	static const struct {
		const char *pointer, *wanted;
	} cases[] = {
		{"/adapters/1/name", "\"b\""},
		{"/a~1b", "1"},
		{"/m~0n", "2"},
		{"/", "3"},
		{"/adapters/2", NULL},
		{"/adapters/-1", NULL},
		{"/nothing", NULL},
		{"adapters", NULL},
		{"/adapters/x", NULL},
		{"/adapters/0/name/deeper", NULL},
		{"/~01", "4"},
		{"/adapters/99999999999999999999", NULL},
	};
	cJSON *json CLEANUP_JSON = NULL;
	UNIT_INT(parse("{\"adapters\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"a/"
		       "b\":1,\"m~n\":2,\"\":3,"
		       "\"~1\":4}",
		       &json, NULL),
		 0);
	CU_ASSERT_PTR_EQUAL(json_pointer(json, ""), json);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const cJSON *found = json_pointer(json, cases[i].pointer);
		char *printed CLEANUP_FREE = found != NULL ? json_print_compact(found) : NULL;
		if (cases[i].wanted != NULL)
			UNIT_STRING(printed, cases[i].wanted);
		else
			CU_ASSERT_PTR_NULL(found);
	}
}

static const char node[] =
	"{\"devices\":[{\"luid\":5,\"name\":\"x\",\"on\":true},{\"luid\":\"six\"},"
	"{\"luid\":1.5},{\"luid\":9007199254740994},{\"luid\":null}],\"n\\nl\":{}}";

static void test_reading(void)
{
	cJSON *json CLEANUP_JSON = NULL;
	struct json_at root = {0};
	struct json_at devices = {0};
	struct json_at device = {0};
	struct json_at none = {0};
	const char *name = NULL;
	const char *kept = "kept";
	int64_t luid = 0;
	bool on = false;
	UNIT_INT(parse(node, &json, NULL), 0);
	root = json_root(json);
	UNIT_INT(json_need(&root, "devices", JSON_ARRAY, &devices, NULL), 0);
	UNIT_INT(json_count(&devices), 5);
	UNIT_INT(json_element(&devices, 0, JSON_OBJECT, &device, NULL), 0);
	UNIT_INT(json_need_int(&device, "luid", 0, 10, &luid, NULL), 0);
	UNIT_INT(luid, 5);
	UNIT_INT(json_need_string(&device, "name", &name, NULL), 0);
	UNIT_STRING(name, "x");
	UNIT_INT(json_have_bool(&device, "on", &on, NULL), 0);
	CU_ASSERT_TRUE(on);
	UNIT_INT(json_have_string(&device, "absent", &kept, NULL), 0);
	UNIT_STRING(kept, "kept");
	UNIT_INT(json_have_int(&device, "absent", 0, 1, &luid, NULL), 0);
	UNIT_INT(json_have_bool(&device, "absent", &on, NULL), 0);
	UNIT_INT(json_have(&root, "absent", JSON_ARRAY, &none, NULL), 0);
	CU_ASSERT_PTR_NULL(none.node);
	UNIT_INT(json_count(&none), 0);
}

static void test_reading_errors_name_the_place(void)
{
	static const char *const wanted[] = {
		"devices[0].luid: 5 is outside 6 to 10",     "devices[1].luid: expected number",
		"devices[2].luid: expected integer",	     "devices[3].luid: expected integer",
		"devices[4].luid: missing, expected number",
	};
	cJSON *json CLEANUP_JSON = NULL;
	struct json_at root = {0};
	struct json_at devices = {0};
	struct json_at at = {0};
	struct error err = {0};
	int64_t luid = 0;
	UNIT_INT(parse(node, &json, NULL), 0);
	root = json_root(json);
	UNIT_INT(json_need(&root, "devices", JSON_ARRAY, &devices, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		UNIT_INT(json_element(&devices, i, JSON_OBJECT, &at, &err), 0);
		UNIT_INT(json_need_int(&at, "luid", 6, 10, &luid, &err), ERROR_FORMAT);
		UNIT_STRING(err.text, wanted[i]);
	}
	UNIT_INT(json_element(&devices, 5, JSON_OBJECT, &at, &err), ERROR_FORMAT);
	UNIT_STRING(err.text, "devices[5]: expected object");
	UNIT_INT(json_need(&root, "devices", JSON_OBJECT, &at, &err), ERROR_FORMAT);
	UNIT_STRING(err.text, "devices: expected object");
	at = (struct json_at){.parent = &root, .key = "n\nl"};
	UNIT_INT(json_error(&at, &err, "unknown member"), ERROR_FORMAT);
	UNIT_STRING(err.text, "n\\nl: unknown member");
	UNIT_INT(json_need(&devices, "x", JSON_ANY, &at, &err), ERROR_FORMAT);
	UNIT_STRING(err.text, "devices: expected object");
	UNIT_INT(json_error(&root, &err, "too old"), ERROR_FORMAT);
	UNIT_STRING(err.text, "too old");
}

static void test_drop_members(void)
{
	static const char *const names[] = {"drop", "also", NULL};
	static const struct {
		const char *from, *to;
	} rows[] = {
		{"", ""},
		{"{\"drop\": [1, [2], {\"x\": \"]\"}], \"keep\": [1]}", "{\"keep\": [1]}"},
		{"{\"keep\": [1], \"drop\": {} }", "{\"keep\": [1] }"},
		{"{\"a\": 1 , \"also\": null,\n\"drop\": \"x\" , \"b\": 2}",
		 "{\"a\": 1 , \"b\": 2}"},
		{"{\"a\": 1,\n\"also\": -1.5e3,\n\"drop\": true\n}", "{\"a\": 1\n}"},
		{"{\"drop\": \"a\\\"b\", \"also\": false}", "{}"},
		{"[{\"also\" : {\"drop\": []}}, {\"dropped\": [1]}]", "[{}, {\"dropped\": [1]}]"},
		{"{\"a\": \"drop\", \"b\": [\"drop\", {}]}",
		 "{\"a\": \"drop\", \"b\": [\"drop\", {}]}"},
		{"{\"a\\\"drop\": [1], \"\\\\\": {\"drop\":{\"\\\"\": \"}\"}}}",
		 "{\"a\\\"drop\": [1], \"\\\\\": {}}"},
		{"{\"drop\": [1, 2", "{\"drop\": [1, 2"},
		{"{\"drop\": [\"]", "{\"drop\": [\"]"},
		{"{\"drop", "{\"drop"},
		{"\"drop\":", "\"drop\":"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text CLEANUP_FREE = strdup(rows[i].from);
		CU_ASSERT_PTR_NOT_NULL_FATAL(text);
		text[json_drop_members(text, strlen(text), names)] = '\0';
		UNIT_STRING(text, rows[i].to);
	}
}

static void test_lines(void)
{
	char *directory CLEANUP_FREE = NULL;
	cJSON *first CLEANUP_JSON = cJSON_Parse("{\"a\": \"b\\nc\"}");
	cJSON *none CLEANUP_JSON = NULL;
	cJSON *all CLEANUP_JSON = NULL;
	struct error err = {0};
	UNIT_INT(file_make_temporary("/tmp", "gpucert-test-", &directory, NULL), 0);
	char *path CLEANUP_FREE = path_join(directory, "lines.ndjson");
	UNIT_INT(json_read_lines(path, &none, &err), 0);
	UNIT_INT(cJSON_GetArraySize(none), 0);
	UNIT_INT(json_append_line(path, first, &err), 0);
	UNIT_INT(json_append_line(path, first, &err), 0);
	UNIT_INT(json_read_lines(path, &all, &err), 0);
	UNIT_INT(cJSON_GetArraySize(all), 2);
	UNIT_STRING(json_pointer_string(all, "/1/a"), "b\nc");
	UNIT_INT(file_write_atomic(path, "{}\n{", 4, 0600, &err), 0);
	cJSON_Delete(none);
	none = NULL;
	UNIT_INT(json_read_lines(path, &none, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "lines.ndjson");
	UNIT_INT(json_append_line("/nonexistent/a", first, &err), ERROR_IO);
	UNIT_INT(file_remove_tree(directory, NULL), 0);
}

struct thing {
	const char *name, *other;
	const char *const *words;
	size_t word_count;
	int64_t *numbers;
	size_t number_count;
	const cJSON *more;
};

static int check_number(const struct json_at *at, struct error *err)
{
	return at->node->valuedouble < 9 ? 0 : json_error(at, err, "too much");
}

static const struct json_member thing_members[] = {
	JSON_TEXT(struct thing, "name", name, JSON_FILLED, NULL),
	JSON_TEXT(struct thing, "other", other, JSON_OR_NULL, NULL),
	{.key = "words",
	 .type = JSON_MEMBER_STRINGS,
	 JSON_COUNTED(struct thing, words, word_count),
	 .max = 2},
	{.key = "numbers",
	 .type = JSON_MEMBER_INTS,
	 JSON_COUNTED(struct thing, numbers, number_count),
	 .max = 2,
	 .check = check_number},
	{.key = "more", .type = JSON_MEMBER_ANY, JSON_AT(struct thing, more)},
	{0},
};

/* What is read is written alike, and every wrong object has its defect. */
static void test_members(void)
{
	static const char text[] = "{\"name\":\"a\",\"other\":null,\"words\":[\"\",\"b\"],"
				   "\"numbers\":[1,2],\"more\":{\"x\":1}}";
	static const struct {
		const char *text;
		enum json_defect defect;
		const char *says;
	} rows[] = {
		{text, JSON_SOUND, ""},
		{"{\"name\": \"a\", \"type\": 1}", JSON_SOUND, ""},
		{"{\"name\": \"\"}", JSON_MISSING, "name: it is empty"},
		{"{}", JSON_MISSING, "name: missing"},
		{"{\"name\": 1}", JSON_WRONG_TYPE, "name: expected string"},
		{"{\"name\": \"a\", \"numbers\": [0.5]}", JSON_WRONG_TYPE, "numbers[0]"},
		{"{\"name\": \"a\", \"numbers\": [1, 9]}", JSON_REFUSED, "numbers[1]: too much"},
		{"{\"name\": \"a\", \"words\": [\"a\", 2]}", JSON_WRONG_TYPE, "words[1]"},
		{"{\"name\": \"a\", \"words\": [\"\", \"\", \"\"]}", JSON_TOO_MANY, "more than 2"},
		{"{\"name\": \"a\", \"x\": 1}", JSON_UNKNOWN, "x: unknown member"},
		{"{\"name\": \"a\", \"name\": \"a\"}", JSON_TWICE, "name: appears twice"},
		{"[]", JSON_WRONG_TYPE, "expected object"},
	};
	static const char *const also[] = {"type", NULL};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cJSON *json CLEANUP_JSON = cJSON_Parse(rows[i].text);
		struct json_at root = json_root(json);
		struct json_checking checking = {.also = also};
		struct error err = {0};
		int rc = json_members_check(&root, thing_members, &checking, &err);
		UNIT_INT(checking.defect, rows[i].defect);
		UNIT_INT(rc < 0, rows[i].defect != JSON_SOUND);
		UNIT_CONTAINS(err.text, rows[i].says);
	}

	struct arena arena = {0};
	struct thing thing = {0};
	cJSON *json CLEANUP_JSON = cJSON_Parse(text);
	struct json_at root = json_root(json);
	struct members copy CLEANUP_MEMBERS = members_new();
	UNIT_INT(json_members_read(&root, thing_members, &thing, &arena, NULL), 0);
	CU_ASSERT_PTR_NULL(thing.other);
	cJSON *written CLEANUP_JSON = json_members_write(thing_members, &thing);
	char *printed CLEANUP_FREE = json_print_compact(written);
	UNIT_STRING(printed, text);
	json_members_copy(json, thing_members, &copy);
	UNIT_STRING(json_pointer_string(copy.object, "/words/1"), "b");
	arena_free(&arena);
}

UNIT_MAIN("json", {"parse errors name the place", test_parse_errors_name_the_place},
	  {"NUL byte", test_nul_byte}, {"depth", test_depth},
	  {"print is stable", test_print_is_stable}, {"files", test_files},
	  {"untrusted strings", test_untrusted_strings},
	  {"harmless on terminals", test_harmless_on_terminals}, {"pointer", test_pointer},
	  {"drop members", test_drop_members}, {"reading", test_reading},
	  {"reading errors name the place", test_reading_errors_name_the_place},
	  {"lines", test_lines}, {"members", test_members})
