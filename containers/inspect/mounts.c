/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/path.h"
#include "containers/inspect/internal.h"

#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
	FIELD_ID,
	FIELD_PARENT,
	FIELD_DEVICE,
	FIELD_ROOT,
	FIELD_TARGET,
	FIELD_OPTIONS,
	FIELD_TAGS, /* any number, up to "-" */
	FIELDS_AFTER_DASH = 4,
};

void container_mounts_free(struct container_mounts *mounts)
{
	arena_free(&mounts->arena);
	*mounts = (struct container_mounts){0};
}

static bool is_octal(char letter)
{
	return letter >= '0' && letter <= '7';
}

/* "\040" stands for a space, and so on; in place. */
static const char *unescape(struct arena *arena, char *field)
{
	char *to = field;
	for (const char *from = field; *from != '\0'; to++) {
		if (from[0] == '\\' && is_octal(from[1]) && is_octal(from[2]) &&
		    is_octal(from[3])) {
			*to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
	return arena_string(arena, field);
}

static bool has_option(char *options, const char *wanted)
{
	return hasmntopt(&(struct mntent){.mnt_opts = options}, wanted) != NULL;
}

/* ID PARENT MAJOR:MINOR ROOT TARGET OPTIONS [TAG...] "-" TYPE SOURCE SUPER-OPTIONS */
static int parse(const char *line, struct arena *arena, struct container_mount *mount,
		 struct error *err)
{
	struct text_list fields CLEANUP_TEXT_LIST = {0};
	text_list_split(&fields, line, ' ');
	size_t dash = FIELD_TAGS;
	while (dash < fields.count && !text_equal(fields.items[dash], "-"))
		dash++;
	if (dash + FIELDS_AFTER_DASH > fields.count ||
	    sscanf(line, "%d %*d %u:%u ", &mount->id, &mount->major, &mount->minor) != 3)
		return error_set(err, ERROR_FORMAT, "not a mount");
	for (size_t i = FIELD_TAGS; i < dash; i++)
		mount->shared = mount->shared || text_starts_with(fields.items[i], "shared:");
	mount->read_only = has_option(fields.items[FIELD_OPTIONS], "ro") ||
			   has_option(fields.items[dash + 3], "ro");
	mount->nodev = has_option(fields.items[FIELD_OPTIONS], "nodev");
	mount->root = unescape(arena, fields.items[FIELD_ROOT]);
	mount->target = unescape(arena, fields.items[FIELD_TARGET]);
	mount->type = unescape(arena, fields.items[dash + 1]);
	return 0;
}

int container_mounts_parse(const char *text, struct container_mounts *out, struct error *err)
{
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	text_list_split(&lines, text, '\n');
	struct container_mounts mounts CLEANUP_CONTAINER_MOUNTS = {0};
	mounts.items = arena_allocate(&mounts.arena, (lines.count + 1) * sizeof(*mounts.items));
	for (size_t i = 0; i < lines.count; i++) {
		if (lines.items[i][0] == '\0')
			continue;
		int rc = parse(lines.items[i], &mounts.arena, &mounts.items[mounts.count++], err);
		if (rc < 0)
			return error_wrap(err, rc, "mountinfo line %zu", i + 1);
	}
	*out = STEAL(mounts);
	return 0;
}

int container_mounts_read(int64_t pid, struct container_mounts *out, struct error *err)
{
	char *text CLEANUP_FREE = NULL;
	int rc = proc_read(pid, "mountinfo", &text, NULL, err);
	return rc == 0 ? container_mounts_parse(text, out, err) : rc;
}

/* The host's path of the mounted file or directory, if `host` is a mount that shows it; else NULL. */
static const char *find_host_path(struct arena *arena, const struct container_mount *mount,
				  const struct container_mount *host)
{
	if (host->major != mount->major || host->minor != mount->minor ||
	    !path_is_within(mount->root, host->root))
		return NULL;
	size_t host_root = text_equal(host->root, "/") ? 0 : strlen(host->root);
	char *joined CLEANUP_FREE = text_format("%s/%s", host->target, mount->root + host_root);
	char *path CLEANUP_FREE = path_normalize(joined);
	struct stat status = {0};
	bool same = stat(path, &status) == 0 && status.st_dev == mount->device &&
		    status.st_ino == mount->inode;
	return same ? arena_string(arena, path) : NULL;
}

int container_view_mounts(struct container_view *view, int root, struct error *err)
{
	struct container_mounts hosts CLEANUP_CONTAINER_MOUNTS = {0};
	int rc = container_mounts_read(view->pid, &view->mounts, err);
	if (rc == 0)
		rc = container_mounts_read(0, &hosts, err);
	for (size_t i = 0; rc == 0 && i < view->mounts.count; i++) {
		struct container_mount *mount = &view->mounts.items[i];
		struct container_identity identity = {0};
		int fd CLEANUP_FD = container_open(root, mount->target, false);
		mount->covered = fd < 0 || container_identify(fd, "", &identity) < 0 ||
				 identity.mount != mount->id;
		if (mount->covered)
			continue;
		mount->device = identity.device;
		mount->inode = identity.inode;
		for (size_t j = 0; j < hosts.count; j++) {
			const struct container_mount *host = &hosts.items[j];
			if (mount->host_path == NULL)
				mount->host_path = find_host_path(&view->arena, mount, host);
			if (text_equal(host->target, "/") && host->major == mount->major &&
			    host->minor == mount->minor)
				mount->on_host_root = true;
		}
	}
	return rc;
}
