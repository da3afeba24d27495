/* SPDX-License-Identifier: MIT */
#include "tools/query-hcs-capabilities/capabilities.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <stdio.h>
#include <string.h>

static bool is_windows(const struct capabilities *capabilities)
{
	return strcmp(capabilities->os, "windows") == 0;
}

const struct hcs_version *capabilities_schema(const struct capabilities *capabilities,
					      struct hcs_version *at_least)
{
	const struct windows_build *row = windows_build_find(capabilities->version.build);
	const struct hcs_version *newest = NULL;
	*at_least = (struct hcs_version){0};
	if (capabilities->asked) {
		newest = hcs_versions_newest(&capabilities->service.versions);
		if (newest != NULL)
			*at_least = *newest;
		return newest;
	}
	if (!is_windows(capabilities) ||
	    windows_build_at_least(capabilities->version.build, at_least, NULL) < 0)
		return NULL;
	/* A revision that is not known counts as a newer one: hosts get updates. */
	if (row != NULL && row->schema != NULL &&
	    (!capabilities->version.revision_known ||
	     capabilities->version.revision >= row->since_revision)) {
		*at_least = *row->schema;
		return row->schema;
	}
	return NULL;
}

enum capabilities_answer capabilities_allow(const struct capabilities *capabilities,
					    enum hcs_device device)
{
	struct hcs_version at_least = {0};
	const struct hcs_version *newest = capabilities_schema(capabilities, &at_least);
	if (hcs_version_compare(at_least, hcs_device_since(device)) >= 0)
		return CAPABILITIES_YES;
	/* A service that answered and has no version 2 has neither way. */
	return newest != NULL || capabilities->asked ? CAPABILITIES_NO : CAPABILITIES_UNKNOWN;
}

static void add_version(struct text *out, struct windows_version version)
{
	text_addf(out, "%u.%u.%u", version.major, version.minor, version.build);
	if (version.revision_known)
		text_addf(out, ".%u", version.revision);
}

static const struct {
	enum hcs_device device;
	const char *name;
} devices[] = {
	{HCS_DEVICE_CLASS, "by class GUID (class/...)"},
	{HCS_DEVICE_LOCATION_PATH, "by location path (vpci-location-path://...)"},
};

static void tell_system(struct text *out, const struct capabilities *capabilities)
{
	const struct windows_build *row = windows_build_find(capabilities->version.build);
	const char *product = capabilities->product;
	text_add(out, "Operating system version:\n");
	if (product[0] == '\0')
		product = row != NULL ? row->name : "an unknown version of Windows";
	text_add_escaped(out, product, strlen(product));
	if (!is_windows(capabilities)) {
		text_addf(out, ", %s ", capabilities->os);
		text_add_escaped(out, capabilities->kernel, strlen(capabilities->kernel));
		text_add(out, "\n");
		return;
	}
	if (capabilities->display_version[0] != '\0') {
		text_add(out, ", version ");
		text_add_escaped(out, capabilities->display_version,
				 strlen(capabilities->display_version));
	}
	text_add(out, " (OS build ");
	add_version(out, capabilities->version);
	text_add(out, ")");
	if (capabilities->wine[0] != '\0')
		text_addf(out, ", as Wine %s claims", capabilities->wine);
	text_add(out, "\n");
}

static void tell_asked(struct text *out, const struct capabilities *capabilities)
{
	const struct hcs_service *service = &capabilities->service;
	text_addf(out, "\nSupported HCS schema versions (asked of %s%s%s):\n", service->library,
		  service->library_version[0] != '\0' ? " " : "", service->library_version);
	for (size_t i = 0; i < service->versions.count; i++)
		text_addf(out, "- %u.%u\n", service->versions.items[i].major,
			  service->versions.items[i].minor);
}

static void tell_table(struct text *out, const struct capabilities *capabilities)
{
	const struct windows_build *row = windows_build_find(capabilities->version.build);
	struct hcs_version at_least = {0};
	const struct hcs_version *newest = capabilities_schema(capabilities, &at_least);
	if (newest != NULL)
		text_addf(out,
			  "\nSupported HCS schema versions (from the table of builds, %s):\n- "
			  "%u.%u\n",
			  windows_build_source_name(row->source), newest->major, newest->minor);
	else if (at_least.major > 0)
		text_addf(out,
			  "\nSupported HCS schema versions (no source covers this build; it has at "
			  "least):\n- %u.%u\n",
			  at_least.major, at_least.minor);
}

static void tell_devices(struct text *out, const struct capabilities *capabilities)
{
	static const char *const answers[] = {
		[CAPABILITIES_NO] = "no",
		[CAPABILITIES_YES] = "yes",
		[CAPABILITIES_UNKNOWN] = "unknown",
	};
	text_add(out, "\nDevices can be given to containers in process isolation:\n");
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		struct hcs_version since = hcs_device_since(devices[i].device);
		text_addf(out, "- %s: %s (since %u.%u)\n", devices[i].name,
			  answers[capabilities_allow(capabilities, devices[i].device)], since.major,
			  since.minor);
	}
}

static void tell_image(struct text *out, const struct capabilities *capabilities)
{
	struct windows_image_judgement judgement =
		windows_image_judge(capabilities->version, capabilities->image);
	text_add(out, "\nImage of Windows ");
	add_version(out, capabilities->image);
	text_addf(out, " on this host, in process isolation:\n%s: %s\n",
		  windows_image_answer_name(judgement.answer), judgement.reason);
}

void capabilities_print(const struct capabilities *capabilities, struct text *out)
{
	tell_system(out, capabilities);
	if (!is_windows(capabilities))
		return;
	if (capabilities->asked)
		tell_asked(out, capabilities);
	else
		tell_table(out, capabilities);
	tell_devices(out, capabilities);
	if (capabilities->image_given)
		tell_image(out, capabilities);
}

/* Strings of the system are not trusted to be UTF-8; an empty one is null. */
static bool add_string(cJSON *object, const char *key, const char *value)
{
	cJSON *item = value[0] != '\0' ? json_new_string(value, strlen(value)) : cJSON_CreateNull();
	return cJSON_AddItemToObject(object, key, item);
}

static bool add_windows_version(cJSON *object, const char *key, struct windows_version version)
{
	struct text text CLEANUP_TEXT = {0};
	add_version(&text, version);
	return !text.failed && add_string(object, key, text_string(&text));
}

static cJSON *schema_to_json(const struct hcs_version *version)
{
	char text[64] = "null";
	if (version != NULL)
		(void)snprintf(text, sizeof(text), "{\"major\":%u,\"minor\":%u}", version->major,
			       version->minor);
	return cJSON_Parse(text);
}

static bool add_system(cJSON *document, const struct capabilities *capabilities)
{
	cJSON *system = cJSON_AddObjectToObject(document, "system");
	bool complete = system != NULL && add_string(system, "os", capabilities->os) &&
			add_string(system, "product", capabilities->product) &&
			add_string(system, "displayVersion", capabilities->display_version) &&
			add_string(system, "wine", capabilities->wine);
	if (!is_windows(capabilities))
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
	if (!capabilities->asked)
		return cJSON_AddNullToObject(hcs, "supportedSchemaVersions") != NULL;
	cJSON *array = cJSON_AddArrayToObject(hcs, "supportedSchemaVersions");
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
