/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "containers/inspect/internal.h"

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
	FIELDS_BEHIND_DASH = 4,
};

void container_mounts_free(struct container_mount *mounts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(mounts[i].root);
		free(mounts[i].target);
		free(mounts[i].type);
		free(mounts[i].source);
		free(mounts[i].host_path);
	}
	free(mounts);
}

static bool is_octal(char letter)
{
	return letter >= '0' && letter <= '7';
}

/* "\040" stands for a space, and so on. NULL: out of memory. */
static char *mount_unescape(const char *field)
{
	char *copy = strdup(field);
	char *to = copy;

	for (const char *from = field; copy != NULL && *from != '\0'; to++) {
		if (from[0] == '\\' && is_octal(from[1]) && is_octal(from[2]) &&
		    is_octal(from[3])) {
			*to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	if (copy != NULL)
		*to = '\0';
	return copy;
}

static bool has_option(const char *options, const char *wanted)
{
	size_t length = strlen(wanted);

	for (const char *at = options; at != NULL; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, wanted, length) == 0 && (at[length] == ',' || at[length] == '\0'))
			return true;
	}
	return false;
}

/* ID PARENT MAJOR:MINOR ROOT TARGET OPTIONS [TAG...] "-" TYPE SOURCE SUPER-OPTIONS */
static int mount_parse(const char *line, struct container_mount *mount, struct error *err)
{
	struct text_list fields CLEANUP_TEXT_LIST = {0};
	size_t dash = FIELD_TAGS;
	int rc = text_list_split(&fields, line, ' ', err);

	if (rc < 0)
		return rc;
	while (dash < fields.count && strcmp(fields.items[dash], "-") != 0)
		dash++;
	if (dash + FIELDS_BEHIND_DASH > fields.count ||
	    sscanf(line, "%d %d %u:%u ", &mount->id, &mount->parent, &mount->major,
		   &mount->minor) != 4)
		return error_set(err, ERROR_FORMAT, "not a mount");
	for (size_t i = FIELD_TAGS; i < dash; i++) {
		mount->shared = mount->shared || text_starts_with(fields.items[i], "shared:");
		mount->slave = mount->slave || text_starts_with(fields.items[i], "master:");
	}
	mount->read_only = has_option(fields.items[FIELD_OPTIONS], "ro") ||
			   has_option(fields.items[dash + 3], "ro");
	mount->nodev = has_option(fields.items[FIELD_OPTIONS], "nodev");
	mount->nosuid = has_option(fields.items[FIELD_OPTIONS], "nosuid");
	mount->noexec = has_option(fields.items[FIELD_OPTIONS], "noexec");
	mount->root = mount_unescape(fields.items[FIELD_ROOT]);
	mount->target = mount_unescape(fields.items[FIELD_TARGET]);
	mount->type = mount_unescape(fields.items[dash + 1]);
	mount->source = mount_unescape(fields.items[dash + 2]);
	return mount->root != NULL && mount->target != NULL && mount->type != NULL &&
			       mount->source != NULL
		       ? 0
		       : error_memory(err);
}

int container_mounts_parse(const char *text, struct container_mount **out, size_t *count,
			   struct error *err)
{
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	struct container_mount *mounts = NULL;
	size_t made = 0;
	int rc = text_list_split(&lines, text, '\n', err);

	mounts = calloc(lines.count + 1, sizeof(*mounts));
	if (mounts == NULL)
		return error_memory(err);
	for (size_t i = 0; rc == 0 && i < lines.count; i++) {
		if (lines.items[i][0] == '\0')
			continue;
		rc = mount_parse(lines.items[i], &mounts[made++], err);
		if (rc < 0)
			error_wrap(err, rc, "mountinfo line %zu", i + 1);
	}
	if (rc < 0) {
		container_mounts_free(mounts, made);
		return rc;
	}
	*out = mounts;
	*count = made;
	return 0;
}

/* The host's name of what is mounted there, if `host` is a mount that shows it. NULL: it does not,
 * or out of memory, in which case *failed. */
static char *mount_seen_through(const struct container_mount *mount,
				const struct container_mount *host, bool *failed)
{
	struct stat status = {0};
	char *path CLEANUP_FREE = NULL;
	char *joined CLEANUP_FREE = NULL;

	if (host->major != mount->major || host->minor != mount->minor ||
	    !path_is_within(mount->root, host->root))
		return NULL;
	joined = text_format("%s/%s", host->target,
			     mount->root + (strcmp(host->root, "/") == 0 ? 0 : strlen(host->root)));
	path = joined != NULL ? path_normalize(joined) : NULL;
	*failed = path == NULL;
	if (path == NULL || stat(path, &status) < 0 || status.st_dev != mount->device ||
	    status.st_ino != mount->inode)
		return NULL;
	return STEAL(path);
}

static int mount_look(struct container_mount *mount, int root, const struct container_mount *hosts,
		      size_t host_count, struct error *err)
{
	struct container_identity identity = {0};
	int fd CLEANUP_FD = container_open(root, mount->target, false);
	bool failed = false;

	mount->covered =
		fd < 0 || container_identify(fd, &identity) < 0 || identity.mount != mount->id;
	if (mount->covered)
		return 0;
	mount->directory = identity.type == S_IFDIR;
	mount->device = identity.device;
	mount->inode = identity.inode;
	for (size_t i = 0; mount->host_path == NULL && !failed && i < host_count; i++)
		mount->host_path = mount_seen_through(mount, &hosts[i], &failed);
	return failed ? error_memory(err) : 0;
}

int container_view_mounts(struct container_view *view, int root, struct error *err)
{
	char *own CLEANUP_FREE = NULL;
	char *text CLEANUP_FREE = NULL;
	struct container_mount *hosts = NULL;
	size_t host_count = 0;
	int rc = proc_read(view->pid, "mountinfo", &text, NULL, err);

	rc = rc == 0 ? container_mounts_parse(text, &view->mounts, &view->mount_count, err) : rc;
	rc = rc == 0 ? file_read("/proc/self/mountinfo", PROC_FILE_MAX, &own, NULL, err) : rc;
	rc = rc == 0 ? container_mounts_parse(own, &hosts, &host_count, err) : rc;
	for (size_t i = 0; rc == 0 && i < view->mount_count; i++)
		rc = mount_look(&view->mounts[i], root, hosts, host_count, err);
	container_mounts_free(hosts, host_count);
	return rc;
}
