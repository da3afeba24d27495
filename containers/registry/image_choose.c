/* SPDX-License-Identifier: MIT */
#include "containers/registry/image.h"

#include "base/text.h"

#include <string.h>

const char *image_platform_name(const struct image_platform *platform, struct arena *arena)
{
	if (platform->os[0] == '\0' && platform->architecture[0] == '\0')
		return "unknown";
	return arena_format(arena, "%s/%s%s%s%s%s", platform->os, platform->architecture,
			    platform->variant[0] != '\0' ? "/" : "", platform->variant,
			    platform->os_version[0] != '\0' ? " " : "", platform->os_version);
}

/* How far a variant goes: 3 of "v3". What is not told means the first of amd64, as it does to
 * containerd (platforms/database.go), and nothing of others; -1: not of this form. */
static int variant_rank(const struct image_platform *platform)
{
	const char *variant = platform->variant;
	if (variant[0] == '\0')
		return strcmp(platform->architecture, "amd64") == 0;
	return variant[0] == 'v' && variant[1] >= '0' && variant[1] <= '9' ? variant[1] - '0' : -1;
}

static bool variant_fits(const struct image_platform *entry, const struct image_platform *wanted)
{
	bool any = wanted->variant[0] == '\0' && strcmp(wanted->architecture, "amd64") != 0;
	if (any || strcmp(entry->variant, wanted->variant) == 0)
		return true;
	return variant_rank(entry) >= 0 && variant_rank(entry) <= variant_rank(wanted);
}

/* "10.0.20348" of "10.0.20348.2582". */
static size_t build_length(const char *version)
{
	size_t length = 0;
	for (unsigned dots = 0; version[length] != '\0'; length++) {
		if (version[length] == '.' && ++dots == 3)
			break;
	}
	return length;
}

static bool version_fits(const char *version, const char *wanted)
{
	size_t length = build_length(wanted);
	return version[0] == '\0' || wanted[0] == '\0' ||
	       (build_length(version) == length && strncmp(version, wanted, length) == 0);
}

static bool is_image(const struct image_index_entry *entry)
{
	return entry->artifact_type[0] == '\0' && strcmp(entry->platform.os, "unknown") != 0;
}

static bool names_platform(const struct image_index_entry *entry)
{
	return entry->platform.os[0] != '\0' || entry->platform.architecture[0] != '\0';
}

static bool entry_fits(const struct image_index_entry *entry, const struct image_platform *wanted)
{
	const struct image_platform *platform = &entry->platform;
	return strcmp(platform->os, wanted->os) == 0 &&
	       strcmp(platform->architecture, wanted->architecture) == 0 &&
	       variant_fits(platform, wanted) &&
	       version_fits(platform->os_version, wanted->os_version);
}

static int refuse(const struct image_index *index, const struct image_platform *wanted,
		  struct error *err)
{
	struct arena arena = {0};
	struct text names CLEANUP_TEXT = {0};
	int rc = 0;
	for (size_t i = 0; i < index->count; i++) {
		if (is_image(&index->entries[i]))
			text_addf(&names, "%s%s", names.size != 0 ? ", " : "",
				  image_platform_name(&index->entries[i].platform, &arena));
	}
	if (wanted != NULL)
		rc = error_set(err, ERROR_NOT_FOUND, "no manifest for %s; there is %s",
			       image_platform_name(wanted, &arena),
			       names.size != 0 ? text_string(&names) : "no image");
	else if (names.size == 0)
		rc = error_set(err, ERROR_NOT_FOUND, "the index names no image");
	else
		rc = error_set(err, ERROR_ARGUMENT, "for several platforms, choose one of %s",
			       text_string(&names));
	arena_free(&arena);
	return rc;
}

int image_index_choose(const struct image_index *index, const struct image_platform *wanted,
		       const struct image_index_entry **out, struct error *err)
{
	const struct image_index_entry *best = NULL;
	const struct image_index_entry *unnamed = NULL;
	size_t images = 0;
	for (size_t i = 0; i < index->count; i++) {
		const struct image_index_entry *entry = &index->entries[i];
		if (!is_image(entry))
			continue;
		images++;
		if (!names_platform(entry))
			unnamed = unnamed != NULL ? unnamed : entry;
		else if ((wanted == NULL || entry_fits(entry, wanted)) &&
			 (best == NULL ||
			  variant_rank(&entry->platform) > variant_rank(&best->platform)))
			best = entry;
	}
	*out = best != NULL ? best : unnamed;
	if (*out == NULL || (wanted == NULL && images > 1))
		return refuse(index, wanted, err);
	return 0;
}
