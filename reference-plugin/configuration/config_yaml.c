/* SPDX-License-Identifier: MIT */
#include "reference-plugin/configuration/config_yaml.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "reference-plugin/configuration/setting.h"

#include <string.h>
#include <strings.h>
#include <yaml.h>

enum { YAML_FILE_MAX = 1024 * 1024 };

struct reader {
	const char *name;
	yaml_document_t *document;
	struct config *config;
};

static int wrong(const struct reader *reader, const yaml_node_t *node, struct error *err,
		 const char *what)
{
	return error_set(err, ERROR_FORMAT, "%s:%zu: %s", reader->name, node->start_mark.line + 1,
			 what);
}

static int wrap(const struct reader *reader, const yaml_node_t *node, const char *key, int code,
		struct error *err)
{
	return error_wrap(err, code, "%s:%zu: %s", reader->name, node->start_mark.line + 1, key);
}

static yaml_node_t *node_at(const struct reader *reader, int index)
{
	return yaml_document_get_node(reader->document, index);
}

/* NULL when the node is no scalar or holds a NUL. */
static const char *scalar(const yaml_node_t *node)
{
	const char *value = NULL;

	if (node->type != YAML_SCALAR_NODE)
		return NULL;
	value = (const char *)node->data.scalar.value;
	return strlen(value) == node->data.scalar.length ? value : NULL;
}

static bool is_null(const yaml_node_t *node)
{
	const char *value = scalar(node);

	return value != NULL && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       (value[0] == '\0' || strcmp(value, "~") == 0 || strcmp(value, "null") == 0);
}

static int key_of(const struct reader *reader, const yaml_node_t *mapping,
		  const yaml_node_pair_t *pair, const char **key, struct error *err)
{
	const yaml_node_t *node = node_at(reader, pair->key);
	char *message CLEANUP_FREE = NULL;

	*key = scalar(node);
	if (*key == NULL)
		return wrong(reader, node, err, "a key is not text");
	for (const yaml_node_pair_t *before = mapping->data.mapping.pairs.start; before < pair;
	     before++) {
		const char *other = scalar(node_at(reader, before->key));

		if (other == NULL || strcasecmp(other, *key) != 0)
			continue;
		message = text_format("key '%s' is given twice", *key);
		return message == NULL ? error_memory(err) : wrong(reader, node, err, message);
	}
	return 0;
}

static int unknown_key(const struct reader *reader, const yaml_node_pair_t *pair, const char *key,
		       struct error *err)
{
	char *message CLEANUP_FREE = text_format("unknown key '%s'", key);

	if (message == NULL)
		return error_memory(err);
	return wrong(reader, node_at(reader, pair->key), err, message);
}

static int read_list(const struct reader *reader, const struct setting *setting,
		     const yaml_node_t *node, struct error *err)
{
	struct text_list values CLEANUP_TEXT_LIST = {0};
	int rc = 0;

	for (const yaml_node_item_t *item = node->data.sequence.items.start;
	     rc == 0 && item < node->data.sequence.items.top; item++) {
		const char *value = scalar(node_at(reader, *item));

		if (value == NULL)
			return wrong(reader, node_at(reader, *item), err, "an element is not text");
		rc = text_list_add(&values, value, err);
	}
	return rc < 0 ? rc : setting_set_list(setting, &values, reader->config, err);
}

static int read_setting(const struct reader *reader, const struct setting *setting,
			const yaml_node_t *node, struct error *err)
{
	struct config_origin *origin = &reader->config->origins[setting - settings];
	const char *value = scalar(node);
	int rc = 0;

	if (is_null(node))
		return 0;
	*origin = (struct config_origin){CONFIG_FILE, node->start_mark.line + 1};
	if (setting->type == SETTING_LIST && node->type == YAML_SEQUENCE_NODE)
		return read_list(reader, setting, node, err);
	rc = value != NULL ? setting_set(setting, value, reader->config, err)
			   : error_set(err, ERROR_FORMAT, "expected one value");
	return rc < 0 ? wrap(reader, node, setting->key, rc, err) : 0;
}

/* additionalMounts or additionalMountsWow64. */
struct mounts_key {
	const char *name;
	enum additional_mount_kind kind;
};

static int read_mount(const struct reader *reader, const struct mounts_key *mounts,
		      const char *vendor, const yaml_node_t *node, struct error *err)
{
	const char *source = NULL;
	const char *destination = NULL;
	int rc = 0;

	if (node->type != YAML_MAPPING_NODE)
		return wrong(reader, node, err,
			     "a mount is not a mapping with source and destination");
	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *value = node_at(reader, pair->value);
		const char *key = NULL;

		rc = key_of(reader, node, pair, &key, err);
		if (rc < 0)
			return rc;
		if (strcasecmp(key, "source") != 0 && strcasecmp(key, "destination") != 0)
			return unknown_key(reader, pair, key, err);
		if (scalar(value) == NULL)
			return wrong(reader, value, err, "a path is not text");
		if (is_null(value))
			continue;
		*(strlen(key) == strlen("source") ? &source : &destination) = scalar(value);
	}
	if (source == NULL)
		return wrong(reader, node, err, "a mount has no source");
	rc = additional_mounts_add(&reader->config->additional_mounts, mounts->kind, vendor, source,
				   destination, err);
	return rc < 0 ? wrap(reader, node, mounts->name, rc, err) : 0;
}

