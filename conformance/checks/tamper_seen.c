/* SPDX-License-Identifier: MIT */
/* The effects of an answer on a container, inspected from the host: the text of an answer does not show
 * where the links inside of its mounts lead. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/path.h"
#include "conformance/checks/tamper.h"
#include "conformance/kubelet/each.h"

#include <string.h>

struct seen {
	const struct grant *grant;
	const struct container_view *view;
	struct container_place *sources; /* of the answer's mounts; inode 0: it has none */
	struct text_list *found;
};

static bool is_place(const struct container_place *place, uint64_t device, uint64_t inode)
{
	return place->inode != 0 && place->inode == inode && place->device == device;
}

/* The node's own file or folder, at the node's path. */
static bool is_own_place(const char *path, uint64_t device, uint64_t inode)
{
	struct container_place place = {0};
	return container_host_place(path, &place) && is_place(&place, device, inode);
}

/* The answer's entry for a mount; NULL: it is not one of the answer's. */
static const struct grant_entry *answers_mount(const struct seen *seen,
					       const struct container_mount *mount)
{
	if (mount == NULL || mount->covered)
		return NULL;

	/* The runtime mounts the kernel's own file systems; an answer may mount the same ones. */
	bool proc = strcmp(mount->target, "/proc") == 0 && strcmp(mount->type, "proc") == 0;
	bool sys = strcmp(mount->target, "/sys") == 0 && strcmp(mount->type, "sysfs") == 0;
	if (strcmp(mount->root, "/") == 0 && (proc || sys))
		return NULL;
	for (size_t i = 0; i < seen->grant->mounts.count; i++) {
		if (is_place(&seen->sources[i], mount->device, mount->inode))
			return &seen->grant->mounts.items[i];
	}
	return NULL;
}

/* The files of loaders that the image does not have. */
static int judge_loader_places(struct seen *seen, const struct grant *real, struct error *err)
{
	struct text_list places CLEANUP_TEXT_LIST = {0};
	tamper_add_loader_places(real, &places);
	text_each (path, &places) {
		struct container_observation observation = {0};
		if (path[0] == '\0')
			continue;
		int rc = container_observe(seen->view, path, &observation, err);
		if (rc < 0)
			return rc;
		const struct grant_entry *mount =
			observation.there ? answers_mount(seen, observation.mount) : NULL;
		if (mount != NULL &&
		    !is_own_place(path, observation.place.device, observation.place.inode))
			text_list_addf(seen->found,
				       "mount of %s gives loaders their %s, to which links lead",
				       mount->host_path, path);
	}
	return 0;
}

/* The mounts of the answer where they really are, and all variables of the container, also those of
 * hooks and CDI edits: as if the answer had held them. */
static void read_real(struct seen *seen, struct grant *real)
{
	const struct container_view *view = seen->view;
	text_each (variable, &view->environment) {
		char *name CLEANUP_FREE = memory_copy(variable);
		char *equals = strchr(name, '=');
		if (equals == NULL)
			continue;
		*equals = '\0';
		const struct grant_entry entry = {.name = name, .value = equals + 1};
		grant_add(real, GRANT_ENV, &entry);
	}
	items_each (mount, view->mounts.items, view->mounts.count) {
		const struct grant_entry *granted = answers_mount(seen, mount);
		if (granted == NULL)
			continue;
		bool own = is_own_place(mount->target, mount->device, mount->inode);
		const struct grant_entry entry = {.container_path = mount->target,
						  .host_path =
							  own ? mount->target : granted->host_path};
		grant_add(real, GRANT_MOUNT, &entry);
	}
}

/* Would the dynamic linker load a library of `folder` in place of the image's? It searches the folder's
 * libraries for better processors first. */
static int judge_folder(struct seen *seen, const char *why, const char *folder,
			const struct image_manifest_file *file, struct error *err)
{
	static const char *const levels[] = {"/glibc-hwcaps/x86-64-v4", "/glibc-hwcaps/x86-64-v3",
					     "/glibc-hwcaps/x86-64-v2", ""};
	array_each (level, levels) {
		char *path CLEANUP_FREE =
			text_format("%s%s/%s", folder, *level, path_base(file->path));
		struct container_observation observation = {0};
		int rc = container_observe(seen->view, path, &observation, err);
		if (rc < 0)
			return rc;
		bool mounted = observation.file && observation.mount != NULL &&
			       strcmp(observation.mount->target, "/") != 0;
		if (mounted && strcmp(observation.digest, file->digest) != 0)
			text_list_addf(seen->found,
				       "%s puts %s in front of the image's %s, on the mount %s",
				       why, path, file->path, observation.mount->target);
	}
	return 0;
}

int tamper_find_seen(const struct grant *grant, const struct image_manifest *image,
		     const struct container_view *view, struct text_list *found, struct error *err)
{
	struct container_place *sources CLEANUP_FREE =
		memory_allocate(grant->mounts.count, sizeof(*sources));
	for (size_t i = 0; i < grant->mounts.count; i++)
		(void)container_host_place(grant->mounts.items[i].host_path, &sources[i]);
	struct seen seen = {.grant = grant, .view = view, .sources = sources, .found = found};
	struct grant real CLEANUP_GRANT = {0};
	read_real(&seen, &real);
	tamper_find(&real, image, view->digests, found);
	int rc = 0;
	if (found->count == 0)
		rc = judge_loader_places(&seen, &real, err);
	for (size_t i = 0; rc == 0 && i < image->count; i++) {
		char *folder CLEANUP_FREE = path_directory(image->files[i].path);
		rc = judge_folder(&seen, "glibc-hwcaps", folder, &image->files[i], err);
	}
	const char *library_path = tamper_value(&real, "LD_LIBRARY_PATH");
	if (rc < 0 || library_path == NULL)
		return rc;

	/* Its folders are separated by ':' or ';'. */
	struct text_list folders CLEANUP_TEXT_LIST = {0};
	char *copy CLEANUP_FREE = memory_copy(library_path);
	for (char *at = strchr(copy, ';'); at != NULL; at = strchr(at, ';'))
		*at = ':';
	text_list_split(&folders, copy, ':');
	if (folders.count > TAMPER_LIBRARY_FOLDERS_MAX || strchr(library_path, '$') != NULL) {
		text_list_addf(found, "LD_LIBRARY_PATH %s is not searched whole", library_path);
		return 0;
	}
	text_each (folder, &folders) {
		for (size_t i = 0; rc == 0 && i < image->count; i++)
			rc = judge_folder(&seen, "variable LD_LIBRARY_PATH", folder,
					  &image->files[i], err);
	}
	return rc;
}
