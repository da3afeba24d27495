/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/elf.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* elf_read() of a file that holds these bytes. */
static inline int elf_read_bytes(const void *data, size_t size, struct elf_info *out,
				 struct error *err)
{
	char path[64] = "";
	int fd = memfd_create("elf", MFD_CLOEXEC);
	int rc = 0;
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = elf_read(path, out, err);
	(void)close(fd);
	return rc;
}
