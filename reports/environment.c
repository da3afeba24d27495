/* SPDX-License-Identifier: MIT */
#include "reports/environment.h"

#include <string.h>

struct section {
	const char *name;
	enum json_type type;
	const char *key;	     /* what names an item of an array */
	const char *const *identity; /* NULL-ended JSON pointers into the section or its items */
};

#define IDENTITY(...)                                                                              \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

static const char *const nothing[] = {NULL};

static const struct section sections[] = {
	{"node", JSON_OBJECT, NULL,
	 IDENTITY("/kind", "/digest", "/machine/product", "/machine/kernel", "/machine/kernelBuild",
		  "/machine/architecture")},
	{"os", JSON_OBJECT, NULL,
	 IDENTITY("/product", "/version", "/build", "/revision", "/kernel", "/kernelBuild",
		  "/architecture")},
	{"runtime", JSON_OBJECT, NULL,
	 IDENTITY("/name", "/version", "/binaryDigest", "/shim", "/shimDigest", "/oci",
		  "/ociDigest")},
	{"drivers", JSON_ARRAY, "key",
	 IDENTITY("/key", "/name", "/version", "/userMode", "/date", "/inf", "/model",
		  "/storeDigest")},
	{"devices", JSON_ARRAY, "ref",
	 IDENTITY("/driver", "/hardwareId", "/kind", "/runtimeFiles/digest")},
	{"plugin", JSON_OBJECT, NULL,
	 IDENTITY("/name", "/version", "/binaryDigest", "/fileDigests", "/resources", "/api")},
	{"images", JSON_ARRAY, "ref", IDENTITY("/ref", "/digest", "/osVersion")},
	{"harness", JSON_OBJECT, NULL, IDENTITY("/version", "/binaryDigest")},
	{"redaction", JSON_OBJECT, NULL, nothing},
};

/* It is no part of the digest, and absent until something is known. */
static bool identifies_nothing(const struct section *section)
{
	return section->identity[0] == NULL;
}

cJSON *environment_new(void)
{
	struct members environment CLEANUP_MEMBERS = members_new();
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		if (identifies_nothing(&sections[i]))
			continue;
		if (sections[i].type == JSON_ARRAY)
			member_item(&environment, sections[i].name, cJSON_CreateArray());
		else
			member_string(&environment, sections[i].name, NULL);
	}
	return members_take(&environment);
}

static const struct section *environment_section(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		if (strcmp(sections[i].name, name) == 0)
			return &sections[i];
	}
	return NULL;
}

const char *const *environment_identity(const char *section)
{
	const struct section *found = environment_section(section);
	return found != NULL ? found->identity : NULL;
}

static int check_items(const struct section *section, const struct json_at *at, struct error *err)
{
	size_t index = 0;
	int rc = 0;
	if (section->type != JSON_ARRAY)
		return 0;
	json_each (node, at->node) {
		struct json_at item = {.node = node, .parent = at, .index = index};
		const char *name = NULL;
		if (rc == 0)
			rc = json_need_string(&item, section->key, &name, err);
		index++;
	}
	return rc;
}

static int replace(cJSON *environment, const struct json_at *section, struct error *err)
{
	cJSON *copy CLEANUP_JSON = cJSON_Duplicate(section->node, true);
	if (cJSON_GetObjectItemCaseSensitive(environment, section->key) == NULL &&
	    !cJSON_AddNullToObject(environment, section->key))
		return error_memory(err);
	if (copy == NULL ||
	    !cJSON_ReplaceItemInObjectCaseSensitive(environment, section->key, copy))
		return error_memory(err);
	(void)STEAL(copy);
	return 0;
}

int environment_merge(cJSON *environment, const struct json_at *from, struct error *err)
{
	json_each (member, from->node) {
		const struct section *section = environment_section(member->string);
		struct json_at at = {.node = member, .parent = from, .key = member->string};
		int rc = 0;
		if (section == NULL)
			return json_error(&at, err, "unknown section");
		rc = json_need(from, section->name, section->type, &at, err);
		if (rc == 0)
			rc = check_items(section, &at, err);
		if (rc == 0)
			rc = replace(environment, &at, err);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* "name/pointer=value" for each identifying member that is there. */
static int identify(const struct section *section, const cJSON *node, struct text_list *lines,
		    struct error *err)
{
	struct text line CLEANUP_TEXT = {0};
	text_addf(&line, "%s", section->name);
	for (const char *const *pointer = section->identity; *pointer != NULL; pointer++) {
		const cJSON *value = json_pointer(node, *pointer);
		char *json CLEANUP_FREE = value != NULL ? json_print_compact(value) : NULL;
		if (value != NULL && json == NULL)
			return error_memory(err);
		if (json != NULL)
			text_addf(&line, " %s=%s", *pointer, json);
	}
	return text_list_take(lines, text_take(&line), err);
}

bool environment_is_live(const cJSON *environment)
{
	const char *kind = json_pointer_string(environment, "/node/kind");
	return text_equal(kind, "live") || text_equal(kind, "wine");
}

static int each_of(const struct section *section, const cJSON *node, environment_use *use,
		   void *user, struct error *err)
{
	int rc = 0;
	for (const char *const *pointer = section->identity; rc == 0 && *pointer != NULL;
	     pointer++) {
		const cJSON *value = json_pointer(node, *pointer);
		if (value != NULL)
			rc = use(section->name, *pointer, value, user, err);
	}
	return rc;
}

int environment_each_identity(const cJSON *environment, environment_use *use, void *user,
			      struct error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(sections); i++) {
		const cJSON *section =
			cJSON_GetObjectItemCaseSensitive(environment, sections[i].name);
		if (!cJSON_IsArray(section)) {
			rc = each_of(&sections[i], section, use, user, err);
			continue;
		}
		json_each (item, section) {
			if (rc == 0)
				rc = each_of(&sections[i], item, use, user, err);
		}
	}
	return rc;
}

int environment_digest(const cJSON *environment, char out[DIGEST_SIZE], struct error *err)
{
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	struct text all CLEANUP_TEXT = {0};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(sections); i++) {
		const cJSON *section =
			cJSON_GetObjectItemCaseSensitive(environment, sections[i].name);
		if (cJSON_IsObject(section) && !identifies_nothing(&sections[i]))
			rc = identify(&sections[i], section, &lines, err);
		if (!cJSON_IsArray(section))
			continue;
		json_each (item, section) {
			if (rc == 0)
				rc = identify(&sections[i], item, &lines, err);
		}
	}
	if (rc < 0)
		return rc;
	text_list_sort(&lines);
	for (size_t i = 0; i < lines.count; i++)
		text_addf(&all, "%s\n", lines.items[i]);
	if (all.failed)
		return error_memory(err);
	digest_bytes(text_string(&all), all.size, out);
	return 0;
}
