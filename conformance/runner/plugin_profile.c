/* SPDX-License-Identifier: MIT */
#include "conformance/runner/plugin_profile.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/yaml.h"
#include "conformance/runner/installed.h"

#include <stddef.h>
#include <string.h>

/* The document that is read. */
struct source {
	const char *file;
	yaml_document_t *document;
};

typedef int read_member(const struct source *source, const char *key, const yaml_node_t *node,
			void *out, struct error *err);

/* A text of one line, which is not empty. */
static int get_text(const struct source *source, const char *key, const yaml_node_t *node,
		    const char **out, struct error *err)
{
	const char *text = yaml_scalar(node);
	if (text == NULL || text[0] == '\0' || strpbrk(text, "\r\n") != NULL)
		return yaml_wrong(source->file, node, err, ERROR_FORMAT,
				  "%.64s: expected a text of one line", key);
	*out = text;
	return 0;
}

static int read_text(const struct source *source, const char *key, const yaml_node_t *node,
		     void *out, struct error *err)
{
	const char *text = NULL;
	int rc = get_text(source, key, node, &text, err);
	if (rc == 0)
		*(char **)out = memory_copy(text);
	return rc;
}

static int read_flag(const struct source *source, const char *key, const yaml_node_t *node,
		     void *out, struct error *err)
{
	const char *text = yaml_scalar(node);
	*(bool *)out = text_equal(text, "true");
	return *(bool *)out || text_equal(text, "false")
		       ? 0
		       : yaml_wrong(source->file, node, err, ERROR_FORMAT,
				    "%s: expected true or false", key);
}

static int read_texts(const struct source *source, const char *key, const yaml_node_t *node,
		      void *out, struct error *err)
{
	const char *text = NULL;
	int rc = 0;
	if (node->type != YAML_SEQUENCE_NODE)
		return yaml_wrong(source->file, node, err, ERROR_FORMAT, "%s: expected a list",
				  key);
	for (yaml_node_item_t *item = node->data.sequence.items.start;
	     rc == 0 && item < node->data.sequence.items.top; item++) {
		rc = get_text(source, key, yaml_document_get_node(source->document, *item), &text,
			      err);
		if (rc == 0)
			text_list_add(out, text);
	}
	return rc;
}

/* `out` is `names`, which `values` follows. */
static int read_variables(const struct source *source, const char *key, const yaml_node_t *node,
			  void *out, struct error *err)
{
	struct text_list *lists = out;
	if (node->type != YAML_MAPPING_NODE)
		return yaml_wrong(source->file, node, err, ERROR_FORMAT,
				  "%s: expected members such as 'NAME: value'", key);
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *name = yaml_document_get_node(source->document, pair->key);
		const yaml_node_t *value = yaml_document_get_node(source->document, pair->value);
		const char *text = NULL;
		int rc = get_text(source, key, name, &text, err);
		if (rc == 0 && strchr(text, '=') != NULL)
			rc = yaml_wrong(source->file, name, err, ERROR_FORMAT,
					"%s: '%.64s' is not a variable's name", key, text);
		if (rc == 0) {
			text_list_add(&lists[0], text);
			rc = get_text(source, text, value, &text, err);
		}
		if (rc == 0)
			text_list_add(&lists[1], text);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static const struct member {
	const char *key;
	read_member *read;
	size_t offset;
} members[] = {
	{"source", read_text, offsetof(struct plugin_profile, source)},
	{"command", read_text, offsetof(struct plugin_profile, command)},
	{"attach", read_text, offsetof(struct plugin_profile, attach)},
	{"resource", read_text, offsetof(struct plugin_profile, resource)},
	{"failDevice", read_text, offsetof(struct plugin_profile, fail_device)},
	{"restoreDevice", read_text, offsetof(struct plugin_profile, restore_device)},
	{"optionalCalls", read_texts, offsetof(struct plugin_profile, optional_calls)},
	{"privateMounts", read_flag, offsetof(struct plugin_profile, private_mounts)},
	{"environment", read_variables, offsetof(struct plugin_profile, names)},
	{"expect", read_texts, offsetof(struct plugin_profile, expect)},
};

int plugin_profile_parse(const char *file, const char *data, size_t size,
			 struct plugin_profile *out, struct error *err)
{
	yaml_document_t document CLEANUP(yaml_document_delete) = {0};
	const struct source source = {file, &document};
	*out = (struct plugin_profile){0};
	int rc = yaml_load(file, data, size, &document, err);
	if (rc < 0)
		return rc;
	const yaml_node_t *root = yaml_document_get_root_node(&document);
	if (root == NULL || root->type != YAML_MAPPING_NODE)
		return error_set(err, ERROR_FORMAT, "%s:1: expected members such as 'source: ...'",
				 file);
	bool seen[ARRAY_SIZE(members)] = {false};
	for (yaml_node_pair_t *pair = root->data.mapping.pairs.start;
	     rc == 0 && pair < root->data.mapping.pairs.top; pair++) {
		const yaml_node_t *name = yaml_document_get_node(source.document, pair->key);
		const char *key = yaml_scalar(name);
		size_t i = 0;
		while (i < ARRAY_SIZE(members) && !text_equal(members[i].key, key))
			i++;
		if (i == ARRAY_SIZE(members) || seen[i])
			return yaml_wrong(source.file, name, err, ERROR_FORMAT, "%s '%.64s'",
					  i == ARRAY_SIZE(members) ? "unknown member"
								   : "a second member",
					  key != NULL ? key : "");
		seen[i] = true;
		rc = members[i].read(&source, key,
				     yaml_document_get_node(source.document, pair->value),
				     (char *)out + members[i].offset, err);
	}
	if (rc < 0)
		return rc;
	if (out->source == NULL)
		return error_set(err, ERROR_FORMAT, "%s: source: is missing", file);
	if ((out->command != NULL) == (out->attach != NULL))
		return error_set(err, ERROR_FORMAT, "%s: expected one of command and attach", file);
	return 0;
}

int plugin_profile_read(const char *name, struct plugin_profile *out, struct error *err)
{
	char *path CLEANUP_FREE = NULL;
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	*out = (struct plugin_profile){0};
	int rc = installed_file("profiles", name, ".yaml", &path, err);
	if (rc == 0)
		rc = file_read(path, PLUGIN_PROFILE_MAX, &data, &size, err);
	return rc == 0 ? plugin_profile_parse(path, data, size, out, err) : rc;
}

void plugin_profile_free(struct plugin_profile *profile)
{
	free(profile->source);
	free(profile->command);
	free(profile->attach);
	free(profile->resource);
	free(profile->fail_device);
	free(profile->restore_device);
	text_list_free(&profile->optional_calls);
	text_list_free(&profile->names);
	text_list_free(&profile->values);
	text_list_free(&profile->expect);
	*profile = (struct plugin_profile){0};
}
