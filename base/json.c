/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include "base/file.h"

#include <float.h>
#include <math.h>
#include <string.h>

static int parse_error(const char *data, size_t size, const char *at, const char *what,
		       struct error *err)
{
	size_t line = 1;
	size_t column = 1;
	for (const char *p = data; p < at && p < data + size; p++) {
		column = *p == '\n' ? 1 : column + 1;
		line += *p == '\n' ? 1 : 0;
	}
	return error_set(err, ERROR_FORMAT, "line %zu, column %zu: %s", line, column, what);
}

/* Refuses deep nesting, and NULs, which would end a C string early: the parser accepts both. */
static int json_check(const char *data, size_t size, struct error *err)
{
	static const char nul[] = "\\u0000";
	size_t depth = 0;
	bool in_string = false;
	for (size_t i = 0; i < size; i++) {
		if (data[i] == '\0' ||
		    (in_string && data[i] == '\\' && size - i >= sizeof(nul) - 1 &&
		     memcmp(data + i, nul, sizeof(nul) - 1) == 0))
			return parse_error(data, size, data + i, "NUL character", err);
		if (in_string) {
			if (data[i] == '\\')
				i++;
			else if (data[i] == '"')
				in_string = false;
			continue;
		}
		if (data[i] == '"')
			in_string = true;
		else if ((data[i] == '[' || data[i] == '{') && ++depth > JSON_DEPTH_MAX)
			return error_set(err, ERROR_LIMIT, "JSON is nested deeper than %d levels",
					 (int)JSON_DEPTH_MAX);
		else if ((data[i] == ']' || data[i] == '}') && depth > 0)
			depth--;
	}
	return 0;
}

/* The parser makes infinity of a number like 1e999, and would print it as null. */
static bool is_finite(const cJSON *json)
{
	if (cJSON_IsNumber(json) && !(fabs(json->valuedouble) <= DBL_MAX))
		return false;
	json_each (child, json) {
		if (!is_finite(child))
			return false;
	}
	return true;
}

int json_parse(const char *data, size_t size, cJSON **out, struct error *err)
{
	const char *end = data;
	int rc = json_check(data, size, err);
	if (rc < 0)
		return rc;
	if (!text_is_utf8(data, size))
		return error_set(err, ERROR_FORMAT, "JSON is not UTF-8");
	cJSON *json CLEANUP_JSON = cJSON_ParseWithLengthOpts(data, size, &end, 0);
	if (json == NULL)
		return parse_error(data, size, end, "not valid JSON", err);
	while (end < data + size && strchr(" \t\r\n", *end) != NULL)
		end++;
	if (end != data + size)
		return parse_error(data, size, end, "not valid JSON", err);
	if (!is_finite(json))
		return error_set(err, ERROR_FORMAT, "JSON holds a number that is out of range");
	*out = STEAL(json);
	return 0;
}

int json_read_file(const char *path, cJSON **out, struct error *err)
{
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	int rc = file_read(path, JSON_FILE_MAX, &data, &size, err);
	if (rc < 0)
		return rc;
	rc = json_parse(data, size, out, err);
	return rc < 0 ? error_wrap(err, rc, "%s", path) : 0;
}

/* Adds cJSON's output, with hazardous characters as escapes: they occur only in strings. */
static void add_printed(struct text *text, const cJSON *json)
{
	char *printed CLEANUP_FREE = cJSON_PrintUnformatted(json);
	const char *done = printed != NULL ? printed : "";
	const char *end = done + strlen(done);
	text->failed = text->failed || printed == NULL;
	for (const char *at = done; at < end;) {
		uint32_t code = 0;
		const size_t length = text_character(at, (size_t)(end - at), &code);
		const char *next = at + (length != 0 ? length : 1);
		if (length == 0 || text_is_hazardous(code)) {
			text_append(text, done, (size_t)(at - done));
			text_addf(text, "\\u%04x", length != 0 ? (unsigned)code : 0xfffdU);
			done = next;
		}
		at = next;
	}
	text_append(text, done, (size_t)(end - done));
}

static void print_into(struct text *text, const cJSON *json, int depth)
{
	bool object = cJSON_IsObject(json);
	if ((!object && !cJSON_IsArray(json)) || json->child == NULL) {
		add_printed(text, json);
		return;
	}
	text_add(text, object ? "{\n" : "[\n");
	json_each (child, json) {
		text_addf(text, "%*s", (depth + 1) * 2, "");
		if (object) {
			json_add_quoted(text, child->string, strlen(child->string));
			text_add(text, ": ");
		}
		print_into(text, child, depth + 1);
		text_add(text, child->next != NULL ? ",\n" : "\n");
	}
	text_addf(text, "%*s%s", depth * 2, "", object ? "}" : "]");
}

