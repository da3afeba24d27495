/* SPDX-License-Identifier: MIT */
#include "conformance/runner/workplace.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "conformance/kubelet/plugin_directory.h"
#include "containers/cri/cri.h"
#include "containers/offers.h"
#include "containers/wine/image.h"

#include <string.h>

#define ONLY_ATTACHED                                                                              \
	"a private containerd is for Linux; name a running one with --cri "                        \
	"npipe:////./pipe/containerd-containerd"
#define WITHOUT " (--launcher process goes without containers, and proves nothing about them)"

/* The node and the image of its probes. */
static int make_wine(struct workplace *workplace, const struct workplace_options *options,
		     struct error *err)
{
	char *directory CLEANUP_FREE = path_join(workplace->run_directory, "wine");
	int rc =
		directory != NULL ? file_make_directories(directory, 0700, err) : error_memory(err);
	return rc == 0 ? wine_node_make(directory, options->windows_programs, options->windows_dlls,
					&workplace->wine, err)
		       : rc;
}

static int prepare_wine_image(struct workplace *workplace, struct error *err)
{
	struct text_list programs CLEANUP_TEXT_LIST = {0};
	char *cache CLEANUP_FREE = path_directory(workplace->wine.root);
	struct wine_image_options options = {
		.root = workplace->wine.root,
		.starter = workplace->wine.starter,
		.cache = cache,
		.dlls = workplace->wine.dlls,
	};
	int rc = cache != NULL ? wine_node_probes(&workplace->wine, &programs, err)
			       : error_memory(err);
	options.programs = (const char *const *)programs.items;
	return rc == 0 ? wine_image_prepare(&options, &workplace->images, err) : rc;
}

static int import(struct workplace *workplace, struct error *err)
{
	uint64_t start = clock_monotonic_ms();
	if (!OFFERS_IMAGES)
		return error_set(err, ERROR_UNSUPPORTED,
				 "images of Windows programs are not composed; build one and name "
				 "it with --image (docs/windows-node.md)");
	int rc = workplace->wine.directory != NULL
			 ? prepare_wine_image(workplace, err)
			 : images_prepare(workplace->run_directory, NULL, &workplace->images, err);
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

/* The digest in "name@sha256:...", or the text itself where it is one; else nothing. */
static void copy_digest(char out[DIGEST_SIZE], const char *text)
{
	const char *at = text != NULL ? strchr(text, '@') : NULL;
	const char *digest = at != NULL ? at + 1 : text;
	if (digest != NULL && strncmp(digest, "sha256:", strlen("sha256:")) == 0 &&
	    strlen(digest) == DIGEST_SIZE - 1)
		memcpy(out, digest, DIGEST_SIZE);
}

/* Of an image that was composed elsewhere it is only known that its probes must be this build's; on
 * Windows not even that. */
static int expect_probes(struct workplace *workplace, struct error *err)
{
	return OFFERS_IMAGES ? images_describe_probes(NULL, &workplace->images.probe.manifest, err)
			     : 0;
}

/* The build that a Windows image is made for, as the runtime tells from its configuration. NULL: it
 * tells none. */
static char *image_os_version(const Runtime__V1__ImageStatusResponse *status)
{
	for (size_t i = 0; i < status->n_info; i++) {
		const char *text = status->info[i]->value;
		cJSON *info CLEANUP_JSON = NULL;
		const char *version = NULL;
		if (json_parse(text, strlen(text), &info, NULL) < 0)
			continue;
		version = json_pointer_string(info, "/imageSpec/os.version");
		if (version != NULL)
			return strdup(version);
	}
	return NULL;
}

/* An image that is there already; what is in it is not known. */
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
	probe->reference = strdup(image);
	probe->os_version = image_os_version(reply);
	copy_digest(probe->digest, reply->image->n_repo_digests > 0 ? reply->image->repo_digests[0]
								    : reply->image->id);
	return probe->reference != NULL ? expect_probes(workplace, err) : error_memory(err);
}

static int start_runtime(struct workplace *workplace, const struct workplace_options *options,
			 struct error *err)
{
	const struct runtime_options own = {.containerd = options->containerd,
					    .cdi_directories = options->cdi_directories};
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
	return rc;
}

/* What the private runtime was configured with; of one that is only used its own words tell. */
static int check_handlers(const struct workplace *workplace,
			  const struct workplace_options *options, struct error *err)
{
	const struct runtime_description *description = runtime_describe(workplace->runtime);
	for (size_t i = 0; options->handlers != NULL && i < options->handlers->count; i++) {
		const char *name = options->handlers->items[i];
		if (!description->is_private || text_list_has(description->handlers, name))
			continue;
		return error_set(
			err, ERROR_ARGUMENT,
			"--runtime-handler %s: a private containerd has runc, and crun and "
			"kata where they are installed; --cri uses one with other handlers",
			name);
	}
	return 0;
}

