/* SPDX-License-Identifier: MIT */
#include "reports/certificates/key_file.h"

#include <errno.h>
#include <sys/stat.h>

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
