/* SPDX-License-Identifier: MIT */
#include "reports/environment.h"

struct section {
	const char *name;
	enum json_type type;
	const char *key;	     /* the member that names an item of an array */
	const char *const *identity; /* NULL-ended JSON pointers into the section or its items */
	const char *const *called;   /* such pointers, for the common name */
};

#define POINTERS(...)                                                                              \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

static const char *const nothing[] = {NULL};

static const struct section sections[] = {
	{"node", JSON_OBJECT, NULL,
	 POINTERS("/kind", "/digest", "/machine/product", "/machine/kernel", "/machine/kernelBuild",
		  "/machine/architecture", "/vm/qemu", "/vm/accelerator", "/vm/virglrenderer",
		  "/vm/hostRenderer"),
	 POINTERS("/kind", "/file", "/machine/product")},
	{"os", JSON_OBJECT, NULL,
	 POINTERS("/product", "/version", "/build", "/revision", "/kernel", "/kernelBuild",
		  "/architecture"),
	 POINTERS("/product", "/build", "/revision", "/kernel")},
	{"runtime", JSON_OBJECT, NULL,
	 POINTERS("/name", "/version", "/binaryDigest", "/shim", "/shimDigest", "/oci",
		  "/ociDigest"),
	 POINTERS("/name", "/version")},
	{"drivers", JSON_ARRAY, "key",
	 POINTERS("/key", "/name", "/version", "/userMode", "/date", "/inf", "/model",
		  "/storeDigest"),
	 POINTERS("/key", "/version", "/userMode")},
	{"devices", JSON_ARRAY, "ref",
	 POINTERS("/driver", "/hardwareId", "/kind", "/runtimeFiles/digest", "/otherFiles/digest"),
	 POINTERS("/name")},
	{"plugin", JSON_OBJECT, NULL,
	 POINTERS("/name", "/version", "/binaryDigest", "/fileDigests", "/api"),
	 POINTERS("/name", "/version")},
	{"images", JSON_ARRAY, "ref", POINTERS("/ref", "/digest", "/osVersion"), POINTERS("/ref")},
	{"harness", JSON_OBJECT, NULL, POINTERS("/version", "/binaryDigest", "/checksDigest"),
	 POINTERS("/version")},
	{"redaction", JSON_OBJECT, NULL, nothing, nothing},
	{"pods", JSON_OBJECT, NULL, nothing, nothing},
};

/* The section is not part of the digest, and absent until something is known. */
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
		if (text_equal(sections[i].name, name))
			return &sections[i];
	}
	return NULL;
}

const char *const *environment_identity(const char *section)
{
	const struct section *found = environment_section(section);
	return found != NULL ? found->identity : NULL;
}

int environment_merge(cJSON *environment, const struct json_at *from, struct error *err)
{
	json_each (member, from->node) {
		const struct section *section = environment_section(member->string);
		struct json_at at = {.node = member, .parent = from, .key = member->string};
		struct json_at item = {.parent = &at};
		const char *name = NULL;

		if (section == NULL)
			return json_error(&at, err, "unknown section");
		int rc = json_need(from, section->name, section->type, &at, err);
		if (rc < 0)
			return rc;
		json_each (node, section->type == JSON_ARRAY ? member : NULL) {
			item.node = node;
			rc = json_need_string(&item, section->key, &name, err);
			if (rc < 0)
				return rc;
			item.index++;
		}

		if (cJSON_GetObjectItemCaseSensitive(environment, section->name) == NULL)
			(void)cJSON_AddNullToObject(environment, section->name);
		(void)cJSON_ReplaceItemInObjectCaseSensitive(environment, section->name,
							     cJSON_Duplicate(member, true));
	}
	return 0;
}

void environment_digest_lines(struct text_list *lines, const char *end, char out[DIGEST_SIZE])
{
	struct text all CLEANUP_TEXT = {0};
	text_list_sort(lines);
	text_each (line, lines)
		text_addf(&all, "%s%s", line, end);
	digest_bytes(text_string(&all), all.size, out);
}

/* One line "PATH DIGEST" for each file, as for runtimeFiles. */
static void add_other_files(cJSON *device)
{
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	json_each (ran, json_pointer(device, "/ran")) {
		json_each (file, json_pointer(ran, "/files")) {
			char *line CLEANUP_FREE =
				text_format("%s %s\n", json_pointer_string(file, "/path"),
					    json_pointer_string(file, "/digest"));
			if (!json_pointer_true(file, "/discovered") &&
			    !text_equal(json_pointer_string(file, "/origin"), "image") &&
			    !text_list_has(&lines, line))
				text_list_add(&lines, line);
		}
	}
	if (lines.count == 0)
		return;

	struct members other CLEANUP_MEMBERS = members_new();
	char digest[DIGEST_SIZE] = "";
	environment_digest_lines(&lines, "", digest);
	member_int(&other, "count", (int64_t)lines.count);
	member_string(&other, "digest", digest);
	(void)cJSON_AddItemToObject(device, "otherFiles", members_take(&other));
}

