/* SPDX-License-Identifier: MIT */
/* The image of the probes: a layer for each family of APIs. */
#include "containers/images/internal.h"

#include "base/cleanup.h"
#include "base/gpu_apis.h"
#include "base/path.h"

#include <ctype.h>
#include <string.h>

enum { FAMILIES_MAX = IMAGE_LAYERS_MAX - 1, REFERENCE_MAX = 255, TAG_MAX = 128 };

/* What a layer is made of. */
struct family {
	struct text_list programs;
	struct text_list
		loaders; /* what the probes open at run time; drivers come from the plugin */
};

struct families {
	struct family base; /* probes of no API */
	struct family each[FAMILIES_MAX];
};

static void family_free(struct family *family)
{
	text_list_free(&family->programs);
	text_list_free(&family->loaders);
}

static void families_free(struct families *families)
{
	family_free(&families->base);
	for (size_t i = 0; i < FAMILIES_MAX; i++)
		family_free(&families->each[i]);
}

static int check_families(const struct text_list *wanted, struct error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && wanted != NULL && i < wanted->count; i++) {
		const char *const *known = gpu_api_families;
		while (*known != NULL && strcmp(*known, wanted->items[i]) != 0)
			known++;
		if (*known == NULL)
			rc = error_set(
				err, ERROR_ARGUMENT,
				"family '%s' is not one of compute, graphics, video, directx",
				wanted->items[i]);
	}
	return rc;
}

/* Where the program belongs; NULL: it is not wanted. */
static struct family *family_of(struct families *families, const struct gpu_api *api,
				const struct images_choice *choice)
{
	const char *name = api != NULL ? gpu_api_family(api) : NULL;
	const struct text_list *wanted = choice->families;
	if (name == NULL || choice->one_layer)
		return &families->base;
	if (wanted != NULL && wanted->count != 0 && !text_list_has(wanted, name))
		return NULL;
	for (size_t i = 0; i < FAMILIES_MAX && gpu_api_families[i] != NULL; i++) {
		if (strcmp(gpu_api_families[i], name) == 0)
			return &families->each[i];
	}
	return NULL;
}

static int sort(const struct text_list *probes, const struct images_choice *choice,
		struct families *out, struct error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < probes->count; i++) {
		const char *name = path_base(probes->items[i]) + strlen(IMAGES_PROBE_PREFIX);
		const struct gpu_api *api = gpu_api_find(name);
		struct family *family = family_of(out, api, choice);
		if (family == NULL)
			continue;
		rc = text_list_add(&family->programs, probes->items[i], err);
		if (rc == 0 && api != NULL && api->loader != NULL)
			rc = text_list_add(&family->loaders, api->loader, err);
	}
	return rc;
}

/* The layers that have something in them, ended by one without programs. */
static int list_layers(const struct families *families, const struct text_list *wanted,
		       struct image_layer layers[IMAGE_LAYERS_MAX], struct text *names,
		       struct error *err)
{
	size_t count = 0;
	for (size_t i = 0; gpu_api_families[i] != NULL; i++) {
		const struct family *family = &families->each[i];
		if (family->programs.count != 0) {
			layers[count++] =
				(struct image_layer){(const char *const *)family->programs.items,
						     (const char *const *)family->loaders.items};
			text_addf(names, "%s%s", names->size != 0 ? "," : "", gpu_api_families[i]);
		} else if (wanted != NULL && text_list_has(wanted, gpu_api_families[i])) {
			return error_set(err, ERROR_NOT_FOUND,
					 "family '%s' has no probe in this build",
					 gpu_api_families[i]);
		}
	}
	return names->failed ? error_memory(err) : 0;
}

/* REGISTRY/NAME:TAG, as the OCI distribution specification spells them. Without a registry a
 * container runtime and a kubelet would make different names of it. */
static int check_reference(const char *reference, struct error *err)
{
	const char *slash = strchr(reference, '/');
	const char *tag = strrchr(reference, ':');
	size_t host = slash != NULL ? (size_t)(slash - reference) : 0;
	bool named = host != 0 && (memchr(reference, '.', host) != NULL ||
				   memchr(reference, ':', host) != NULL ||
				   strncmp(reference, "localhost/", host + 1) == 0);
	bool sound = named && tag != NULL && tag > slash + 1 && isalnum((unsigned char)tag[1]) &&
		     strlen(tag + 1) <= TAG_MAX && strlen(reference) <= REFERENCE_MAX;
	for (const char *p = reference; sound && *p != '\0'; p++) {
		bool in_name = p > slash && p < tag;
		sound = islower((unsigned char)*p) || isdigit((unsigned char)*p) ||
			(isupper((unsigned char)*p) && p > tag) ||
			strchr(in_name ? "/._-" : "._-:/", *p) != NULL;
		sound = sound && (*p != '/' || isalnum((unsigned char)p[1]));
	}
	if (sound && strchr(tag, '/') == NULL)
		return 0;
	return error_set(err, ERROR_ARGUMENT,
			 "'%s' is not a reference of the form REGISTRY/NAME:TAG, such as "
			 "registry.example/gpucert-probes:1",
			 reference);
}

int images_build(const char *archive, const struct images_choice *choice, struct images *out,
		 struct error *err)
{
	struct families families CLEANUP(families_free) = {0};
	struct text_list probes CLEANUP_TEXT_LIST = {0};
	struct image_layer layers[IMAGE_LAYERS_MAX] = {{0}};
	struct text names CLEANUP_TEXT = {0};
	int rc = check_families(choice->families, err);
	if (rc == 0 && choice->reference != NULL)
		rc = check_reference(choice->reference, err);
	if (rc == 0)
		rc = images_list_probes(choice->program_directory, &probes, err);
	if (rc == 0)
		rc = sort(&probes, choice, &families, err);
	if (rc == 0)
		rc = list_layers(&families, choice->families, layers, &names, err);
	if (rc < 0)
		return rc;
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
		.base = {(const char *const *)families.base.programs.items,
			 (const char *const *)families.base.loaders.items},
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
	return archive != NULL ? images_build(archive, &choice, out, err) : error_memory(err);
}
