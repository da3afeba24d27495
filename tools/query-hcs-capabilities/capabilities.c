/* SPDX-License-Identifier: MIT */
#include "tools/query-hcs-capabilities/capabilities.h"

#include "base/cleanup.h"
#include "base/members.h"

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
	/* An unknown revision counts as a newer one: hosts get updates. */
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
	/* A service that answered without a version 2 has neither way. */
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
	const char *key; /* in JSON */
} devices[] = {
	{HCS_DEVICE_CLASS, "by class GUID (class/...)", "classGuid"},
	{HCS_DEVICE_LOCATION_PATH, "by location path (vpci-location-path://...)", "locationPath"},
};

static void print_system(struct text *out, const struct capabilities *capabilities)
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

void capabilities_print(const struct capabilities *capabilities, struct text *out)
{
	static const char *const answers[] = {
		[CAPABILITIES_NO] = "no",
		[CAPABILITIES_YES] = "yes",
		[CAPABILITIES_UNKNOWN] = "unknown",
	};

	print_system(out, capabilities);
	if (!is_windows(capabilities))
		return;

	const struct windows_build *row = windows_build_find(capabilities->version.build);
	const struct hcs_service *service = &capabilities->service;
	struct hcs_version at_least = {0};
	const struct hcs_version *newest = capabilities_schema(capabilities, &at_least);
	if (capabilities->asked) {
		text_addf(out, "\nSupported HCS schema versions (asked of %s%s%s):\n",
			  service->library, service->library_version[0] != '\0' ? " " : "",
			  service->library_version);
		for (size_t i = 0; i < service->versions.count; i++)
			text_addf(out, "- %u.%u\n", service->versions.items[i].major,
				  service->versions.items[i].minor);
	} else if (newest != NULL) {
		text_addf(out,
			  "\nSupported HCS schema versions (from the table of builds, %s):\n- "
			  "%u.%u\n",
			  windows_build_source_name(row->source), newest->major, newest->minor);
	} else if (at_least.major > 0) {
		text_addf(out,
			  "\nSupported HCS schema versions (no source covers this build; it has at "
			  "least):\n- %u.%u\n",
			  at_least.major, at_least.minor);
	}

	text_add(out, "\nDevices can be given to containers in process isolation:\n");
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		struct hcs_version since = hcs_device_since(devices[i].device);
		text_addf(out, "- %s: %s (since %u.%u)\n", devices[i].name,
			  answers[capabilities_allow(capabilities, devices[i].device)], since.major,
			  since.minor);
	}

	if (!capabilities->image_given)
		return;
	struct windows_image_judgement judgement =
		windows_image_judge(capabilities->version, capabilities->image);
	text_add(out, "\nImage of Windows ");
	add_version(out, capabilities->image);
	text_addf(out, " on this host, in process isolation:\n%s: %s\n",
		  windows_image_answer_name(judgement.answer), judgement.reason);
}

static void member_version(struct members *members, const char *key, struct windows_version version)
{
	struct text text CLEANUP_TEXT = {0};
	add_version(&text, version);
	member_taken(members, key, text_take(&text));
}

static cJSON *schema_to_json(const struct hcs_version *version)
{
	struct members schema CLEANUP_MEMBERS = members_new();
	if (version == NULL)
		return cJSON_CreateNull();
	member_int(&schema, "major", version->major);
	member_int(&schema, "minor", version->minor);
	return members_take(&schema);
}

static cJSON *hcs_to_json(const struct capabilities *capabilities)
{
	const struct hcs_versions *versions = &capabilities->service.versions;
	struct members hcs CLEANUP_MEMBERS = members_new();
	struct hcs_version at_least = {0};
	const struct hcs_version *newest = capabilities_schema(capabilities, &at_least);
	const struct windows_build *row = windows_build_find(capabilities->version.build);
	const bool known = at_least.major > 0;
	const bool from_table = known && !capabilities->asked;

	const char *source = from_table ? "table" : NULL;
	const char *basis =
		windows_build_source_name(row != NULL ? row->source : WINDOWS_BUILD_UNKNOWN);
	member_string(&hcs, "source", capabilities->asked ? capabilities->service.library : source);
	member_optional(&hcs, "libraryVersion", capabilities->service.library_version);
	member_optional(&hcs, "problem", capabilities->problem);
	member_string(&hcs, "basis", from_table ? basis : NULL);

	if (capabilities->asked) {
		struct members supported = member_array(&hcs, "supportedSchemaVersions");
		for (size_t i = 0; i < versions->count; i++)
			member_item(&supported, NULL, schema_to_json(&versions->items[i]));
	} else {
		member_null(&hcs, "supportedSchemaVersions");
	}
	member_item(&hcs, "newest", schema_to_json(newest));
	member_item(&hcs, "atLeast", schema_to_json(known ? &at_least : NULL));
	return members_take(&hcs);
}

cJSON *capabilities_to_json(const struct capabilities *capabilities)
{
	const bool windows = is_windows(capabilities);
	const struct windows_version version = capabilities->version;
	struct members document CLEANUP_MEMBERS = members_new();

	member_string(&document, "schema", "gpucert-hcs/1");
	struct members system = member_object(&document, "system");
	member_optional(&system, "os", capabilities->os);
	member_optional(&system, "product", capabilities->product);
	member_optional(&system, "displayVersion", capabilities->display_version);
	member_optional(&system, "wine", capabilities->wine);
	if (windows) {
		member_version(&system, "version", version);
		member_int(&system, "build", version.build);
	} else {
		member_optional(&system, "version", capabilities->kernel);
		member_null(&system, "build");
	}
	if (windows && version.revision_known)
		member_int(&system, "revision", version.revision);
	else
		member_null(&system, "revision");
	member_item(&document, "hcs", hcs_to_json(capabilities));
	struct members allows = member_object(&document, "allows");
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		enum capabilities_answer answer =
			capabilities_allow(capabilities, devices[i].device);
		if (answer == CAPABILITIES_UNKNOWN)
			member_null(&allows, devices[i].key);
		else
			member_bool(&allows, devices[i].key, answer == CAPABILITIES_YES);
	}

	if (capabilities->image_given) {
		struct members image = member_object(&document, "image");
		struct windows_image_judgement judgement =
			windows_image_judge(capabilities->version, capabilities->image);
		member_version(&image, "version", capabilities->image);
		member_string(&image, "answer", windows_image_answer_name(judgement.answer));
		member_string(&image, "reason", judgement.reason);
	} else {
		member_null(&document, "image");
	}
	return members_take(&document);
}
