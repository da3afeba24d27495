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
 * In the records the device of the container's root is 0.
 */
#include "base/cleanup.h"
#include "containers/inspect/internal.h"

struct opened {
	const struct container_view *view;
	int fd;
};

static bool identify(const void *user, struct file_status *out)
{
	const struct opened *opened = user;
	const struct container_view *view = opened->view;
	/* File systems whose files' times only the kernel sets. */
	static const char *const types[] = {"ext2",	"ext3",	 "ext4",    "xfs",
					    "btrfs",	"f2fs",	 "overlay", "erofs",
					    "squashfs", "tmpfs", NULL};
	struct container_identity file = {0};
	if (container_identify(opened->fd, "", &file) < 0)
		return false;
	const struct container_mount *mount = container_mount_by_id(view, file.mount);
	if (mount == NULL)
		return false;
	const bool root = text_equal(mount->target, "/");
	*out = (struct file_status){
		.device = root ? 0 : file.device,
		.inode = file.inode,
		.size = file.size,
		.modified_ns = file.modified_ns,
		.changed_ns = file.changed_ns,
	};
	if (root)
		return text_equal(mount->type, "overlay");
	return types[text_position(types, mount->type)] != NULL;
}

int container_digest_file(const struct container_view *view, int fd, char digest[DIGEST_SIZE],
			  struct error *err)
{
	char *path CLEANUP_FREE = text_format("/proc/self/fd/%d", fd);
	const struct opened opened = {.view = view, .fd = fd};
	return digest_cache_read(view->digests, path, identify, &opened, digest, err);
}
