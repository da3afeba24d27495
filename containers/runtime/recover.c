/* SPDX-License-Identifier: MIT */
#include "containers/runtime/runtime.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "containers/cri/sweep.h"
#include "containers/runtime/directory.h"
#include "containers/runtime/owner.h"
#include "containers/runtime/remains.h"
#include "rpc/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { UNOWNED_SECONDS = 60, DRAIN_TIMEOUT_MS = 5000 };

/* A lock on the directory itself, held while recovering, so that two runs do not clean the same
 * directory at once. */
static int recover_lock(const char *base, int *lock, struct error *err)
{
	int fd CLEANUP_FD = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return error_system(err, errno, "%s", base);
	while (flock(fd, LOCK_EX) < 0) {
		if (errno != EINTR)
			return error_system(err, errno, "lock %s", base);
	}
	*lock = STEAL_FD(fd);
	return 0;
}

/* A directory without an owner is being made, or its maker died between two steps. */
static bool recover_is_stale(const char *directory)
{
	struct stat status = {0};

	return stat(directory, &status) == 0 && time(NULL) - status.st_mtime > UNOWNED_SECONDS;
}

/* Removes what a dead run left in a runtime that was not its own. A runtime that does not answer
 * any more holds nothing of it. */
static int recover_attached(const char *directory, const char *address, struct error *err)
{
	struct cri *cri = NULL;
	uv_loop_t loop = {0};
	int rc = uv_loop_init(&loop);

	if (rc < 0)
		return error_uv(err, rc, "event loop");
	rc = cri_open(&loop, address, &cri, NULL);
	rc = rc == 0 ? cri_sweep(cri, path_base(directory), NULL, NULL, err) : 0;
	cri_close(cri);
	(void)loop_drain(&loop, DRAIN_TIMEOUT_MS, NULL);
	return rc;
}

static int recover_directory(const char *directory, struct runtime_recovered *recovered,
			     struct error *err)
{
	struct error unreadable = {0};
	enum owner_state state = OWNER_FOREIGN;
	char *address CLEANUP_FREE = NULL;
	int rc = owner_read(directory, &state, &address, &unreadable);

	if (rc == ERROR_NOT_FOUND && !recover_is_stale(directory))
		return 0;
	if (rc < 0 && rc != ERROR_NOT_FOUND)
		return error_set(err, unreadable.code, "%s", unreadable.text);
	if (rc == 0 && state != OWNER_DEAD)
		return 0;
	rc = address != NULL ? recover_attached(directory, address, err) : 0;
	if (rc == 0)
		rc = remains_remove(directory, recovered, err);
	if (rc == 0)
		recovered->directories++;
	return rc;
}

static bool is_run_directory(const char *name)
{
	return text_starts_with(name, RUN_DIRECTORY_PREFIX) ||
	       text_starts_with(name, NEW_DIRECTORY_PREFIX);
}

int runtime_recover(const char *base_directory, struct runtime_recovered *recovered,
		    struct error *err)
{
	const char *base = base_directory != NULL ? base_directory : RUNTIME_BASE_DIRECTORY;
	struct runtime_recovered ignored = {0};
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int lock CLEANUP_FD = -1;
	int result = 0;

	if (recovered == NULL)
		recovered = &ignored;
	*recovered = (struct runtime_recovered){0};
	if (!file_is_directory(base))
		return 0;
	result = recover_lock(base, &lock, err);
	if (result == 0)
		result = file_list(base, &names, err);
	for (size_t i = 0; i < names.count; i++) {
		char *directory CLEANUP_FREE = path_join(base, names.items[i]);
		struct error one = {0};

		if (directory == NULL)
			return error_memory(err);
		if (!is_run_directory(names.items[i]) ||
		    recover_directory(directory, recovered, &one) == 0 || result < 0)
			continue;
		result = error_set(err, one.code, "%s", one.text);
	}
	if (recovered->directories > 0)
		(void)rmdir(base);
	return result;
}
