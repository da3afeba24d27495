/* SPDX-License-Identifier: MIT */
/*
 * Digests of files in containers. A run launches dozens of containers from one image, whose files
 * are those of one layer each time: a run reads them once, and then recognises them by inode, size
 * and times. Why that proves as much as reading them again:
 *
 * - Only two kinds of files are recognised: those of the container's root file system, which is an
 *   overlay of the image's layer, and those of mounts of the kernel's own file systems, by device
 *   number. A file system that a program serves (FUSE, network) may report any time: its files are
 *   read at each inspection.
 * - A container cannot change the layer. A file that it writes to is copied into the container's own
 *   layer first, and the copy has another change time (ctime), which only the kernel sets.
 * - Two changes within one tick of the kernel's clock, up to 2 s on some file systems, look like one.
 *   So a file that changed shortly before it was read is not recorded, nor one whose times changed
 *   meanwhile.
 * - An overlay has a device number of its own for each container, but the inodes of the layer's file
 *   system. A file of another layer with the same inode, size and times to the nanosecond does not
 *   occur in a run.
 * - The records lie in the run's own folder and are removed with it. Root on the node could write
 *   there, or change the layer and turn back the clock; nothing here protects against root
 *   (docs/threat-model.md).
 *
 * base/digest_cache.h knows files by path and by their real device number, and so does not fit.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "containers/inspect/internal.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS_MAX_BYTES = 64 * 1024 * 1024 };

static const int64_t settled_ns = 3LL * 1000 * 1000 * 1000;

/* A record of the file, which only processes of one build share. */
struct container_digest {
	uint64_t device, inode, size; /* device 0: the container's root */
	int64_t modified_ns, changed_ns;
	char digest[DIGEST_SIZE];
};

int container_digests_read(struct container_view *view, struct error *err)
{
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	if (view->digests_file == NULL || !file_exists(view->digests_file))
		return 0;
	int rc = file_read(view->digests_file, RECORDS_MAX_BYTES, &data, &size, err);
	if (rc < 0)
		return rc;
	size_t count = size / sizeof(struct container_digest);
	struct container_digest *digests =
		arena_allocate(&view->arena, (count + 1) * sizeof(*digests));
	memcpy(digests, data, count * sizeof(*digests));
	view->digests = digests;
	view->digest_count = count;
	return 0;
}

/* False: the file must be read each time. */
static bool identify(const struct container_view *view, int fd, struct container_digest *out)
{
	/* File systems whose files' times only the kernel sets. */
	static const char *const types[] = {"ext2",	"ext3",	 "ext4",    "xfs",
					    "btrfs",	"f2fs",	 "overlay", "erofs",
					    "squashfs", "tmpfs", NULL};
	struct container_identity file = {0};
	if (view->digests_file == NULL || container_identify(fd, "", &file) < 0)
		return false;
	const struct container_mount *mount = container_mount_by_id(view, file.mount);
	if (mount == NULL)
		return false;
	const bool root = strcmp(mount->target, "/") == 0;
	*out = (struct container_digest){root ? 0 : file.device, file.inode,	  file.size,
					 file.modified_ns,	 file.changed_ns, ""};
	if (root)
		return strcmp(mount->type, "overlay") == 0;
	return types[text_position(types, mount->type)] != NULL;
}

static bool is_same(const struct container_digest *known, const struct container_digest *file)
{
	return known->device == file->device && known->inode == file->inode &&
	       known->size == file->size && known->modified_ns == file->modified_ns &&
	       known->changed_ns == file->changed_ns;
}

int container_digest_file(const struct container_view *view, int fd, char digest[DIGEST_SIZE],
			  struct error *err)
{
	char *path CLEANUP_FREE = text_format("/proc/self/fd/%d", fd);
	struct container_digest record = {0};
	int64_t began = clock_realtime_ns();
	if (!identify(view, fd, &record))
		return digest_file(path, digest, NULL, err);

	for (size_t i = 0; i < view->digest_count; i++) {
		if (!is_same(&view->digests[i], &record))
			continue;
		memcpy(digest, view->digests[i].digest, DIGEST_SIZE);
		return 0;
	}

	int rc = digest_file(path, record.digest, NULL, err);
	if (rc < 0)
		return rc;
	memcpy(digest, record.digest, DIGEST_SIZE);
	struct container_digest after = {0};
	if (!identify(view, fd, &after) || !is_same(&record, &after) ||
	    record.changed_ns >= began - settled_ns)
		return 0;
	/* One write for each record: several processes may append. A lost record costs another reading. */
	int records CLEANUP_FD =
		open(view->digests_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (records >= 0)
		(void)file_write_all(records, &record, sizeof(record));
	return 0;
}
