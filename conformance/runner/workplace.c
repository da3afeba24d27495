/* SPDX-License-Identifier: MIT */
#include "conformance/runner/workplace.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/process.h"
#include "conformance/kubelet/plugin_directory.h"
#include "containers/offers.h"
#include "containers/wine/image.h"

#include <string.h>

#define ONLY_ATTACHED                                                                              \
	"a private containerd is for Linux; name a running one with --cri "                        \
	"npipe:////./pipe/containerd-containerd"
#define WITHOUT " (--launcher process goes without containers, and proves nothing about them)"

/* Composes the images of the probes and imports them. */
static int import(struct workplace *workplace, struct error *err)
{
	const struct wine_node *wine = &workplace->wine;
	uint64_t start = clock_monotonic_ms();
	int rc = 0;
	if (!OFFERS_IMAGES)
		return error_set(err, ERROR_UNSUPPORTED,
				 "images of Windows programs are not composed; build one and name "
				 "it with --image (docs/windows-node.md)");

	if (OFFERS_WINE_NODE && wine->directory != NULL) {
		struct text_list programs CLEANUP_TEXT_LIST = {0};
		char *cache CLEANUP_FREE = path_directory(wine->root);
		struct wine_image_options options = {
			.root = wine->root,
			.starter = wine->starter,
			.cache = cache,
			.dlls = wine->dlls,
		};
		rc = wine_node_probes(wine, &programs, err);
		options.programs = (const char *const *)programs.items;
		if (rc == 0)
			rc = wine_image_prepare(&options, &workplace->images, err);
	} else {
		rc = images_prepare(workplace->run_directory, NULL, &workplace->images, err);
	}
	if (rc == 0) {
		const char *const references[] = {
			workplace->images.probe.reference,
			IMAGES_PAUSE_REFERENCE,
			NULL,
		};
		rc = runtime_import(workplace->runtime, workplace->images.archive, references, err);
	}
	workplace->image_ms = clock_monotonic_ms() - start;
	return rc < 0 ? error_wrap(err, rc, "probe image") : 0;
}

cJSON *workplace_image_spec(const Runtime__V1__ImageStatusResponse *status)
{
	for (size_t i = 0; i < status->n_info; i++) {
		const char *text = status->info[i]->value;
		cJSON *info CLEANUP_JSON = NULL;
		if (json_parse(text, strlen(text), &info, NULL) == 0 &&
		    cJSON_HasObjectItem(info, "imageSpec"))
			return cJSON_DetachItemFromObjectCaseSensitive(info, "imageSpec");
	}
	return NULL;
}

/* Uses an image that the runtime already has; its content is not known. */
static int use_image(struct workplace *workplace, const char *image, struct error *err)
{
	Runtime__V1__ImageStatusResponse *reply CLEANUP_CRI_REPLY = NULL;
	struct image_description *probe = &workplace->images.probe;
	int rc = cri_image_status_wait(runtime_cri(workplace->runtime), image, true, &reply, err);
	if (rc < 0)
		return error_wrap(err, rc, "image %s", image);
	if (reply->image == NULL)
		return error_set(err, ERROR_NOT_FOUND,
				 "image %s: the container runtime does not have it", image);
	probe->reference = memory_copy(image);

	/* The build that a Windows image is made for. */
	cJSON *spec CLEANUP_JSON = workplace_image_spec(reply);
	const char *version = json_pointer_string(spec, "/os.version");
	if (version != NULL)
		probe->os_version = memory_copy(version);

	/* "name@sha256:...", or only the digest. */
	const char *digest =
		reply->image->n_repo_digests > 0 ? reply->image->repo_digests[0] : reply->image->id;
	const char *at = digest != NULL ? strchr(digest, '@') : NULL;
	if (at != NULL)
		digest = at + 1;
	if (digest != NULL && text_starts_with(digest, "sha256:") &&
	    strlen(digest) == DIGEST_SIZE - 1)
		memcpy(probe->digest, digest, DIGEST_SIZE);

	/* Its probes must be those of this build; on Windows not even that is known. */
	return OFFERS_IMAGES ? images_describe_probes(&probe->manifest, err) : 0;
}

/* Makes the run's directory, which is the runtime's if there is one, and the Wine node in it. */
static int open_directory(struct workplace *workplace, const struct workplace_options *options,
			  struct error *err)
{
	int rc = 0;
	if (workplace->runtime == NULL)
		rc = runtime_make_directory(&workplace->own_directory, err);
	if (rc < 0)
		return rc;
	workplace->run_directory = memory_copy(
		workplace->runtime != NULL ? runtime_describe(workplace->runtime)->work_directory
					   : workplace->own_directory);
	if (!OFFERS_WINE_NODE || !options->wine)
		return 0;

	char *wine CLEANUP_FREE = path_join(workplace->run_directory, "wine");
	rc = file_make_directories(wine, 0700, err);
	return rc == 0 ? wine_node_make(wine, options->windows_programs, options->windows_dlls,
					&workplace->wine, err)
		       : rc;
}

