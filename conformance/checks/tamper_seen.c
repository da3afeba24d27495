/* SPDX-License-Identifier: MIT */
/* What an answer made of a container, looked at from the host: the text of an answer does not tell
 * where the links inside of its mounts lead. */
#include "base/cleanup.h"
#include "base/path.h"
#include "conformance/checks/tamper.h"

#include <string.h>

struct seen {
	const struct grant *grant;
	const struct image_manifest *image;
	const struct container_view *view;
	struct container_place *sources; /* of the answer's mounts; inode 0: there is none */
	struct text_list *found;
};

static bool is_place(const struct container_place *place, uint64_t device, uint64_t inode)
{
	return place->inode != 0 && place->inode == inode && place->device == device;
}

/* The node's own file or folder, where the node has it. */
static bool is_own_place(const char *path, uint64_t device, uint64_t inode)
{
	struct container_place place = {0};
	return container_host_place(path, &place) && is_place(&place, device, inode);
}

/* The kernel's own file systems, which the runtime mounts: one may be what the answer mounts, too.
 */
static bool is_runtimes(const struct container_mount *mount)
{
	return strcmp(mount->root, "/") == 0 &&
	       ((strcmp(mount->target, "/proc") == 0 && strcmp(mount->type, "proc") == 0) ||
		(strcmp(mount->target, "/sys") == 0 && strcmp(mount->type, "sysfs") == 0));
}

/* NULL: not one of the answer's. */
static const struct grant_entry *answers_mount(const struct seen *seen,
					       const struct container_mount *mount)
{
	if (mount == NULL || mount->covered || is_runtimes(mount))
		return NULL;
	for (size_t i = 0; i < seen->grant->mounts.count; i++) {
		if (is_place(&seen->sources[i], mount->device, mount->inode))
			return &seen->grant->mounts.items[i];
	}
	return NULL;
}

/* What loaders read where the image has nothing. */
static int judge_loader_places(struct seen *seen, const struct grant *real, struct error *err)
{
	struct text_list places CLEANUP_TEXT_LIST = {0};
	int rc = tamper_add_loader_places(real, &places, err);
	for (size_t i = 0; rc == 0 && i < places.count; i++) {
		const char *path = places.items[i];
		const struct grant_entry *mount = NULL;
		struct container_sight sight = {0};
		if (path[0] == '\0')
			continue;
		rc = container_see(seen->view, path, &sight, err);
		mount = rc == 0 && sight.there ? answers_mount(seen, sight.mount) : NULL;
		if (mount != NULL && !is_own_place(path, sight.place.device, sight.place.inode))
			rc = text_list_addf(
				seen->found, err,
				"mount of %s gives loaders their %s, to which links lead",
				mount->host_path, path);
	}
	return rc;
}

/* "NAME=value" */
static int add_variable(struct grant *grant, const char *variable, struct error *err)
{
	char *name CLEANUP_FREE = strdup(variable);
	char *equals = name != NULL ? strchr(name, '=') : NULL;
	if (name == NULL)
		return error_memory(err);
	if (equals == NULL)
		return 0;
	*equals = '\0';
	return grant_add(grant, GRANT_ENV, &(struct grant_entry){.name = name, .value = equals + 1},
			 err);
}

/* The mounts of the answer where they lie, and the variables as they are, those of hooks and CDI
 * edits as well: as if the answer had said so. */
static int read_real(struct seen *seen, struct grant *real, struct error *err)
{
	const struct container_view *view = seen->view;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < view->environment.count; i++)
		rc = add_variable(real, view->environment.items[i], err);
	for (size_t i = 0; rc == 0 && i < view->mounts.count; i++) {
		const struct container_mount *mount = &view->mounts.items[i];
		const struct grant_entry *told = answers_mount(seen, mount);
		struct grant_entry entry = {.container_path = mount->target};
		if (told == NULL)
			continue;
		entry.host_path = is_own_place(mount->target, mount->device, mount->inode)
					  ? mount->target
					  : told->host_path;
		rc = grant_add(real, GRANT_MOUNT, &entry, err);
	}
	return rc;
}

