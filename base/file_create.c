/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include "base/cleanup.h"
#include "base/file_internal.h"

#include <unistd.h>
#include <uv.h>

int file_create(const char *path, const void *data, size_t size, unsigned mode, struct error *err)
{
	char *native CLEANUP_FREE = file_native_path(path);
	uv_fs_t request CLEANUP(uv_fs_req_cleanup) = {0};
	if (native == NULL)
		return error_memory(err);
	/* An empty file claims the name; the file with the content and its mode then replaces it. */
	int fd = uv_fs_open(NULL, &request, native, UV_FS_O_WRONLY | UV_FS_O_CREAT | UV_FS_O_EXCL,
			    (int)mode, NULL);
	if (fd < 0)
		return error_uv(err, fd, "%s", path);
	(void)close(fd);
	int rc = file_write_atomic(path, data, size, mode, err);
	if (rc < 0)
		(void)file_remove_tree(path, NULL);
	return rc;
}
