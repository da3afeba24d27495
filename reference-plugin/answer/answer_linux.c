/* SPDX-License-Identifier: MIT */
/* What a Linux container gets: device nodes, the drivers' files, and the variables that their loaders
 * read. */
#include "base/cleanup.h"
#include "base/path.h"
#include "discovery/filter.h"
#include "reference-plugin/answer/answer_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Of mounts; additional ones give way to those of devices, and may be of either type. */
enum { RANK_DEVICE, RANK_ADDITIONAL };

static void add_device(struct answer *answer, const struct additional_mounts *additional,
		       const struct discovery_device *device)
{
	for (size_t i = 0; i < device->node_count; i++) {
		const struct discovery_node *node = &device->nodes[i];
		answer_add(answer, ANSWER_NODE, device, node->container_path, node->path)
			->permissions = node->permissions;
	}
	for (size_t i = 0; i < device->file_count; i++) {
		const struct discovery_file *file = &device->files[i];
		answer_add(answer, ANSWER_MOUNT, device, file->destination, file->source)
			->directory = file->directory;
	}
	for (size_t i = 0; i < device->variable_count; i++) {
		const struct discovery_variable *variable = &device->environment[i];
		size_t turn = answer->count;
		/* Values are joined in the order of the devices. */
		answer_add(answer, ANSWER_VARIABLE, device, variable->name, variable->value)->rank =
			turn;
	}
	for (size_t i = 0; additional != NULL && i < additional->count; i++) {
		const struct additional_mount *mount = &additional->items[i];
		if (mount->kind == ADDITIONAL_MOUNT_LINUX &&
		    filter_vendor_matches(mount->vendor, device))
			answer_add(answer, ANSWER_MOUNT, device, mount->destination, mount->source)
				->rank = RANK_ADDITIONAL;
	}
}

/* The OpenCL loader takes one manifest or one directory of manifests (ocl-icd(7)), so several
 * manifests are named by the directory that they are mounted in. */
static char *manifest_directory(const char *value)
{
	return text_ends_with(value, ".icd") ? path_directory(value) : path_normalize(value);
}

static int join_variables(struct answer *answer, struct answer_item *kept,
			  const struct answer_item *next, struct error *err)
{
	static const char *const path_lists[] = {"VK_DRIVER_FILES", "VK_ICD_FILENAMES",
						 "VK_ADD_DRIVER_FILES", NULL};

	/* The Vulkan loader accepts lists of manifests (Vulkan-Loader, LoaderDriverInterface.md). */
	if (path_lists[text_position(path_lists, kept->place)] != NULL) {
		struct text_list have CLEANUP_TEXT_LIST = {0};
		struct text_list paths CLEANUP_TEXT_LIST = {0};
		text_list_split(&have, kept->source, ':');
		text_list_split(&paths, next->source, ':');
		text_each (path, &paths) {
			if (text_list_has(&have, path))
				continue;
			kept->source = arena_format(&answer->arena, "%s:%s", kept->source, path);
			text_list_add(&have, path);
		}
		return have.failed || paths.failed ? error_memory(err) : 0;
	}

	if (strcmp(kept->place, "OCL_ICD_VENDORS") != 0)
		return error_set(err, ERROR_UNSUPPORTED,
				 "devices '%s' and '%s' need different values of %s: '%s' and '%s'",
				 kept->device, next->device, kept->place, kept->source,
				 next->source);
	char *left CLEANUP_FREE = manifest_directory(kept->source);
	char *right CLEANUP_FREE = manifest_directory(next->source);
	if (left == NULL || right == NULL)
		return error_memory(err);
	if (strcmp(left, right) != 0)
		return error_set(err, ERROR_UNSUPPORTED,
				 "devices '%s' and '%s' have their OpenCL manifests in different "
				 "directories: '%s' and '%s'",
				 kept->device, next->device, left, right);
	kept->source = arena_string(&answer->arena, left);
	return 0;
}

/* Devices of one vendor share nodes (/dev/nvidiactl) and files: each is listed once. */
static int join(struct answer *answer, struct answer_item *kept, const struct answer_item *next,
		struct error *err)
{
	if (strcmp(kept->source, next->source) == 0 &&
	    strcmp(kept->permissions, next->permissions) == 0)
		return 0;
	if (kept->kind == ANSWER_VARIABLE)
		return join_variables(answer, kept, next, err);
	if (kept->kind == ANSWER_NODE)
		return error_set(err, ERROR_UNSUPPORTED,
				 "devices '%s' and '%s' need different device nodes at '%s'",
				 kept->device, next->device, next->place);
	if (kept->rank != next->rank)
		return 0;
	return error_set(err, ERROR_UNSUPPORTED,
			 "devices '%s' and '%s' need different files at '%s': '%s' and '%s'",
			 kept->device, next->device, kept->place, kept->source, next->source);
}

/* A runtime that applies several CDI devices keeps one value of a variable. */
static int join_cdi(struct answer *answer, struct answer_item *kept, const struct answer_item *next,
		    struct error *err)
{
	if (kept->kind == ANSWER_VARIABLE && strcmp(kept->source, next->source) != 0)
		return error_set(
			err, ERROR_UNSUPPORTED,
			"devices '%s' and '%s' need different values of %s, which CDI "
			"cannot join: give a container one of them, or use delivery direct",
			kept->device, next->device, kept->place);
	return join(answer, kept, next, err);
}

static int check_source(const char *root, const struct answer_item *item, struct error *err)
{
	const char *wanted = "character device";
	char *below CLEANUP_FREE =
		root != NULL && root[0] != '\0' ? path_join(root, item->source) : NULL;
	struct stat status;
	bool good = false;
	if (item->kind == ANSWER_VARIABLE)
		return 0;
	if (stat(below != NULL ? below : item->source, &status) != 0)
		return error_set(err, ERROR_IO, "device '%s' needs '%s': %s", item->device,
				 item->source, strerror(errno));
	if (item->kind == ANSWER_NODE) {
		good = S_ISCHR(status.st_mode);
	} else if (item->rank == RANK_ADDITIONAL) {
		wanted = "file or directory";
		good = S_ISDIR(status.st_mode) || S_ISREG(status.st_mode);
	} else {
		wanted = item->directory ? "directory" : "file";
		good = item->directory == (S_ISDIR(status.st_mode) != 0);
	}
	if (good)
		return 0;
	return error_set(err, ERROR_IO, "device '%s' needs '%s', which is not a %s", item->device,
			 item->source, wanted);
}

int answer_build_linux(struct answer *answer, const struct answer_request *request,
		       struct error *err)
{
	for (size_t i = 0; i < request->count; i++) {
		const struct discovery_device *device = request->devices[i];
		if (device->node_count == 0 && device->file_count == 0)
			return error_set(err, ERROR_UNSUPPORTED,
					 "device '%s' has neither device nodes nor files to give",
					 device->id);
		add_device(answer, request->rules->additional, device);
	}
	bool cdi = request->rules->cdi;
	int rc = answer_settle(answer, strcmp, cdi ? join_cdi : join, err);
	for (size_t i = 0; rc == 0 && !request->recorded && i < answer->count; i++)
		rc = check_source(request->root, &answer->items[i], err);
	if (!cdi)
		return rc;

	/* The CDI devices provide everything but the additional mounts. */
	size_t kept = 0;
	for (size_t i = 0; i < answer->count; i++) {
		if (answer->items[i].kind == ANSWER_MOUNT &&
		    answer->items[i].rank == RANK_ADDITIONAL)
			answer->items[kept++] = answer->items[i];
	}
	answer->count = kept;
	return rc;
}
