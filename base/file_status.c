/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include "base/cleanup.h"
#include "base/file_internal.h"

#include <sys/stat.h>
#include <uv.h>

static int64_t in_ns(const uv_timespec_t *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

int file_status(const char *path, bool follow, struct file_status *out, struct error *err)
{
	char *native CLEANUP_FREE = file_native_path(path);
	uv_fs_t request CLEANUP(uv_fs_req_cleanup) = {0};
	if (native == NULL)
		return error_memory(err);
	int rc = follow ? uv_fs_stat(NULL, &request, native, NULL)
			: uv_fs_lstat(NULL, &request, native, NULL);
	if (rc < 0)
		return error_uv(err, rc, "%s", path);
	const unsigned type = (unsigned)request.statbuf.st_mode & S_IFMT;
	*out = (struct file_status){
		.kind = type == S_IFREG	  ? FILE_REGULAR
			: type == S_IFDIR ? FILE_DIRECTORY
			: type == S_IFLNK ? FILE_LINK
					  : FILE_OTHER,
		.size = request.statbuf.st_size,
		.device = request.statbuf.st_dev,
		.inode = request.statbuf.st_ino,
		.modified_ns = in_ns(&request.statbuf.st_mtim),
		.changed_ns = in_ns(&request.statbuf.st_ctim),
	};
	return 0;
}

int file_read_regular(const char *path, bool follow, size_t max, char **data, size_t *size,
		      struct error *err)
{
	static const char *const names[] = {[FILE_DIRECTORY] = "a folder, not a file",
					    [FILE_LINK] = "a link, which is not followed; name the "
							  "file that it leads to",
					    [FILE_OTHER] = "a pipe or a device, not a file"};
	struct file_status status = {0};
	int rc = file_status(path, follow, &status, err);
	if (rc < 0)
		return rc;
	if (status.kind != FILE_REGULAR)
		return error_set(err, ERROR_FORMAT, "%s: %s", path, names[status.kind]);
	if (status.size > max)
		return error_set(err, ERROR_LIMIT, "%s: longer than %zu bytes", path, max);
	return file_read(path, max, data, size, err);
}
