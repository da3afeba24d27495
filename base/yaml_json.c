/* SPDX-License-Identifier: MIT */
#include "base/yaml_json.h"

#include "base/cleanup.h"
#include "base/yaml.h"

#include <stdlib.h>
#include <string.h>

struct reader {
	yaml_document_t *document;
	size_t values, bytes;
	struct error *err;
};

static bool is_one_of(const char *text, const char *const *words)
{
	return words[text_position(words, text)] != NULL;
}

static bool to_number(const char *text, double *out)
{
	char *end = NULL;
	const char *digits = text + strspn(text, "+-");
	if (digits - text > 1 || strpbrk(digits, "0123456789") == NULL)
		return false;
	bool octal = strncmp(digits, "0o", 2) == 0;
	if (octal || strspn(digits, "0123456789") == strlen(digits) ||
	    strncmp(digits, "0x", 2) == 0) {
		long long value = strtoll(octal ? digits + 2 : digits, &end, octal ? 8 : 0);
		*out = text[0] == '-' ? -(double)value : (double)value;
		return *end == '\0';
	}
	if (strspn(digits, "0123456789.eE+-") != strlen(digits))
		return false;
	*out = strtod(text, &end);
	return *end == '\0';
}

/* A plain scalar, typed by its text, which it keeps. */
static cJSON *plain_scalar(const char *text)
{
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
	static const char *const trues[] = {"true", "True", "TRUE", NULL};
	static const char *const falses[] = {"false", "False", "FALSE", NULL};
	double number = 0;
	if (is_one_of(text, nulls))
		return cJSON_CreateNull();
	cJSON *value CLEANUP_JSON = NULL;
	if (is_one_of(text, trues) || is_one_of(text, falses))
		value = cJSON_CreateBool(is_one_of(text, trues));
	else if (to_number(text, &number))
		value = cJSON_CreateNumber(number);
	else
		return cJSON_CreateString(text);
	if (value != NULL)
		value->valuestring = text_format("%s", text);
	return value != NULL && value->valuestring != NULL ? STEAL(value) : NULL;
}

static int read_node(struct reader *reader, int index, size_t depth, cJSON **out);

static int read_list(struct reader *reader, const yaml_node_t *node, size_t depth, cJSON *list)
{
	for (const yaml_node_item_t *item = node->data.sequence.items.start;
	     item < node->data.sequence.items.top; item++) {
		cJSON *element CLEANUP_JSON = NULL;
		int rc = read_node(reader, *item, depth, &element);
		if (rc < 0)
			return rc;
		(void)cJSON_AddItemToArray(list, STEAL(element));
	}
	return 0;
}

static int read_mapping(struct reader *reader, const yaml_node_t *node, size_t depth, cJSON *object)
{
	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = yaml_document_get_node(reader->document, pair->key);
		cJSON *value CLEANUP_JSON = NULL;
		if (yaml_scalar(key) == NULL)
			return yaml_wrong(NULL, key, reader->err, ERROR_FORMAT,
					  "a key is not text");
		reader->bytes += key->data.scalar.length;
		int rc = read_node(reader, pair->value, depth, &value);
		if (rc < 0)
			return rc;
		(void)cJSON_AddItemToObject(object, yaml_scalar(key), STEAL(value));
	}
	return 0;
}

/* An alias repeats its node, even inside itself: the limits of depth and values end that. */
static int read_node(struct reader *reader, int index, size_t depth, cJSON **out)
{
	const yaml_node_t *node = yaml_document_get_node(reader->document, index);
	if (++reader->values > YAML_VALUES_MAX)
		return yaml_wrong(NULL, node, reader->err, ERROR_LIMIT, "too many values");
	if (reader->bytes > YAML_BYTES_MAX)
		return yaml_wrong(NULL, node, reader->err, ERROR_LIMIT, "too much text");
	if (depth > JSON_DEPTH_MAX)
		return yaml_wrong(NULL, node, reader->err, ERROR_LIMIT, "nested too deeply");
	if (node->type == YAML_SCALAR_NODE) {
		const char *text = yaml_scalar(node);
		if (text == NULL)
			return yaml_wrong(NULL, node, reader->err, ERROR_FORMAT, "a NUL in a text");
		reader->bytes += node->data.scalar.length;
		*out = node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE
			       ? plain_scalar(text)
			       : cJSON_CreateString(text);
		return 0;
	}
	bool list = node->type == YAML_SEQUENCE_NODE;
	*out = list ? cJSON_CreateArray() : cJSON_CreateObject();
	return list ? read_list(reader, node, depth + 1, *out)
		    : read_mapping(reader, node, depth + 1, *out);
}

int yaml_to_json(const char *data, size_t size, cJSON **out, struct error *err)
{
	yaml_document_t document CLEANUP(yaml_document_delete) = {0};
	cJSON *json CLEANUP_JSON = NULL;
	struct reader reader = {.document = &document, .err = err};
	int rc = yaml_load(NULL, data, size, &document, err);
	if (rc == 0 && yaml_document_get_root_node(&document) == NULL)
		return error_set(err, ERROR_FORMAT, "the file is empty");
	if (rc == 0)
		rc = read_node(&reader, 1, 0, &json);
	if (rc == 0)
		*out = STEAL(json);
	return rc;
}
