/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/yaml.h"
#include "reference-plugin/configuration/settings.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { YAML_FILE_MAX = 1024 * 1024 };

struct reader {
	const char *name;
	yaml_document_t *document;
	struct config *config;
	struct error *err;
};

/* One key of a mapping. */
struct pair {
	const char *key;
	const yaml_node_t *key_node;
	const yaml_node_t *value;
};

static size_t line_of(const yaml_node_t *node)
{
	return node->start_mark.line + 1;
}

#define WRONG(reader, node, ...)                                                                   \
	yaml_wrong((reader)->name, node, (reader)->err, ERROR_FORMAT, __VA_ARGS__)

static yaml_node_t *node_at(const struct reader *reader, int index)
{
	return yaml_document_get_node(reader->document, index);
}

static bool is_null(const yaml_node_t *node)
{
	const char *value = yaml_scalar(node);
	return value != NULL && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       (value[0] == '\0' || strcmp(value, "~") == 0 || strcmp(value, "null") == 0);
}

static int each_pair(const struct reader *reader, const yaml_node_t *mapping,
		     int (*use)(const struct reader *reader, const struct pair *pair, void *user),
		     void *user)
{
	const yaml_node_pair_t *first = mapping->data.mapping.pairs.start;
	int rc = 0;
	for (const yaml_node_pair_t *at = first; rc == 0 && at < mapping->data.mapping.pairs.top;
	     at++) {
		const yaml_node_t *node = node_at(reader, at->key);
		const struct pair pair = {yaml_scalar(node), node, node_at(reader, at->value)};
		if (pair.key == NULL)
			return WRONG(reader, node, "a key is not text");
		for (const yaml_node_pair_t *before = first; before < at; before++) {
			if (strcasecmp(yaml_scalar(node_at(reader, before->key)), pair.key) == 0)
				return WRONG(reader, node, "key '%s' is given twice", pair.key);
		}
		rc = use(reader, &pair, user);
	}
	return rc;
}

struct mount {
	const char *source;
	const char *destination;
};

static int read_mount_key(const struct reader *reader, const struct pair *pair, void *user)
{
	struct mount *mount = user;
	bool source = strcasecmp(pair->key, "source") == 0;
	if (!source && strcasecmp(pair->key, "destination") != 0)
		return WRONG(reader, pair->key_node, "unknown key '%s'", pair->key);
	if (yaml_scalar(pair->value) == NULL)
		return WRONG(reader, pair->value, "a path is not text");
	if (!is_null(pair->value))
		*(source ? &mount->source : &mount->destination) = yaml_scalar(pair->value);
	return 0;
}

static int read_mount(const struct reader *reader, const struct setting *setting,
		      const char *vendor, const yaml_node_t *node)
{
	struct mount mount = {NULL, NULL};
	if (node->type != YAML_MAPPING_NODE)
		return WRONG(reader, node, "a mount is not a mapping with source and destination");
	int rc = each_pair(reader, node, read_mount_key, &mount);
	if (rc < 0)
		return rc;
	if (mount.source == NULL)
		return WRONG(reader, node, "a mount has no source");
	rc = additional_mounts_add(&reader->config->additional_mounts, setting->mounts, vendor,
				   mount.source, mount.destination, reader->err);
	if (rc < 0)
		return error_wrap(reader->err, rc, "%s:%zu: %s", reader->name, line_of(node),
				  setting->key);
	return 0;
}

static int read_vendor(const struct reader *reader, const struct pair *pair, void *user)
{
	const struct setting *const *setting = user;
	const yaml_node_t *list = pair->value;
	int rc = 0;
	if (is_null(list))
		return 0;
	if (list->type != YAML_SEQUENCE_NODE)
		return WRONG(reader, list, "the mounts of a vendor are not a list");
	for (const yaml_node_item_t *item = list->data.sequence.items.start;
	     rc == 0 && item < list->data.sequence.items.top; item++)
		rc = read_mount(reader, *setting, pair->key, node_at(reader, *item));
	return rc;
}

static int read_setting(const struct reader *reader, const struct pair *pair, void *user)
{
	const struct setting *setting = setting_find(reader->config->program, pair->key);
	const yaml_node_t *node = pair->value;
	(void)user;
	if (setting == NULL && strcasecmp(pair->key, "additionalMountsWow64") == 0)
		return WRONG(reader, pair->key_node,
			     "additionalMountsWow64 is for Windows: Linux has no SysWOW64");
	if (setting == NULL)
		return WRONG(reader, pair->key_node, "unknown key '%s'", pair->key);
	if (is_null(node))
		return 0;
	reader->config->origins[setting - settings] =
		(struct config_origin){CONFIG_FILE, line_of(node)};
	if (setting->type == SETTING_MOUNTS && node->type != YAML_MAPPING_NODE)
		return WRONG(reader, node, "%s is not a mapping from vendors to lists",
			     setting->key);
	if (setting->type == SETTING_MOUNTS)
		return each_pair(reader, node, read_vendor, &setting);

	int rc = 0;
	if (setting->type == SETTING_LIST && node->type == YAML_SEQUENCE_NODE) {
		struct text_list values CLEANUP_TEXT_LIST = {0};
		for (const yaml_node_item_t *item = node->data.sequence.items.start;
		     item < node->data.sequence.items.top; item++) {
			const yaml_node_t *element = node_at(reader, *item);
			if (yaml_scalar(element) == NULL)
				return WRONG(reader, element, "an element is not text");
			text_list_add(&values, yaml_scalar(element));
		}
		rc = text_list_check(&values, reader->err);
		if (rc == 0)
			setting_take_list(setting, &values, reader->config);
		return rc;
	}
	const char *value = yaml_scalar(node);
	rc = value != NULL ? setting_set(setting, value, reader->config, reader->err)
			   : error_set(reader->err, ERROR_FORMAT, "expected one value");
	if (rc < 0)
		return error_wrap(reader->err, rc, "%s:%zu: %s", reader->name, line_of(node),
				  setting->key);
	return 0;
}

int config_parse_yaml(const char *name, const char *data, size_t size, struct config *config,
		      struct error *err)
{
	yaml_document_t document CLEANUP(yaml_document_delete) = {0};
	const struct reader reader = {name, &document, config, err};
	int rc = yaml_load(name, data, size, &document, err);
	const yaml_node_t *root = rc == 0 ? yaml_document_get_root_node(&document) : NULL;
	if (root == NULL || is_null(root))
		return rc;
	return root->type == YAML_MAPPING_NODE ? each_pair(&reader, root, read_setting, NULL)
					       : WRONG(&reader, root, "the file is not a mapping");
}

int config_read_yaml(const char *path, struct config *config, struct error *err)
{
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	int rc = file_read(path, YAML_FILE_MAX, &data, &size, err);
	return rc < 0 ? rc : config_parse_yaml(path, data, size, config, err);
}