static int make_directory(struct workplace *workplace, struct error *err)
{
	int rc = 0;
	if (workplace->runtime == NULL)
		rc = runtime_make_directory(&workplace->own_directory, err);
	if (rc != 0)
		return rc;
	const char *directory = workplace->runtime != NULL
					? runtime_describe(workplace->runtime)->work_directory
					: workplace->own_directory;
	workplace->run_directory = strdup(directory);
	return workplace->run_directory != NULL ? 0 : error_memory(err);
}

/* Nobody asked for containers, and this machine or this user has none to offer: told in
 * `missing`. A runtime that is there and does not work is an error. */
static int do_without(struct workplace *workplace, const struct error *reason, struct error *err)
{
	workplace->launcher = "none";
	free(workplace->missing);
	workplace->missing = strdup(reason->text);
	return workplace->missing != NULL ? 0 : error_memory(err);
}

static int open_directory(struct workplace *workplace, const struct workplace_options *options,
			  struct error *err)
{
	int rc = make_directory(workplace, err);
	return rc == 0 && OFFERS_WINE_NODE && options->wine ? make_wine(workplace, options, err)
							    : rc;
}

/* The runtime, the directory, which is the runtime's where there is one, and the images. */
static int open_containers(struct workplace *workplace, const struct workplace_options *options,
			   struct error *err)
{
	int rc = start_runtime(workplace, options, err);
	if (rc < 0) {
		workplace->runtime = NULL;
		return rc;
	}
	workplace->launcher = "containerd";
	rc = check_handlers(workplace, options, err);
	if (rc == 0)
		rc = open_directory(workplace, options, err);
	if (rc < 0)
		return rc;
	return options->image != NULL ? use_image(workplace, options->image, err)
				      : import(workplace, err);
}

/* As asked for; by default containers, where they can be had. */
static int choose(struct workplace *workplace, const struct workplace_options *options,
		  struct error *err)
{
	bool asked = options->launcher != NULL || options->cri_address != NULL ||
		     options->containerd != NULL ||
		     (options->handlers != NULL && options->handlers->count != 0);
	struct error reason = {0};
	int rc = 0;
	if (options->launcher != NULL && strcmp(options->launcher, "containerd") != 0) {
		workplace->launcher = options->launcher;
		return 0;
	}
	if (!asked)
		rc = OFFERS_PRIVATE_RUNTIME ? runtime_is_offered(&reason)
					    : error_set(&reason, ERROR_UNSUPPORTED, ONLY_ATTACHED);
	if (rc == ERROR_UNSUPPORTED)
		return do_without(workplace, &reason, err);
	if (rc == 0)
		rc = open_containers(workplace, options, &reason);
	if (rc < 0)
		return error_set(err, rc, "%s%s", reason.text, asked ? "" : WITHOUT);
	return 0;
}

/* A run that was killed while it was attached could not put back what it had moved aside. */
static void restore(const char *work_directory, void *user)
{
	struct workplace *workplace = user;
	struct error why = {0};
	bool restored = false;
	char *path CLEANUP_FREE = path_join(work_directory, "context.json");
	cJSON *context CLEANUP_JSON = NULL;
	if (path == NULL || json_read_file(path, &context, NULL) < 0)
		return;
	const char *directory = json_pointer_string(context, "/attachDirectory");
	if (directory == NULL)
		return;
	if (plugin_directory_restore(directory, &restored, &why) < 0)
		(void)text_list_add(&workplace->resisted, why.text, NULL);
	else if (restored)
		(void)text_list_add(&workplace->restored, directory, NULL);
}

/* What resists is not this run's failure: it is told, and the next run tries again. */
static void recover(struct workplace *workplace)
{
	const struct runtime_recovery recovery = {
		.base_directory = RUNTIME_BASE_DIRECTORY,
		.temporary_directory = "/tmp",
		.on_dead = restore,
		.user = workplace,
	};
	struct error why = {0};
	if (OFFERS_PRIVATE_RUNTIME && runtime_recover(&recovery, &workplace->recovered, &why) < 0)
		(void)text_list_add(&workplace->resisted, why.text, NULL);
}

int workplace_open(uv_loop_t *loop, const struct workplace_options *options,
		   struct workplace *workplace, struct error *err)
{
	*workplace = (struct workplace){.loop = loop, .launcher = "none", .missing = strdup("")};
	if (workplace->missing == NULL)
		return error_memory(err);
	recover(workplace);
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
