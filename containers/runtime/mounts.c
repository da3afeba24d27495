/* SPDX-License-Identifier: MIT */
#include "containers/runtime/mounts.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>

enum { MOUNTINFO_MAX = 64 * 1024 * 1024, FIELD_MOUNT_POINT = 4 };

void mounts_free(struct mount_list *mounts)
{
	for (size_t i = 0; i < mounts->count; i++) {
		free(mounts->entries[i].mount_point);
		free(mounts->entries[i].type);
	}
	free(mounts->entries);
	*mounts = (struct mount_list){0};
}

static bool is_octal(char letter)
{
	return letter >= '0' && letter <= '7';
}

/* "\040" stands for a space, and so on. In place. */
static void mounts_unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from != '\0'; to++) {
		if (from[0] == '\\' && is_octal(from[1]) && is_octal(from[2]) &&
		    is_octal(from[3])) {
			*to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

static int mounts_add(struct mount_list *mounts, const char *mount_point, const char *type,
		      struct error *err)
{
	struct mount_entry *grown = NULL;
	struct mount_entry *entry = NULL;

	grown = reallocarray(mounts->entries, mounts->count + 1, sizeof(*grown));
	if (grown == NULL)
		return error_memory(err);
	mounts->entries = grown;
	entry = &grown[mounts->count];
	entry->mount_point = strdup(mount_point);
	entry->type = strdup(type);
	mounts->count++;
	if (entry->mount_point == NULL || entry->type == NULL)
		return error_memory(err);
	mounts_unescape(entry->mount_point);
	return 0;
}

/* ID PARENT MAJOR:MINOR ROOT MOUNT-POINT OPTIONS [FIELD...] "-" TYPE SOURCE OPTIONS */
static int mounts_parse_line(struct mount_list *mounts, const char *line, struct error *err)
{
	struct text_list fields CLEANUP_TEXT_LIST = {0};
	size_t dash = FIELD_MOUNT_POINT + 1;
	int rc = text_list_split(&fields, line, ' ', err);

	if (rc < 0)
		return rc;
	while (dash < fields.count && strcmp(fields.items[dash], "-") != 0)
		dash++;
	if (dash + 1 >= fields.count)
		return error_set(err, ERROR_FORMAT, "no file system type");
	return mounts_add(mounts, fields.items[FIELD_MOUNT_POINT], fields.items[dash + 1], err);
}

int mounts_parse(const char *text, struct mount_list *out, struct error *err)
{
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	struct mount_list mounts CLEANUP_MOUNTS = {0};
	int rc = text_list_split(&lines, text, '\n', err);

	for (size_t i = 0; rc == 0 && i < lines.count; i++) {
		if (lines.items[i][0] == '\0')
			continue;
		rc = mounts_parse_line(&mounts, lines.items[i], err);
		if (rc < 0)
			return error_wrap(err, rc, "mountinfo line %zu", i + 1);
	}
	if (rc < 0)
		return rc;
	*out = mounts;
	mounts = (struct mount_list){0};
	return 0;
}

int mounts_read(struct mount_list *out, struct error *err)
{
	char *text CLEANUP_FREE = NULL;
	int rc = file_read("/proc/self/mountinfo", MOUNTINFO_MAX, &text, NULL, err);

	return rc == 0 ? mounts_parse(text, out, err) : rc;
}

int mounts_undo_below(const char *directory, size_t *undone, struct error *err)
{
	struct mount_list mounts CLEANUP_MOUNTS = {0};
	int result = mounts_read(&mounts, err);

	if (result < 0)
		return result;
	for (size_t i = mounts.count; i-- > 0;) {
		const char *path = mounts.entries[i].mount_point;

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