char *json_print(const cJSON *json)
{
	struct text text CLEANUP_TEXT = {0};
	print_into(&text, json, 0);
	text_add(&text, "\n");
	return text_take(&text);
}

char *json_print_compact(const cJSON *json)
{
	struct text text CLEANUP_TEXT = {0};
	add_printed(&text, json);
	return text_take(&text);
}

int json_write_file(const char *path, const cJSON *json, struct error *err)
{
	char *text CLEANUP_FREE = json_print(json);
	if (text == NULL)
		return error_memory(err);
	return file_write_atomic(path, text, strlen(text), 0644, err);
}

void json_add_quoted(struct text *text, const char *data, size_t size)
{
	cJSON *string CLEANUP_JSON = json_new_string(data, size);
	add_printed(text, string);
}

cJSON *json_new_string(const char *data, size_t size)
{
	struct text clean CLEANUP_TEXT = {0};
	for (size_t start = 0; start < size;) {
		uint32_t code = 0;
		size_t length = text_character(data + start, size - start, &code);
		text_append(&clean, length != 0 ? data + start : "\xef\xbf\xbd",
			    length != 0 ? length : 3);
		start += length != 0 ? length : 1;
	}
	return clean.failed ? NULL : cJSON_CreateString(text_string(&clean));
}

void json_add_string(cJSON *object, const char *key, const char *value)
{
	(void)cJSON_AddItemToObject(object, key, json_new_string(value, strlen(value)));
}

cJSON *json_new_strings(const struct text_list *list)
{
	cJSON *array CLEANUP_JSON = cJSON_CreateArray();
	for (size_t i = 0; array != NULL && i < list->count; i++) {
		const char *item = list->items[i];
		if (!cJSON_AddItemToArray(array, json_new_string(item, strlen(item))))
			return NULL;
	}
	return STEAL(array);
}

/* Does the reference token mean `name`? In it, "~1" stands for '/' and "~0" for '~'. */
static bool token_names(const char *token, size_t size, const char *name)
{
	for (size_t i = 0; i < size; i++, name++) {
		char letter = token[i];
		if (letter == '~' && i + 1 < size && (token[i + 1] == '0' || token[i + 1] == '1'))
			letter = token[++i] == '0' ? '~' : '/';
		if (*name != letter)
			return false;
	}
	return *name == '\0';
}

const cJSON *json_pointer(const cJSON *root, const char *pointer)
{
	const cJSON *node = root;
	while (node != NULL && *pointer == '/') {
		const char *token = pointer + 1;
		const size_t size = strcspn(token, "/");
		const bool is_array = cJSON_IsArray(node);
		const cJSON *child = json_first(node);
		for (size_t index = 0; child != NULL; child = child->next) {
			char number[24] = "";
			(void)snprintf(number, sizeof(number), "%zu", index++);
			if (token_names(token, size, is_array ? number : child->string))
				break;
		}
		node = child;
		pointer = token + size;
	}
	return *pointer == '\0' ? node : NULL;
}

const char *json_pointer_string(const cJSON *root, const char *pointer)
{
	return cJSON_GetStringValue(json_pointer(root, pointer));
}

double json_pointer_number(const cJSON *root, const char *pointer)
{
	const cJSON *number = json_pointer(root, pointer);
	return cJSON_IsNumber(number) ? number->valuedouble : 0;
}

bool json_pointer_true(const cJSON *root, const char *pointer)
{
	return cJSON_IsTrue(json_pointer(root, pointer));
}

const cJSON *json_first(const cJSON *parent)
{
	return parent != NULL ? parent->child : NULL;
}

struct json_at json_root(const cJSON *document)
{
	return (struct json_at){.node = document};
}

static void add_place(struct text *text, const struct json_at *at)
{
	if (at->parent == NULL)
		return;
	add_place(text, at->parent);
	if (at->key == NULL) {
		text_addf(text, "[%zu]", at->index);
		return;
	}
	if (text->size != 0)
		text_add(text, ".");
	text_add_escaped(text, at->key, strlen(at->key));
}

int json_error(const struct json_at *at, struct error *err, const char *format, ...)
{
	struct text text CLEANUP_TEXT = {0};
	add_place(&text, at);
	text_add(&text, text.size != 0 ? ": " : "");
	text_add_formatted(&text, format);
	return error_set(err, ERROR_FORMAT, "%s", text_string(&text));
}