int workplace_check(const struct workplace_options *options, struct error *err)
{
	struct text_list installed CLEANUP_TEXT_LIST = {0};
	char *program CLEANUP_FREE = NULL;
	/* The handlers of a runtime that is only used are not known. */
	if (!OFFERS_PRIVATE_RUNTIME || options->cri_address != NULL)
		return 0;
	int rc = options->containerd != NULL
			 ? process_find_program(options->containerd, &program, err)
			 : 0;
	if (rc == 0 && program != NULL && !file_exists(program))
		rc = error_set(err, ERROR_ARGUMENT, "%s does not exist", program);
	if (rc < 0)
		return error_wrap(err, ERROR_ARGUMENT, "--containerd");
	const size_t count = options->handlers != NULL ? options->handlers->count : 0;
	if (count != 0)
		rc = runtime_find_handlers(&installed, err);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		const char *name = options->handlers->items[i];
		if (!text_list_has(&installed, name))
			rc = error_set(
				err, ERROR_ARGUMENT,
				"--runtime-handler %s: a private containerd has runc, and crun and "
				"kata where they are installed; --cri uses one with other handlers",
				name);
	}
	return rc;
}

/* The runtime, the directory and the images. */
static int open_containers(struct workplace *workplace, const struct workplace_options *options,
			   struct error *err)
{
	const struct runtime_options own = {.containerd = options->containerd,
					    .cdi_directories = options->cdi_directories,
					    .start_timeout_ms = options->start_timeout_ms};
	uint64_t start = clock_monotonic_ms();
	int rc = 0;
	if (options->cri_address != NULL)
		rc = runtime_attach(workplace->loop, options->cri_address, NULL,
				    &workplace->runtime, err);
	else if (OFFERS_PRIVATE_RUNTIME)
		rc = runtime_start(workplace->loop, &own, &workplace->runtime, err);
	else
		rc = error_set(err, ERROR_UNSUPPORTED, ONLY_ATTACHED);
	workplace->runtime_ms = clock_monotonic_ms() - start;
	if (rc < 0) {
		workplace->runtime = NULL;
		return rc;
	}
	workplace->launcher = "containerd";

	rc = open_directory(workplace, options, err);
	if (rc < 0)
		return rc;
	return options->image != NULL ? use_image(workplace, options->image, err)
				      : import(workplace, err);
}

/* As requested; by default containers, if they can be started. */
static int choose(struct workplace *workplace, const struct workplace_options *options,
		  struct error *err)
{
	bool asked = options->launcher != NULL || options->cri_address != NULL ||
		     options->containerd != NULL ||
		     (options->handlers != NULL && options->handlers->count != 0);
	struct error reason = {0};
	int rc = 0;
	if (options->launcher != NULL && !text_equal(options->launcher, "containerd")) {
		workplace->launcher = options->launcher;
		return 0;
	}

	/* Nobody asked for containers, and this machine or this user cannot start them: the run does
	 * without. An installed runtime that does not work is an error. */
	if (!asked)
		rc = OFFERS_PRIVATE_RUNTIME ? runtime_is_offered(&reason)
					    : error_set(&reason, ERROR_UNSUPPORTED, ONLY_ATTACHED);
	if (rc == ERROR_UNSUPPORTED) {
		free(workplace->missing);
		workplace->missing = memory_copy(reason.text);
		return 0;
	}

	if (rc == 0)
		rc = open_containers(workplace, options, &reason);
	if (rc < 0)
		return error_set(err, rc, "%s%s", reason.text, asked ? "" : WITHOUT);
	return 0;
}

/* A run that was killed while it was attached could not put back the files that it had moved. */
static void restore(const char *work_directory, void *user)
{
	struct workplace *workplace = user;
	struct error why = {0};
	bool restored = false;
	char *path CLEANUP_FREE = path_join(work_directory, "context.json");
	cJSON *context CLEANUP_JSON = NULL;
	if (json_read_file(path, &context, NULL) < 0)
		return;
	const char *directory = json_pointer_string(context, "/attachDirectory");
	if (directory == NULL)
		return;
	if (plugin_directory_restore(directory, &restored, &why) < 0)
		text_list_add(&workplace->resisted, why.text);
	else if (restored)
		text_list_add(&workplace->restored, directory);
}

int workplace_open(uv_loop_t *loop, const struct workplace_options *options,
		   struct workplace *workplace, struct error *err)
{
	const struct runtime_recovery recovery = {
		.base_directory = RUNTIME_BASE_DIRECTORY,
		.temporary_directory = "/tmp",
		.on_dead = restore,
		.user = workplace,
	};
	struct error why = {0};
	*workplace =
		(struct workplace){.loop = loop, .launcher = "none", .missing = memory_copy("")};

	/* Remains that cannot be removed are not this run's failure: they are reported, and the next run
	 * tries again. */
	if (OFFERS_PRIVATE_RUNTIME && runtime_recover(&recovery, &workplace->recovered, &why) < 0)
		text_list_add(&workplace->resisted, why.text);

	int rc = choose(workplace, options, err);
	if (rc == 0 && workplace->run_directory == NULL)
		rc = open_directory(workplace, options, err);
	if (rc < 0)
		(void)workplace_close(workplace, NULL);
	return rc;
}

int workplace_close(struct workplace *workplace, struct error *err)
{
	int rc = runtime_stop(workplace->runtime, err);
	if (workplace->own_directory != NULL) {
		int removed = runtime_remove_directory(workplace->own_directory, NULL,
						       rc == 0 ? err : NULL);
		if (rc == 0)
			rc = removed;
	}
	if (OFFERS_WINE_NODE)
		wine_node_free(&workplace->wine);
	images_free(&workplace->images);
	free(workplace->run_directory);
	free(workplace->own_directory);
	free(workplace->missing);
	text_list_free(&workplace->restored);
	text_list_free(&workplace->resisted);
	*workplace = (struct workplace){0};
	return rc;
}
