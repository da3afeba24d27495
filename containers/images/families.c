/* SPDX-License-Identifier: MIT */
/* The image of the probes: a layer for each family of APIs. */
#include "containers/images/internal.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/gpu_apis.h"
#include "base/path.h"

#include <regex.h>
#include <string.h>

/* References as in the OCI distribution specification. The registry is required: without it, container
 * runtimes and kubelets complete the name differently. */
#define HOST "(localhost|[a-z0-9-]+([.][a-z0-9-]+)+|[a-z0-9-]+:[0-9]+)(:[0-9]+)?"
#define NAME "(/[a-z0-9]+([._-]+[a-z0-9]+)*)+"
#define TAG  ":[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"

/* The files of a layer. */
struct family {
	struct text_list programs;
	struct text_list loaders; /* opened at run time; drivers come from the plugin */
};

/* The first holds the probes without an API, the others are in the order of gpu_api_families. */
struct families {
	struct family each[IMAGE_SPEC_LAYERS_MAX];
};

static void families_free(struct families *families)
{
	for (size_t i = 0; i < IMAGE_SPEC_LAYERS_MAX; i++) {
		text_list_free(&families->each[i].programs);
		text_list_free(&families->each[i].loaders);
	}
}

static int sort_probes(const struct images_choice *choice, struct families *out, struct error *err)
{
	const struct text_list *wanted = choice->families;
	struct text_list probes CLEANUP_TEXT_LIST = {0};
	int rc = images_list_probes(choice->program_directory, &probes, err);
	if (rc < 0)
		return rc;
	text_each (probe, &probes) {
		const char *name = path_base(probe) + strlen(IMAGES_PROBE_PREFIX);
		const struct gpu_api *api = gpu_api_find(name);
		const char *family = api != NULL ? gpu_api_family(api) : NULL;
		bool base = family == NULL || choice->one_layer;
		if (family != NULL && wanted != NULL && wanted->count != 0 &&
		    !text_list_has(wanted, family))
			continue;
		struct family *into =
			&out->each[base ? 0 : 1 + text_position(gpu_api_families, family)];
		text_list_add(&into->programs, probe);
		if (api != NULL && api->loader != NULL)
			text_list_add(&into->loaders, api->loader);
		if (strcmp(name, "ffmpeg") != 0)
			continue;

		/* probe-ffmpeg runs the ffmpeg next to it, if there is one. */
		char *directory CLEANUP_FREE = path_directory(probe);
		char *ffmpeg CLEANUP_FREE = path_join(directory, "ffmpeg");
		if (file_exists(ffmpeg))
			text_list_add(&into->programs, ffmpeg);
	}
	return 0;
}

static int check_choice(const struct families *families, const struct images_choice *choice,
			struct error *err)
{
	const struct text_list *wanted = choice->families;
	for (size_t i = 0; wanted != NULL && i < wanted->count; i++) {
		size_t index = text_position(gpu_api_families, wanted->items[i]);
		if (gpu_api_families[index] == NULL)
			return error_set(
				err, ERROR_ARGUMENT,
				"family '%s' is not one of compute, graphics, video, directx",
				wanted->items[i]);
		if (families->each[1 + index].programs.count == 0)
			return error_set(err, ERROR_NOT_FOUND,
					 "family '%s' has no probe in this build",
					 wanted->items[i]);
	}
	if (choice->reference == NULL)
		return 0;

	regex_t form;
	if (regcomp(&form, "^" HOST NAME TAG "$", REG_EXTENDED | REG_NOSUB) != 0)
		return error_memory(err);
	bool matches = regexec(&form, choice->reference, 0, NULL, 0) == 0;
	regfree(&form);
	if (!matches)
		return error_set(err, ERROR_ARGUMENT,
				 "'%s' is not a reference of the form REGISTRY/NAME:TAG, such as "
				 "registry.example/gpucert-probes:1",
				 choice->reference);
	return 0;
}

static struct image_layer layer_of(const struct family *family)
{
	return (struct image_layer){(const char *const *)family->programs.items,
				    (const char *const *)family->loaders.items};
}

int images_build(const char *archive, const struct images_choice *choice, struct images *out,
		 struct error *err)
{
	struct families families CLEANUP(families_free) = {0};
	int rc = sort_probes(choice, &families, err);
	if (rc == 0)
		rc = check_choice(&families, choice, err);
	if (rc < 0)
		return rc;

	struct image_layer layers[IMAGE_SPEC_LAYERS_MAX] = {{0}};
	struct text names CLEANUP_TEXT = {0};
	size_t count = 0;
	for (size_t i = 1; i < IMAGE_SPEC_LAYERS_MAX; i++) {
		if (families.each[i].programs.count == 0)
			continue;
		text_add_item(&names, ",", gpu_api_families[i - 1]);
		layers[count++] = layer_of(&families.each[i]);
	}
	const char *const labels[] = {"org.opencontainers.image.title",
				      "gpucert probes",
				      "org.opencontainers.image.version",
				      GPUCERT_VERSION,
				      "gpucert.internal/families",
				      text_string(&names),
				      NULL};
	const char *const command[] = {IMAGES_PROGRAM_DIRECTORY "/probe-visibility", NULL};
	const struct image_spec spec = {
		.repository = IMAGES_PROBE_REPOSITORY,
		.reference = choice->reference,
		.base = layer_of(&families.each[0]),
		.layers = layers,
		.command = command,
		.labels = labels,
	};
	return images_compose(archive, &spec, choice->pause, choice->program_directory, out, err);
}

int images_prepare(const char *directory, const char *program_directory, struct images *out,
		   struct error *err)
{
	char *archive CLEANUP_FREE = path_join(directory, "images.tar");
	const struct images_choice choice = {
		.program_directory = program_directory, .pause = true, .one_layer = true};
	return images_build(archive, &choice, out, err);
}
