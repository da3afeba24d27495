/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include "base/cleanup.h"
#include "base/path.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RESOLVE_LINKS_MAX = 40 }; /* the kernel's limit */

struct resolve {
	const char *root;
	struct text done;    /* the resolved part: "" is the root directory */
	struct text pending; /* the rest of the path, from `next` on */
	size_t next;
	unsigned links;
};

static void resolve_drop_last(struct text *done)
{
	const char *slash = strrchr(text_string(done), '/');
	if (slash == NULL)
		return;
	done->size = (size_t)(slash - done->data);
	done->data[done->size] = '\0';
}

static int resolve_component(struct resolve *walk, const char *name, size_t length,
			     struct error *err)
{
	struct text pending CLEANUP_TEXT = {0};
	struct stat status = {0};
	char target[PATH_MAX];
	if (length == 2 && memcmp(name, "..", 2) == 0) {
		resolve_drop_last(&walk->done);
		return 0;
	}
	text_add(&walk->done, "/");
	text_append(&walk->done, name, length);
	char *path CLEANUP_FREE = text_format("%s%s", walk->root, text_string(&walk->done));
	if (path == NULL || walk->done.failed)
		return error_memory(err);
	if (lstat(path, &status) < 0)
		return error_system(err, errno == ENOTDIR ? ENOENT : errno, "%s", path);
	if (!S_ISLNK(status.st_mode))
		return 0;

	/* The link's target is put in front of the rest. */
	const ssize_t size = readlink(path, target, sizeof(target));
	if (size < 0)
		return error_system(err, errno, "%s", path);
	if (++walk->links > RESOLVE_LINKS_MAX)
		return error_set(err, ERROR_LIMIT, "%s: too many symbolic links", path);
	text_append(&pending, target, (size_t)size);
	text_add(&pending, "/");
	text_add(&pending, text_string(&walk->pending) + walk->next);
	if (pending.failed)
		return error_memory(err);
	if (target[0] == '/')
		text_reset(&walk->done);
	else
		resolve_drop_last(&walk->done);
	text_free(&walk->pending);
	walk->pending = STEAL(pending);
	walk->next = 0;
	return 0;
}

int file_resolve(const char *root, const char *path, char **resolved, struct error *err)
{
	struct resolve walk = {.root = root != NULL && strcmp(root, "/") != 0 ? root : ""};
	if (!path_is_absolute(path))
		return error_set(err, ERROR_FORMAT, "%s: not an absolute path", path);
	text_add(&walk.pending, path);
	text_add(&walk.done, "");
	int rc = walk.pending.failed || walk.done.failed ? error_memory(err) : 0;
	while (rc == 0) {
		const char *name = text_string(&walk.pending) + walk.next;
		size_t length = strcspn(name, "/");
		if (*name == '\0')
			break;
		walk.next += length + (name[length] == '/' ? 1 : 0);
		if (length != 0 && !(length == 1 && name[0] == '.'))
			rc = resolve_component(&walk, name, length, err);
	}
	if (rc == 0 && walk.done.size == 0)
		text_add(&walk.done, "/");
	if (rc == 0) {
		*resolved = text_take(&walk.done);
		rc = *resolved != NULL ? 0 : error_memory(err);
	}
	text_free(&walk.done);
	text_free(&walk.pending);
	return rc;
}