static int read_mounts_of(const struct reader *reader, const struct mounts_key *mounts,
			  const char *vendor, const yaml_node_t *node, struct error *err)
{
	int rc = 0;

	if (node->type != YAML_SEQUENCE_NODE)
		return wrong(reader, node, err, "the mounts of a vendor are not a list");
	for (const yaml_node_item_t *item = node->data.sequence.items.start;
	     rc == 0 && item < node->data.sequence.items.top; item++)
		rc = read_mount(reader, mounts, vendor, node_at(reader, *item), err);
	return rc;
}

static int read_additional_mounts(const struct reader *reader, const struct mounts_key *mounts,
				  const yaml_node_t *node, struct error *err)
{
	struct config *config = reader->config;
	char *message CLEANUP_FREE = NULL;
	int rc = 0;

	if (is_null(node))
		return 0;
	if (node->type != YAML_MAPPING_NODE) {
		message = text_format("%s is not a mapping from vendors to lists", mounts->name);
		return message == NULL ? error_memory(err) : wrong(reader, node, err, message);
	}
	*(mounts->kind == ADDITIONAL_MOUNT_SYSWOW64 ? &config->additional_mounts_wow64_origin
						    : &config->additional_mounts_origin) =
		(struct config_origin){CONFIG_FILE, node->start_mark.line + 1};
	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     rc == 0 && pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *value = node_at(reader, pair->value);
		const char *vendor = NULL;

		rc = key_of(reader, node, pair, &vendor, err);
		if (rc == 0 && !is_null(value))
			rc = read_mounts_of(reader, mounts, vendor, value, err);
	}
	return rc;
}

static int read_pair(const struct reader *reader, const yaml_node_t *root,
		     const yaml_node_pair_t *pair, struct error *err)
{
	const yaml_node_t *value = node_at(reader, pair->value);
	const struct config_program *program = reader->config->program;
	const struct mounts_key mounts = {"additionalMounts", program->directx
								      ? ADDITIONAL_MOUNT_SYSTEM32
								      : ADDITIONAL_MOUNT_LINUX};
	static const struct mounts_key wow64 = {"additionalMountsWow64", ADDITIONAL_MOUNT_SYSWOW64};
	const struct setting *setting = NULL;
	const char *key = NULL;
	int rc = key_of(reader, root, pair, &key, err);

	if (rc < 0)
		return rc;
	if (strcasecmp(key, mounts.name) == 0)
		return read_additional_mounts(reader, &mounts, value, err);
	if (strcasecmp(key, wow64.name) == 0 && program->directx)
		return read_additional_mounts(reader, &wow64, value, err);
	if (strcasecmp(key, wow64.name) == 0)
		return wrong(reader, node_at(reader, pair->key), err,
			     "additionalMountsWow64 is for Windows: Linux has no SysWOW64");
	setting = setting_find(program, key);
	if (setting == NULL)
		return unknown_key(reader, pair, key, err);
	return read_setting(reader, setting, value, err);
}

static int read_document(const struct reader *reader, struct error *err)
{
	const yaml_node_t *root = yaml_document_get_root_node(reader->document);
	int rc = 0;

	if (root == NULL || is_null(root))
		return 0;
	if (root->type != YAML_MAPPING_NODE)
		return wrong(reader, root, err, "the file is not a mapping");
	for (const yaml_node_pair_t *pair = root->data.mapping.pairs.start;
	     rc == 0 && pair < root->data.mapping.pairs.top; pair++)
		rc = read_pair(reader, root, pair, err);
	return rc;
}

static int parser_error(const char *name, const yaml_parser_t *parser, struct error *err)
{
	if (parser->error == YAML_MEMORY_ERROR)
		return error_memory(err);
	return error_set(err, ERROR_FORMAT, "%s:%zu: %s", name, parser->problem_mark.line + 1,
			 parser->problem != NULL ? parser->problem : "this is not YAML");
}

static int expect_end(const char *name, yaml_parser_t *parser, struct error *err)
{
	yaml_document_t more;
	size_t line = 0;

	if (!yaml_parser_load(parser, &more))
		return parser_error(name, parser, err);
	if (yaml_document_get_root_node(&more) == NULL) {
		yaml_document_delete(&more);
		return 0;
	}
	line = more.start_mark.line + 1;
	yaml_document_delete(&more);
	return error_set(err, ERROR_FORMAT, "%s:%zu: a second document begins", name, line);
}

int config_parse_yaml(const char *name, const char *data, size_t size, struct config *config,
		      struct error *err)
{
	yaml_parser_t parser CLEANUP(yaml_parser_delete) = {0};
	yaml_document_t document;
	struct reader reader = {.name = name, .document = &document, .config = config};
	bool empty = false;
	int rc = 0;

	if (!yaml_parser_initialize(&parser))
		return error_memory(err);
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)data, size);
	if (!yaml_parser_load(&parser, &document))
		return parser_error(name, &parser, err);
	empty = yaml_document_get_root_node(&document) == NULL;
	rc = read_document(&reader, err);
	yaml_document_delete(&document);
	if (rc == 0 && !empty)
		rc = expect_end(name, &parser, err);
	return rc;
}

int config_read_yaml(const char *path, struct config *config, struct error *err)
{
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	int rc = file_read(path, YAML_FILE_MAX, &data, &size, err);

	return rc < 0 ? rc : config_parse_yaml(path, data, size, config, err);
}
