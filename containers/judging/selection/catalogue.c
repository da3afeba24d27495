/* SPDX-License-Identifier: MIT */
#include "containers/judging/selection/catalogue.h"

#include "base/cleanup.h"
#include "base/cpu_level.h"
#include "base/json_members.h"
#include "base/text.h"
#include "base/version.h"
#include "containers/judging/selection/internal.h"

#include <ctype.h>
#include <string.h>

static int check_text(const struct json_at *at, struct error *err)
{
	if (strlen(at->node->valuestring) > CATALOGUE_TEXT_MAX)
		return json_error(at, err, "longer than %d bytes", (int)CATALOGUE_TEXT_MAX);
	return 0;
}

static int check_reference(const struct json_at *at, struct error *err)
{
	if (at->node->valuestring[0] == '\0')
		return json_error(at, err, "expected the name of an image");
	return check_text(at, err);
}

static int check_version(const struct json_at *at, struct error *err)
{
	if (!version_is_valid(at->node->valuestring))
		return json_error(at, err, "expected a version, such as 12.4.1");
	return 0;
}

/* As `shape`, where 'd' is a digit. */
static bool has_shape(const char *string, const char *shape)
{
	for (; *shape != '\0'; shape++, string++) {
		bool fits =
			*shape == 'd' ? isdigit((unsigned char)*string) != 0 : *string == *shape;
		if (!fits)
			return false;
	}
	return *string == '\0';
}

bool catalogue_date_is_valid(const char *string)
{
	if (!has_shape(string, "dddd-dd-dd") && !has_shape(string, "dddd-dd-ddTdd:dd:ddZ"))
		return false;
	return strncmp(string + 5, "01", 2) >= 0 && strncmp(string + 5, "12", 2) <= 0 &&
	       strncmp(string + 8, "01", 2) >= 0 && strncmp(string + 8, "31", 2) <= 0;
}

static int check_date(const struct json_at *at, struct error *err)
{
	if (!catalogue_date_is_valid(at->node->valuestring))
		return json_error(at, err, "expected 2026-10-01 or 2026-10-01T12:00:00Z");
	return 0;
}

static int check_driver(const struct json_at *at, struct error *err)
{
	if (catalogue_vendors[text_position(catalogue_vendors, at->key)] == NULL)
		return json_error(at, err, "expected nvidia, amd or intel as its name");
	return cJSON_IsString(at->node) ? check_version(at, err)
					: 0; /* the table determines its type */
}

static bool is_capability(const char *string)
{
	return has_shape(string, "d.d") || has_shape(string, "dd.d") ||
	       has_shape(string, "d.d+PTX") || has_shape(string, "dd.d+PTX");
}

static bool is_architecture(const char *string)
{
	return text_starts_with(string, "gfx") && strlen(string) <= 32;
}

static int check_each(const struct json_at *at, bool (*is_valid)(const char *string),
		      const char *expected, struct error *err)
{
	struct json_at element = {.parent = at};
	cJSON_ArrayForEach (element.node, at->node) {
		if (!is_valid(element.node->valuestring))
			return json_error(&element, err, "expected %s", expected);
		element.index++;
	}
	return 0;
}

static int check_capabilities(const struct json_at *at, struct error *err)
{
	return check_each(at, is_capability, "9.0 or 9.0+PTX", err);
}

static int check_architectures(const struct json_at *at, struct error *err)
{
	return check_each(at, is_architecture, "an architecture, such as gfx90a", err);
}

static const struct json_member platform_members[] = {
	JSON_TEXT(struct image_platform, "os", os, JSON_REQUIRED, check_text),
	JSON_TEXT(struct image_platform, "architecture", architecture, JSON_REQUIRED, check_text),
	{.key = "variant", JSON_AT(struct image_platform, variant), .check = check_text},
	{.key = "osVersion", JSON_AT(struct image_platform, os_version), .check = check_text},
	{0},
};

static const struct json_member wants_members[] = {
	{.key = "cuda", JSON_AT(struct catalogue_requirements, cuda), .check = check_version},
	{.key = "drivers",
	 .type = JSON_MEMBER_MAP,
	 JSON_COUNTED(struct catalogue_requirements, drivers, driver_count),
	 .max = 3,
	 .check = check_driver},
	{.key = "computeCapabilities",
	 .type = JSON_MEMBER_NAMES,
	 JSON_AT(struct catalogue_requirements, compute_capabilities),
	 .max = CATALOGUE_LIST_MAX,
	 .what = "a compute capability",
	 .check = check_capabilities},
	{.key = "architectures",
	 .type = JSON_MEMBER_NAMES,
	 JSON_AT(struct catalogue_requirements, architectures),
	 .max = CATALOGUE_LIST_MAX,
	 .what = "an architecture",
	 .check = check_architectures},
	JSON_NUMBER(struct catalogue_requirements, "cpuLevel", cpu_level, JSON_OPTIONAL, 0,
		    CPU_LEVEL_MAX),
	{0},
};

