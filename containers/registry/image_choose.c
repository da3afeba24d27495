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

/* The number of a variant: 3 of "v3"; -1: not of this form. Without one it is 1 for amd64, as for containerd
 * (platforms/database.go), and 0 for others. */
static int variant_rank(const struct image_platform *platform)
{
	const char *variant = platform->variant;
	if (variant[0] == '\0')
		return text_equal(platform->architecture, "amd64");
	return variant[0] == 'v' && variant[1] >= '0' && variant[1] <= '9' ? variant[1] - '0' : -1;
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

static bool platform_fits(const struct image_platform *platform,
			  const struct image_platform *wanted)
{
	if (!text_equal(platform->os, wanted->os) ||
	    !text_equal(platform->architecture, wanted->architecture))
		return false;

	bool any_variant = wanted->variant[0] == '\0' && !text_equal(wanted->architecture, "amd64");
	if (!any_variant && !text_equal(platform->variant, wanted->variant) &&
	    (variant_rank(platform) < 0 || variant_rank(platform) > variant_rank(wanted)))
		return false;

	const char *version = platform->os_version;
	size_t length = build_length(wanted->os_version);
	return version[0] == '\0' || wanted->os_version[0] == '\0' ||
	       (build_length(version) == length &&
		strncmp(version, wanted->os_version, length) == 0);
}

int image_index_choose(const struct image_index *index, const struct image_platform *wanted,
		       const struct image_index_entry **out, struct error *err)
{
	const struct image_index_entry *best = NULL;
	const struct image_index_entry *unnamed = NULL;
	struct arena arena CLEANUP(arena_free) = {0};
	struct text names CLEANUP_TEXT = {0};
	size_t images = 0;
	for (size_t i = 0; i < index->count; i++) {
		const struct image_index_entry *entry = &index->entries[i];
		const struct image_platform *platform = &entry->platform;
		if (entry->artifact_type[0] != '\0' || text_equal(platform->os, "unknown"))
			continue;
		text_add_item(&names, ", ", image_platform_name(platform, &arena));
		images++;
		if (platform->os[0] == '\0' && platform->architecture[0] == '\0')
			unnamed = unnamed != NULL ? unnamed : entry;
		else if ((wanted == NULL || platform_fits(platform, wanted)) &&
			 (best == NULL || variant_rank(platform) > variant_rank(&best->platform)))
			best = entry;
	}
	*out = best != NULL ? best : unnamed;
	if (*out != NULL && (wanted != NULL || images == 1))
		return 0;
	if (wanted != NULL)
		return error_set(err, ERROR_NOT_FOUND, "no manifest for %s; there is %s",
				 image_platform_name(wanted, &arena),
				 images > 0 ? text_string(&names) : "no image");
	if (images == 0)
		return error_set(err, ERROR_NOT_FOUND, "the index names no image");
	return error_set(err, ERROR_ARGUMENT, "for several platforms, choose one of %s",
			 text_string(&names));
}
