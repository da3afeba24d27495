/* SPDX-License-Identifier: MIT */
#include "reports/attest/key_file.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int key_file_create(const char *path, const void *data, size_t size, unsigned mode,
		    struct error *err)
{
	int fd CLEANUP_FD = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return error_system(err, errno, "%s", path);
	if (fchmod(fd, mode) == 0 && file_write_all(fd, data, size) && fsync(fd) == 0)
		return 0;
	int reason = errno;
	(void)unlink(path);
	return error_system(err, reason, "%s", path);
}

int key_file_check(int fd, const char *path, struct error *err)
{
	struct stat status = {0};
	if (fstat(fd, &status) < 0)
		return error_system(err, errno, "%s", path);
	return (status.st_mode & 077) == 0
		       ? 0
		       : error_set(err, ERROR_PERMISSION,
				   "%s: others may use this private key (mode %04o): chmod 600 %s",
				   path, (unsigned)(status.st_mode & 07777), path);
}
