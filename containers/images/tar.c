/* SPDX-License-Identifier: MIT */
#include "containers/images/tar.h"

#include "base/cleanup.h"
#include "base/file.h"

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

void tar_abandon(struct tar *tar)
{
	if (tar == NULL)
		return;
	(void)archive_write_free(tar->archive);
	free(tar->path);
	free(tar);
}

int tar_open(const char *path, struct tar **out, struct error *err)
{
	struct tar *tar = calloc(1, sizeof(*tar));
	int rc = 0;

	if (tar == NULL)
		return error_memory(err);
	tar->archive = archive_write_new();
	tar->path = strdup(path);
	if (tar->archive == NULL || tar->path == NULL)
		rc = error_memory(err);
	else if (archive_write_set_format_pax_restricted(tar->archive) != ARCHIVE_OK ||
		 archive_write_open_filename(tar->archive, path) != ARCHIVE_OK)
		rc = tar_error(tar, err);
	if (rc < 0) {
		tar_abandon(tar);
		return rc;
	}
	*out = tar;
	return 0;
}

/* Writes the header of an entry; `type` is AE_IFREG and so on. Names in a tar are relative. */
static int tar_add_header(struct tar *tar, const struct image_entry *from, unsigned type,
			  int64_t size, struct error *err)
{
	struct archive_entry *entry = archive_entry_new();
	int rc = 0;

	if (entry == NULL)
		return error_memory(err);
	archive_entry_set_pathname(entry, from->path + strspn(from->path, "/"));
	archive_entry_set_filetype(entry, type);
	archive_entry_set_perm(entry, from->mode);
	archive_entry_set_uid(entry, 0);
	archive_entry_set_gid(entry, 0);
	archive_entry_set_mtime(entry, 0, 0);
	archive_entry_set_size(entry, size);
	if (type == AE_IFLNK)
		archive_entry_set_symlink(entry, from->content);
	if (archive_write_header(tar->archive, entry) != ARCHIVE_OK)
		rc = tar_error(tar, err);
	archive_entry_free(entry);
	return rc;
}

static int tar_add_data(struct tar *tar, const void *data, size_t size, struct error *err)
{
	if (size > 0 && archive_write_data(tar->archive, data, size) != (la_ssize_t)size)
		return tar_error(tar, err);
	return 0;
}

static int tar_copy(struct tar *tar, int fd, int64_t left, const char *source, struct error *err)
{
	char chunk[65536];

	while (left > 0) {
		size_t count = 0;
		int rc = file_read_some(fd, source, chunk, sizeof(chunk), &count, err);

		if (rc < 0)
			return rc;
		if (count == 0 || (int64_t)count > left)
			return error_set(err, ERROR_IO, "%s: changed while it was read", source);
		rc = tar_add_data(tar, chunk, count, err);
		if (rc < 0)
			return rc;
		left -= (int64_t)count;
	}
	return 0;
}

static int tar_add_file(struct tar *tar, const struct image_entry *entry, struct error *err)
{
	int fd CLEANUP_FD = open(entry->content, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status = {0};
	int rc = 0;

	if (fd < 0 || fstat(fd, &status) < 0)
		return error_system(err, errno, "%s", entry->content);
	if (!S_ISREG(status.st_mode))
		return error_set(err, ERROR_ARGUMENT, "%s: not a regular file", entry->content);
	rc = tar_add_header(tar, entry, AE_IFREG, status.st_size, err);
	return rc < 0 ? rc : tar_copy(tar, fd, status.st_size, entry->content, err);
}

int tar_add(struct tar *tar, const struct image_entry *entry, struct error *err)
{
	size_t size = strlen(entry->content);
	int rc = 0;

	switch (entry->type) {
	case IMAGE_DIRECTORY:
		return tar_add_header(tar, entry, AE_IFDIR, 0, err);
	case IMAGE_LINK:
		return tar_add_header(tar, entry, AE_IFLNK, 0, err);
	case IMAGE_TEXT:
		rc = tar_add_header(tar, entry, AE_IFREG, (int64_t)size, err);
		return rc < 0 ? rc : tar_add_data(tar, entry->content, size, err);
	case IMAGE_FILE:
		break;
	}
	return tar_add_file(tar, entry, err);
}

int tar_close(struct tar *tar, struct error *err)
{
	int rc = archive_write_close(tar->archive) == ARCHIVE_OK ? 0 : tar_error(tar, err);

	tar_abandon(tar);
	return rc;
}
