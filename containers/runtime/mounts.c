/* SPDX-License-Identifier: MIT */
#include "containers/runtime/mounts.h"

#include "base/cleanup.h"
#include "base/path.h"

#include <errno.h>
#include <string.h>
#include <sys/mount.h>

int mounts_undo_below(const char *directory, size_t *undone, struct error *err)
{
	struct container_mounts mounts CLEANUP_CONTAINER_MOUNTS = {0};
	int result = container_mounts_read("self", &mounts, err);
	if (result < 0)
		return result;
	for (size_t i = mounts.count; i-- > 0;) {
		const char *path = mounts.items[i].target;
		if (!path_is_within(path, directory) || strcmp(path, directory) == 0)
			continue;
		if (umount2(path, UMOUNT_NOFOLLOW) < 0 &&
		    umount2(path, UMOUNT_NOFOLLOW | MNT_DETACH) < 0) {
			/* Gone with a mount above it. */
			if (errno != EINVAL && errno != ENOENT && result == 0)
				result = error_system(err, errno, "unmount %s", path);
		} else if (undone != NULL) {
			(*undone)++;
		}
	}
	return result;
}
