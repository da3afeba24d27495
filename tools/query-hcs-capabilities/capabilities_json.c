/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "tools/query-hcs-capabilities/capabilities.h"

#include <string.h>

/* Strings of the system are not trusted to be UTF-8; an empty one is null. */
static bool add_string(cJSON *object, const char *key, const char *value)
{
	cJSON *item = value[0] != '\0' ? json_new_string(value, strlen(value)) : cJSON_CreateNull();

	return cJSON_AddItemToObject(object, key, item);
}

static bool add_windows_version(cJSON *object, const char *key, struct windows_version version)
{
	struct text text CLEANUP_TEXT = {0};

	text_addf(&text, "%u.%u.%u", version.major, version.minor, version.build);
	if (version.revision_known)
		text_addf(&text, ".%u", version.revision);
	return !text.failed && add_string(object, key, text_string(&text));
}

static cJSON *schema_to_json(const struct hcs_version *version)
{
	cJSON *object = version != NULL ? cJSON_CreateObject() : cJSON_CreateNull();

	if (version != NULL && (cJSON_AddNumberToObject(object, "major", version->major) == NULL ||
				cJSON_AddNumberToObject(object, "minor", version->minor) == NULL)) {
		cJSON_Delete(object);
		return NULL;
	}
	return object;
}

static bool add_system(cJSON *document, const struct capabilities *capabilities)
{
	bool windows = strcmp(capabilities->os, "windows") == 0;
	cJSON *system = cJSON_AddObjectToObject(document, "system");
	bool complete = system != NULL && add_string(system, "os", capabilities->os) &&
			add_string(system, "product", capabilities->product) &&
			add_string(system, "displayVersion", capabilities->display_version) &&
			add_string(system, "wine", capabilities->wine);

	if (!windows)
		return complete && add_string(system, "version", capabilities->kernel) &&
		       cJSON_AddNullToObject(system, "build") != NULL &&
		       cJSON_AddNullToObject(system, "revision") != NULL;
	return complete && add_windows_version(system, "version", capabilities->version) &&
	       cJSON_AddNumberToObject(system, "build", capabilities->version.build) != NULL &&
	       (capabilities->version.revision_known
			? cJSON_AddNumberToObject(system, "revision",
						  capabilities->version.revision)
			: cJSON_AddNullToObject(system, "revision")) != NULL;
}

static bool add_supported(cJSON *hcs, const struct capabilities *capabilities)
{
	const struct hcs_versions *versions = &capabilities->service.versions;
	cJSON *array = NULL;

	if (!capabilities->asked)
		return cJSON_AddNullToObject(hcs, "supportedSchemaVersions") != NULL;
	array = cJSON_AddArrayToObject(hcs, "supportedSchemaVersions");
	for (size_t i = 0; i < versions->count; i++) {
		if (!cJSON_AddItemToArray(array, schema_to_json(&versions->items[i])))
			return false;
	}
	return array != NULL;
}

static bool add_hcs(cJSON *document, const struct capabilities *capabilities)
{
	struct hcs_version at_least = {0};
	const struct hcs_version *newest = capabilities_schema(capabilities, &at_least);
	const struct windows_build *row = windows_build_find(capabilities->version.build);
	bool from_table = !capabilities->asked && at_least.major > 0;
	cJSON *hcs = cJSON_AddObjectToObject(document, "hcs");

	return hcs != NULL &&
	       add_string(hcs, "source",
			  capabilities->asked ? capabilities->service.library
			  : from_table	      ? "table"
					      : "") &&
	       add_string(hcs, "libraryVersion", capabilities->service.library_version) &&
	       add_string(hcs, "problem", capabilities->problem) &&
	       add_string(hcs, "basis",
			  from_table ? windows_build_source_name(
					       row != NULL ? row->source : WINDOWS_BUILD_UNKNOWN)
				     : "") &&
	       add_supported(hcs, capabilities) &&
	       cJSON_AddItemToObject(hcs, "newest", schema_to_json(newest)) &&
	       cJSON_AddItemToObject(hcs, "atLeast",
				     schema_to_json(at_least.major > 0 ? &at_least : NULL));
}

static bool add_allowed(cJSON *object, const char *key, const struct capabilities *capabilities,
			enum hcs_device device)
{
	enum capabilities_answer answer = capabilities_allow(capabilities, device);

	if (answer == CAPABILITIES_UNKNOWN)
		return cJSON_AddNullToObject(object, key) != NULL;
	return cJSON_AddBoolToObject(object, key, answer == CAPABILITIES_YES) != NULL;
}

static bool add_image(cJSON *document, const struct capabilities *capabilities)
{
	struct windows_image_judgement judgement =
		windows_image_judge(capabilities->version, capabilities->image);
	cJSON *image = NULL;

	if (!capabilities->image_given)
		return cJSON_AddNullToObject(document, "image") != NULL;
	image = cJSON_AddObjectToObject(document, "image");
	return image != NULL && add_windows_version(image, "version", capabilities->image) &&
	       add_string(image, "answer", windows_image_answer_name(judgement.answer)) &&
	       add_string(image, "reason", judgement.reason);
}

cJSON *capabilities_to_json(const struct capabilities *capabilities)
{
	cJSON *document CLEANUP_JSON = cJSON_CreateObject();
	bool complete = add_string(document, "schema", "gpucert-hcs/1") &&
			add_system(document, capabilities) && add_hcs(document, capabilities);
	cJSON *allows = cJSON_AddObjectToObject(document, "allows");

	complete = complete && allows != NULL &&
		   add_allowed(allows, "classGuid", capabilities, HCS_DEVICE_CLASS) &&
		   add_allowed(allows, "locationPath", capabilities, HCS_DEVICE_LOCATION_PATH) &&
		   add_image(document, capabilities);
	return complete ? STEAL(document) : NULL;
}