static const struct json_member entry_members[] = {
	JSON_TEXT(struct catalogue_entry, "reference", reference, JSON_REQUIRED, check_reference),
	{.key = "platform",
	 .type = JSON_MEMBER_OBJECT,
	 .presence = JSON_REQUIRED,
	 JSON_AT(struct catalogue_entry, image.platform),
	 .members = platform_members},
	{.key = "base", JSON_AT(struct catalogue_entry, base), .check = check_text},
	{.key = "created", JSON_AT(struct catalogue_entry, created), .check = check_date},
	{.key = "wants",
	 .type = JSON_MEMBER_OBJECT,
	 JSON_AT(struct catalogue_entry, wants),
	 .members = wants_members},
	{0},
};

static const struct json_member members[] = {
	{.key = "schema",
	 .type = JSON_MEMBER_SCHEMA,
	 .presence = JSON_REQUIRED,
	 .what = "gpucert-catalogue/1"},
	JSON_LIST(struct catalogue, "images", entries, count, JSON_REQUIRED, CATALOGUE_IMAGES_MAX,
		  entry_members),
	{0},
};

void catalogue_entry_free(struct catalogue_entry *entry)
{
	image_free(&entry->image);
	cJSON_Delete(STEAL(entry->compatibility));
}

void catalogue_free(struct catalogue *catalogue)
{
	for (size_t i = 0; i < catalogue->count; i++)
		catalogue_entry_free(&catalogue->entries[i]);
	arena_free(&catalogue->arena);
	*catalogue = (struct catalogue){0};
}

void catalogue_entry_reset(struct catalogue_entry *entry)
{
	*entry = (struct catalogue_entry){
		.image = {.reference = "", .digest = "", .artifact_type = ""},
		.artifact = "",
		.not_read = ""};
	json_members_reset(entry_members, entry);
}

/* Expresses the requirements as an image's variables and annotations, for the rules. */
static int finish_entry(struct catalogue_entry *entry, struct arena *arena, struct error *err)
{
	struct image *image = &entry->image;
	struct image_platform *platform = &image->platform;
	struct windows_version version = {0};
	unsigned level = entry->wants.cpu_level;
	image->reference = entry->reference;
	image->digest = "";
	image->artifact_type = "";
	entry->artifact = "";
	entry->not_read = "";
	if (level > 0 && !text_equal(host_architecture(platform->architecture), "amd64"))
		return error_set(err, ERROR_FORMAT, "wants.cpuLevel: %.40s has no x86-64 levels",
				 platform->architecture);
	if (level > 1 && level > platform_level(platform))
		platform->variant = arena_format(arena, "v%u", level);
	entry->stated[0] = (struct json_pair){"CUDA_VERSION", entry->wants.cuda};
	entry->stated[1] = (struct json_pair){"org.opencontainers.image.base.name", entry->base};
	image->environment = &entry->stated[0];
	image->environment_count = entry->wants.cuda[0] != '\0';
	image->annotations = &entry->stated[1];
	image->annotation_count = entry->base[0] != '\0';
	return platform->os_version[0] != '\0' && text_equal(platform->os, "windows")
		       ? windows_version_parse(platform->os_version, "platform.osVersion", &version,
					       err)
		       : 0;
}

int catalogue_read_document(const cJSON *document, struct catalogue *out, struct error *err)
{
	struct json_at root = json_root(document);
	int rc = json_members_read(&root, members, out, &out->arena, err);
	for (size_t i = 0; rc == 0 && i < out->count; i++) {
		rc = finish_entry(&out->entries[i], &out->arena, err);
		if (rc < 0)
			return error_wrap(err, rc, "images[%zu]", i);
	}
	return rc;
}

int catalogue_parse(const char *data, size_t size, struct catalogue *out, struct error *err)
{
	cJSON *document CLEANUP_JSON = NULL;
	*out = (struct catalogue){0};
	int rc = json_parse(data, size, &document, err);
	return rc == 0 ? catalogue_read_document(document, out, err) : rc;
}