/* Is a library in `folder` taken for one of the image? The image's own are, as it means them. */
static int judge_front(struct seen *seen, const char *why, const char *folder, const char *below,
		       const struct image_manifest_file *file, struct error *err)
{
	char *path CLEANUP_FREE = text_format("%s%s/%s", folder, below, path_base(file->path));
	struct container_sight sight = {0};
	int rc = path != NULL ? container_see(seen->view, path, &sight, err) : error_memory(err);
	if (rc < 0 || !sight.file || sight.mount == NULL || strcmp(sight.mount->target, "/") == 0 ||
	    strcmp(sight.digest, file->digest) == 0)
		return rc;
	return text_list_addf(seen->found, err,
			      "%s puts %s in front of the image's %s, on the mount %s", why, path,
			      file->path, sight.mount->target);
}

/* The dynamic linker looks into each folder's libraries for better processors first. */
static int judge_folder(struct seen *seen, const char *why, const char *folder,
			const struct image_manifest_file *file, struct error *err)
{
	static const char *const levels[] = {"/glibc-hwcaps/x86-64-v4", "/glibc-hwcaps/x86-64-v3",
					     "/glibc-hwcaps/x86-64-v2", ""};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(levels); i++)
		rc = judge_front(seen, why, folder, levels[i], file, err);
	return rc;
}

static int judge_own_folders(struct seen *seen, struct error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < seen->image->count; i++) {
		const struct image_manifest_file *file = &seen->image->files[i];
		char *folder CLEANUP_FREE = path_directory(file->path);
		rc = folder != NULL ? judge_folder(seen, "glibc-hwcaps", folder, file, err)
				    : error_memory(err);
	}
	return rc;
}

static int judge_library_path(struct seen *seen, const char *value, struct error *err)
{
	struct text_list folders CLEANUP_TEXT_LIST = {0};
	char *copy CLEANUP_FREE = strdup(value);
	if (copy == NULL)
		return error_memory(err);
	for (char *at = strchr(copy, ';'); at != NULL; at = strchr(at, ';'))
		*at = ':';
	int rc = text_list_split(&folders, copy, ':', err);
	if (rc == 0 && (folders.count > TAMPER_LIBRARY_FOLDERS_MAX || strchr(value, '$') != NULL))
		return text_list_addf(seen->found, err, "LD_LIBRARY_PATH %s is not looked at whole",
				      value);
	for (size_t i = 0; rc == 0 && i < folders.count * seen->image->count; i++)
		rc = judge_folder(seen, "variable LD_LIBRARY_PATH",
				  folders.items[i / seen->image->count],
				  &seen->image->files[i % seen->image->count], err);
	return rc;
}

int tamper_find_seen(const struct grant *grant, const struct image_manifest *image,
		     const struct container_view *view, struct text_list *found, struct error *err)
{
	struct container_place *sources CLEANUP_FREE =
		calloc(grant->mounts.count + 1, sizeof(*sources));
	struct grant real CLEANUP_GRANT = {0};
	struct seen seen = {
		.grant = grant, .image = image, .view = view, .sources = sources, .found = found};
	if (sources == NULL)
		return error_memory(err);
	for (size_t i = 0; i < grant->mounts.count; i++)
		(void)container_host_place(grant->mounts.items[i].host_path, &sources[i]);
	int rc = read_real(&seen, &real, err);
	const char *folders = tamper_value(&real, "LD_LIBRARY_PATH");
	if (rc == 0)
		rc = tamper_find(&real, image, found, err);
	if (rc == 0 && found->count == 0)
		rc = judge_loader_places(&seen, &real, err);
	if (rc == 0)
		rc = judge_own_folders(&seen, err);
	return rc == 0 && folders != NULL ? judge_library_path(&seen, folders, err) : rc;
}
