/* SPDX-License-Identifier: MIT */
#include "conformance/cli/image_argument.h"

#include "base/cleanup.h"
#include "base/style.h"
#include "containers/judging/compat/host.h"
#include "containers/offers.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct image_source_options image_argument_options;

int image_platform_parse(const char *string, struct arena *arena, struct image_platform *out,
			 struct error *err)
{
	const char *parts[4] = {"", "", "", ""};
	size_t end = strcspn(string, ":");
	size_t count = 0;
	for (const char *at = string; count < ARRAY_SIZE(parts); at += strcspn(at, "/:") + 1) {
		size_t size = strcspn(at, "/:");
		parts[count++] = arena_format(arena, "%.*s", (int)size, at);
		if (at + size >= string + end)
			break;
	}
	*out = (struct image_platform){.os = parts[0],
				       .architecture = parts[1],
				       .variant = parts[2],
				       .os_version = string[end] == ':' ? string + end + 1 : ""};
	if (parts[0][0] == '\0' || parts[1][0] == '\0' || count == ARRAY_SIZE(parts))
		return error_set(err, ERROR_ARGUMENT,
				 "--platform: '%s' is not of the form OS/ARCHITECTURE[/VARIANT]"
				 "[:OS-VERSION], such as windows/amd64:10.0.20348.2582",
				 string);
	return 0;
}

int image_argument_open(const char *name, const char *platform, struct image_argument *out,
			struct error *err)
{
	struct arena arena CLEANUP(arena_free) = {0};
	struct image_platform wanted = {0};
	int rc = platform != NULL ? image_platform_parse(platform, &arena, &wanted, err) : 0;
	if (rc == 0)
		rc = image_source_open(name, &image_argument_options, &out->source, err);
	if (rc < 0 || platform == NULL)
		return rc;
	rc = image_source_load(out->source, &wanted, &out->image, err);
	if (rc < 0)
		return rc;

	/* An image for one platform may name it only in its configuration. */
	const struct image_platform *has = &out->image.platform;
	bool same_os = has->os[0] == '\0' || text_equal(has->os, wanted.os);
	bool same_architecture =
		has->architecture[0] == '\0' || text_equal(host_architecture(has->architecture),
							   host_architecture(wanted.architecture));
	if (same_os && same_architecture)
		return 0;
	return error_set(err, ERROR_NOT_FOUND, "%s: only for %s, and not for %s", name,
			 image_platform_name(has, &arena), image_platform_name(&wanted, &arena));
}

int image_argument_load_own(struct image_argument *argument, struct error *err)
{
	struct arena arena CLEANUP(arena_free) = {0};
	struct image_platform own = {0};
	const struct image_index *index = NULL;
	int rc = image_source_index(argument->source, &index, err);
	if (rc == 0)
		rc = host_platform(&arena, &own, err);
	if (rc < 0)
		return rc;
	return image_source_load(argument->source, index->count == 1 ? NULL : &own,
				 &argument->image, err);
}

static void show_progress(size_t layer, size_t layers)
{
	(void)fprintf(stderr, "\rReading layer %zu of %zu", layer + 1, layers);
	(void)fflush(stderr);
}

int image_contents_read_shown(struct image_source *source, const struct image *image,
			      struct image_contents *out, struct error *err)
{
	const bool shown = style_enabled(STDERR_FILENO);
	if (!OFFERS_CONTENTS)
		return error_set(err, ERROR_UNSUPPORTED, "layers are read on Linux only");
	int rc = image_contents_read(source, image, shown ? show_progress : NULL, out, err);
	if (shown)
		(void)fprintf(stderr, "\r\033[K");
	return rc;
}

void image_argument_free(struct image_argument *argument)
{
	image_free(&argument->image);
	image_source_close(&argument->source);
}