cJSON_bool json_is_string(const cJSON *node)
{
	return node->valuestring != NULL && !cJSON_IsNull(node);
}

static const struct {
	cJSON_bool (*is)(const cJSON *node);
	const char *name;
} json_types[] = {
	[JSON_OBJECT] = {cJSON_IsObject, "object"}, [JSON_ARRAY] = {cJSON_IsArray, "array"},
	[JSON_STRING] = {json_is_string, "string"}, [JSON_NUMBER] = {cJSON_IsNumber, "number"},
	[JSON_BOOL] = {cJSON_IsBool, "boolean"},
};

static int check_type(const struct json_at *at, enum json_type type, struct error *err)
{
	if (at->node != NULL && (type == JSON_ANY || json_types[type].is(at->node)))
		return 0;
	return json_error(at, err, "expected %s",
			  type == JSON_ANY ? "value" : json_types[type].name);
}

int json_have(const struct json_at *object, const char *key, enum json_type type,
	      struct json_at *out, struct error *err)
{
	*out = (struct json_at){.parent = object, .key = key};
	if (!cJSON_IsObject(object->node))
		return json_error(object, err, "expected object");
	out->node = cJSON_GetObjectItemCaseSensitive(object->node, key);
	if (out->node == NULL || cJSON_IsNull(out->node)) {
		out->node = NULL;
		return 0;
	}
	return check_type(out, type, err);
}

int json_need(const struct json_at *object, const char *key, enum json_type type,
	      struct json_at *out, struct error *err)
{
	int rc = json_have(object, key, type, out, err);
	if (rc == 0 && out->node == NULL)
		return json_error(out, err, "missing, expected %s",
				  type == JSON_ANY ? "value" : json_types[type].name);
	return rc;
}

int json_element(const struct json_at *array, size_t index, enum json_type type,
		 struct json_at *out, struct error *err)
{
	*out = (struct json_at){.parent = array, .index = index};
	if (index <= INT32_MAX)
		out->node = cJSON_GetArrayItem(array->node, (int)index);
	return check_type(out, type, err);
}

size_t json_count(const struct json_at *array)
{
	return array->node != NULL ? (size_t)cJSON_GetArraySize(array->node) : 0;
}

int json_int(const struct json_at *at, int64_t min, int64_t max, int64_t *out, struct error *err)
{
	double value = at->node->valuedouble;
	if (!cJSON_IsNumber(at->node))
		return json_error(at, err, "expected number");
	/* cJSON numbers are doubles: whole up to 2^53. */
	if (floor(value) != value || fabs(value) > 9007199254740992.0)
		return json_error(at, err, "expected integer");
	if ((int64_t)value < min || (int64_t)value > max)
		return json_error(at, err, "%lld is outside %lld to %lld", (long long)value,
				  (long long)min, (long long)max);
	*out = (int64_t)value;
	return 0;
}

int json_have_string(const struct json_at *object, const char *key, const char **out,
		     struct error *err)
{
	struct json_at at = {0};
	int rc = json_have(object, key, JSON_STRING, &at, err);
	if (rc == 0 && at.node != NULL)
		*out = at.node->valuestring;
	return rc;
}

int json_have_int(const struct json_at *object, const char *key, int64_t min, int64_t max,
		  int64_t *out, struct error *err)
{
	struct json_at at = {0};
	int rc = json_have(object, key, JSON_NUMBER, &at, err);
	return rc == 0 && at.node != NULL ? json_int(&at, min, max, out, err) : rc;
}

int json_have_bool(const struct json_at *object, const char *key, bool *out, struct error *err)
{
	struct json_at at = {0};
	int rc = json_have(object, key, JSON_BOOL, &at, err);
	if (rc == 0 && at.node != NULL)
		*out = cJSON_IsTrue(at.node);
	return rc;
}

int json_need_string(const struct json_at *object, const char *key, const char **out,
		     struct error *err)
{
	struct json_at at = {0};
	int rc = json_need(object, key, JSON_STRING, &at, err);
	return rc < 0 ? rc : json_have_string(object, key, out, err);
}

int json_need_int(const struct json_at *object, const char *key, int64_t min, int64_t max,
		  int64_t *out, struct error *err)
{
	struct json_at at = {0};
	int rc = json_need(object, key, JSON_NUMBER, &at, err);
	return rc < 0 ? rc : json_have_int(object, key, min, max, out, err);
}
