/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/path.h"
#include "containers/inspect/internal.h"

#include <sys/stat.h>
#include <unistd.h>

/* "PATH: WHAT, on the mount /lib of the host's /opt/lib"; no mount for a file of the image's own
 * layer. */
static void add_difference(struct text_list *differences, const char *path, const char *what,
			   const struct container_mount *mount)
{
	struct text sentence = {0};
	text_addf(&sentence, "%s: %s", path, what);
	if (mount != NULL && !text_equal(mount->target, "/")) {
		text_addf(&sentence, ", on the mount %s", mount->target);
		if (mount->host_path != NULL)
			text_addf(&sentence, " of the host's %s", mount->host_path);
	}
	text_list_take(differences, text_take(&sentence));
}

static int see_in(const struct container_view *view, int root, const char *path,
		  struct container_observation *out, struct error *err)
{
	struct container_identity identity = {0};
	int fd CLEANUP_FD = container_open(root, path, true);
	*out = (struct container_observation){0};
	if (fd < 0 || container_identify(fd, "", &identity) < 0)
		return 0;
	*out = (struct container_observation){
		.there = true,
		.file = identity.type == S_IFREG,
		.place = {identity.device, identity.inode},
		.mount = container_mount_by_id(view, identity.mount),
	};
	return out->file ? container_digest_file(view, fd, out->digest, err) : 0;
}

int container_observe(const struct container_view *view, const char *path,
		      struct container_observation *out, struct error *err)
{
	int root CLEANUP_FD = -1;
	int rc = container_open_root(view->pid, &root, err);
	return rc == 0 ? see_in(view, root, path, out, err) : rc;
}

bool container_host_place(const char *path, struct container_place *out)
{
	struct stat status = {0};
	if (stat(path, &status) < 0)
		return false;
	*out = (struct container_place){status.st_dev, status.st_ino};
	return true;
}

int container_compare(const struct container_view *view, const struct image_manifest *manifest,
		      struct text_list *differences, struct error *err)
{
	int root CLEANUP_FD = -1;
	int rc = container_open_root(view->pid, &root, err);
	if (rc < 0)
		return rc;

	/* The image's files, as the container sees them now. */
	for (size_t i = 0; i < manifest->count; i++) {
		const struct image_manifest_file *file = &manifest->files[i];
		struct container_observation observation = {0};
		rc = see_in(view, root, file->path, &observation, err);
		if (rc < 0)
			return rc;
		if (!observation.there && manifest->complete)
			add_difference(differences, file->path,
				       "is missing, and the image holds it", NULL);
		else if (observation.there && !observation.file)
			add_difference(differences, file->path, "is not a file, as in the image",
				       observation.mount);
		else if (observation.file && !text_equal(observation.digest, file->digest))
			add_difference(differences, file->path, "is another file than the image's",
				       observation.mount);
	}

	/* The files that the process has mapped. */
	for (size_t i = 0; i < view->file_count; i++) {
		const struct container_file *file = &view->files[i];
		const struct container_mount *mount = container_mount_of(view, file->path);
		bool on_image = mount != NULL && text_equal(mount->target, "/");
		if (image_manifest_holds(manifest, file->digest) == NULL &&
		    (manifest->complete || !on_image))
			add_difference(differences, file->path,
				       text_equal(file->path, view->exe)
					       ? "runs, and is not the image's program"
					       : "was loaded into the program, and is not the "
						 "image's",
				       mount);
	}
	return 0;
}

static bool is_within_any(const char *path, const char *const *places)
{
	while (*places != NULL && !path_is_within(path, *places))
		places++;
	return *places != NULL;
}

int container_written(const struct container_view *view, const struct image_manifest *manifest,
		      struct text_list *found, struct text_list *usual, struct error *err)
{
	/* Text files that the image or a runtime creates. */
	static const char *const texts[] = {
		"/etc/group", "/etc/passwd", "/etc/hostname", "/etc/hosts", "/etc/resolv.conf",
		"/etc/mtab",  "/dev",	     "/run",	      NULL};
	static const char *const linker[] = {"/etc/ld.so.cache", "/etc/ld.so.conf.d",
					     "/var/cache/ldconfig", NULL};
	if (!manifest->complete)
		return 0;
	int root CLEANUP_FD = -1;
	int rc = container_open_root(view->pid, &root, err);
	for (size_t i = 0; rc == 0 && i < view->layer.count; i++) {
		const char *path = view->layer.items[i];
		struct container_observation observation = {0};
		if (image_manifest_find(manifest, path) != NULL || is_within_any(path, texts))
			continue;
		rc = see_in(view, root, path, &observation, err);
		if (rc == 0 && observation.file &&
		    image_manifest_holds(manifest, observation.digest) == NULL)
			text_list_add(is_within_any(path, linker) ? usual : found, path);
	}
	return rc;
}
