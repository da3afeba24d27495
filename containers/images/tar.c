/* SPDX-License-Identifier: MIT */
#include "containers/images/internal.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tar {
	struct archive *archive;
	char *path;
};

static int tar_error(const struct tar *tar, struct error *err)
{
	const char *text = archive_error_string(tar->archive);
	int reason = archive_errno(tar->archive);
	if (reason > 0)
		return error_system(err, reason, "%s", tar->path);
	return error_set(err, ERROR_IO, "%s: %s", tar->path,
			 text != NULL ? text : "cannot be written");
}

void tar_free(struct tar **tar)
{
	if (*tar == NULL)
		return;
	(void)archive_write_free((*tar)->archive);
	free((*tar)->path);
	free(*tar);
}

int tar_open(const char *path, struct tar **out, struct error *err)
{
	struct tar *tar CLEANUP_TAR = memory_allocate(1, sizeof(*tar));
	tar->path = memory_copy(path);
	tar->archive = archive_write_new();
	if (tar->archive == NULL)
		return error_memory(err);
	if (archive_write_set_format_pax_restricted(tar->archive) != ARCHIVE_OK ||
	    archive_write_open_filename(tar->archive, path) != ARCHIVE_OK)
		return tar_error(tar, err);
	*out = STEAL(tar);
	return 0;
}

/* Names in a tar are relative. */
static int add_header(struct tar *tar, const struct image_entry *from, int64_t size,
		      struct error *err)
{
	static const unsigned types[] = {
		[IMAGE_DIRECTORY] = AE_IFDIR,
		[IMAGE_LINK] = AE_IFLNK,
		[IMAGE_TEXT] = AE_IFREG,
		[IMAGE_FILE] = AE_IFREG,
	};
	struct archive_entry *entry = archive_entry_new();
	int rc = 0;
	if (entry == NULL)
		return error_memory(err);
	archive_entry_set_pathname(entry, from->path + strspn(from->path, "/"));
	archive_entry_set_filetype(entry, types[from->type]);
	archive_entry_set_perm(entry, from->mode);
	archive_entry_set_uid(entry, 0);
	archive_entry_set_gid(entry, 0);
	archive_entry_set_mtime(entry, 0, 0);
	archive_entry_set_size(entry, size);
	if (from->type == IMAGE_LINK)
		archive_entry_set_symlink(entry, from->content);
	if (archive_write_header(tar->archive, entry) != ARCHIVE_OK)
		rc = tar_error(tar, err);
	archive_entry_free(entry);
	return rc;
}

static int add_data(struct tar *tar, const void *data, size_t size, struct error *err)
{
	if (size > 0 && archive_write_data(tar->archive, data, size) != (la_ssize_t)size)
		return tar_error(tar, err);
	return 0;
}

int tar_add(struct tar *tar, const struct image_entry *entry, struct error *err)
{
	const char *source = entry->content;
	if (entry->type != IMAGE_FILE) {
		size_t size = entry->type == IMAGE_TEXT ? strlen(source) : 0;
		int rc = add_header(tar, entry, (int64_t)size, err);
		return rc < 0 ? rc : add_data(tar, source, size, err);
	}

	int fd CLEANUP_FD = open(source, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status = {0};
	if (fd < 0 || fstat(fd, &status) < 0)
		return error_system(err, errno, "%s", source);
	if (!S_ISREG(status.st_mode))
		return error_set(err, ERROR_ARGUMENT, "%s: not a regular file", source);

	char chunk[65536];
	int rc = add_header(tar, entry, status.st_size, err);
	for (int64_t left = status.st_size; rc == 0 && left > 0;) {
		size_t count = 0;
		rc = file_read_some(fd, source, chunk, sizeof(chunk), &count, err);
		if (rc < 0)
			return rc;
		if (count == 0 || (int64_t)count > left)
			return error_set(err, ERROR_IO, "%s: changed while it was read", source);
		rc = add_data(tar, chunk, count, err);
		left -= (int64_t)count;
	}
	return rc;
}

int tar_finish(struct tar *tar, struct error *err)
{
	if (archive_write_close(tar->archive) != ARCHIVE_OK)
		return tar_error(tar, err);
	return 0;
}