void environment_add_ran(cJSON *environment, const cJSON *ran)
{
	cJSON *devices = cJSON_GetObjectItemCaseSensitive(environment, "devices");
	cJSON *device = NULL;

	json_each (record, ran) {
		const char *ref = json_pointer_string(record, "/ref");
		cJSON_ArrayForEach (device, devices) {
			if (text_equal(json_pointer_string(device, "/ref"), ref))
				break;
		}
		if (device == NULL)
			continue;
		cJSON *list = cJSON_GetObjectItemCaseSensitive(device, "ran");
		cJSON *item = cJSON_Duplicate(record, true);
		if (list == NULL)
			list = cJSON_AddArrayToObject(device, "ran");
		cJSON_DeleteItemFromObjectCaseSensitive(item, "ref");
		(void)cJSON_AddItemToArray(list, item);
	}

	cJSON_ArrayForEach (device, devices)
		add_other_files(device);
}

bool environment_is_live(const cJSON *environment)
{
	const char *kind = json_pointer_string(environment, "/node/kind");
	return text_equal(kind, "live") || text_equal(kind, "wine") || text_equal(kind, "vm");
}

void environment_each(const cJSON *environment, environment_use *use, void *user)
{
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		const struct section *section = &sections[i];
		const cJSON *value = cJSON_GetObjectItemCaseSensitive(environment, section->name);
		if (identifies_nothing(section))
			continue;
		if (cJSON_IsObject(value))
			use(section->name, section->identity, value, user);
		json_each (item, cJSON_IsArray(value) ? value : NULL)
			use(section->name, section->identity, item, user);
	}
}

/* "section /pointer=value /pointer=value" of the members that exist. */
static void add_line(const char *section, const char *const *identity, const cJSON *item,
		     void *user)
{
	struct text line CLEANUP_TEXT = {0};
	text_add(&line, section);
	for (; *identity != NULL; identity++) {
		const cJSON *value = json_pointer(item, *identity);
		if (value == NULL)
			continue;
		/* Not json_print_compact(): its escapes would change the digests of earlier versions. */
		char *json CLEANUP_FREE = cJSON_PrintUnformatted(value);
		text_addf(&line, " %s=%s", *identity, json);
	}
	text_list_take(user, text_take(&line));
}

void environment_digest(const cJSON *environment, char out[DIGEST_SIZE])
{
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	environment_each(environment, add_line, &lines);
	environment_digest_lines(&lines, "\n", out);
}

/* Windows may report numbers as strings. */
static void add_values(const char *const *pointers, const cJSON *item, struct text *out)
{
	const size_t before = out->size;
	for (; *pointers != NULL; pointers++) {
		const cJSON *value = json_pointer(item, *pointers);
		const char *string = cJSON_GetStringValue(value);
		const char *separator = text_equal(*pointers, "/revision") ? "." : " ";
		const char *version = json_pointer_string(item, "/version");
		/* Both halves of NVIDIA's driver have one version. */
		if (text_equal(*pointers, "/userMode") && string != NULL && version != NULL &&
		    version[0] != '\0' && text_ends_with(string, version))
			continue;
		if (cJSON_IsNumber(value) || (string != NULL && string[0] != '\0'))
			text_add(out, out->size > before ? separator : "");
		if (cJSON_IsNumber(value))
			text_addf(out, "%.0f", value->valuedouble);
		else
			text_add(out, string != NULL ? string : "");
	}
}

void environment_add_build(const cJSON *os, struct text *out)
{
	const size_t before = out->size;
	add_values(POINTERS("/build", "/revision"), os, out);
	if (out->size == before)
		add_values(POINTERS("/kernel"), os, out);
}

void environment_add_name(const char *section, const cJSON *item, struct text *out)
{
	add_values(environment_section(section)->called, item, out);
}

void environment_add_names(const char *section, const cJSON *environment, struct text *out)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(environment, section);
	const bool is_array = cJSON_IsArray(value);
	const size_t before = out->size;

	for (const cJSON *item = is_array ? value->child : value; item != NULL;) {
		struct text name CLEANUP_TEXT = {0};
		size_t count = 0;
		bool is_same = true;

		environment_add_name(section, item, &name);
		while (item != NULL && is_same) {
			struct text next CLEANUP_TEXT = {0};
			count++;
			item = is_array ? item->next : NULL;
			if (item != NULL)
				environment_add_name(section, item, &next);
			is_same = text_equal(text_string(&next), text_string(&name));
		}

		text_add(out, out->size > before && name.size > 0 ? ", " : "");
		if (count > 1 && name.size > 0)
			text_addf(out, "%zu × ", count);
		text_add_all(out, &name);
	}
}
