/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "containers/runtime/remains.h"
#include "containers/runtime/runtime_internal.h"
#include "rpc/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	UNOWNED_SECONDS = 60,
	AWAY_SECONDS = 24 * 60 * 60,
	DRAIN_TIMEOUT_MS = 5000,
};

/* Removes the images that a dead run imported into a runtime that was not its own, and that no other run uses. */
static int recover_images(struct cri *cri, const char *directory, const char *address,
			  struct error *err)
{
	struct text_list references CLEANUP_TEXT_LIST = {0};
	int rc = run_directory_imported(directory, &references, err);
	for (size_t i = 0; rc == 0 && i < references.count; i++) {
		if (!run_directory_shares_image(directory, address, references.items[i]))
			rc = cri_remove_image_wait(cri, references.items[i], err);
	}
	return rc;
}

static bool is_older_than(const char *directory, int64_t seconds)
{
	struct stat status = {0};
	return stat(directory, &status) == 0 && time(NULL) - status.st_mtime > seconds;
}

/* Removes the directory, whose owner is certainly dead, and everything else that it left. */
static int recover_dead(const struct runtime_recovery *recovery, const char *directory,
			const char *address, size_t *recovered, struct error *err)
{
	char *work CLEANUP_FREE = path_join(directory, "work");
	if (address != NULL) {
		struct cri *cri = NULL;
		uv_loop_t loop = {0};
		int rc = uv_loop_init(&loop);
		if (rc < 0)
			return error_uv(err, rc, "event loop");
		/* Containers outlive a restart of their runtime. A runtime that stays away was removed, with its
		 * containers. */
		rc = cri_open(&loop, address, &cri, err);
		if (rc == 0)
			rc = cri_sweep(cri, path_base(directory), NULL, NULL, err);
		if (rc == 0)
			rc = recover_images(cri, directory, address, err);
		if (cri == NULL && is_older_than(directory, AWAY_SECONDS))
			rc = 0;
		cri_close(cri);
		(void)loop_drain(&loop, DRAIN_TIMEOUT_MS, NULL);
		if (rc < 0)
			return rc;
	}
	if (recovery->on_dead != NULL)
		recovery->on_dead(file_is_directory(work) ? work : directory, recovery->user);
	int rc = remains_remove(directory, err);
	if (rc == 0)
		(*recovered)++;
	return rc;
}

static int recover_directory(const struct runtime_recovery *recovery, const char *directory,
			     size_t *recovered, struct error *err)
{
	const char *name = path_base(directory);
	struct error unreadable = {0};
	enum owner_state state = OWNER_FOREIGN;
	char *address CLEANUP_FREE = NULL;
	if (!text_starts_with(name, RUN_DIRECTORY_PREFIX) &&
	    !text_starts_with(name, NEW_DIRECTORY_PREFIX))
		return 0;
	int rc = owner_read(directory, &state, &address, &unreadable);
	if (rc < 0 && rc != ERROR_NOT_FOUND)
		return error_copy(err, &unreadable);
	if (rc == 0 && state != OWNER_DEAD)
		return 0;
	/* A directory without an owner is being made, or its maker died between two steps. */
	if (rc == ERROR_NOT_FOUND && !is_older_than(directory, UNOWNED_SECONDS))
		return 0;
	return recover_dead(recovery, directory, address, recovered, err);
}

/* Anyone can create directories among the temporary files, so only those of this user count. */
static int recover_temporary(const struct runtime_recovery *recovery, const char *directory,
			     size_t *recovered, struct error *err)
{
	struct stat status = {0};
	enum owner_state state = OWNER_FOREIGN;
	char *address CLEANUP_FREE = NULL;
	if (!text_starts_with(path_base(directory), TEMPORARY_PREFIX) ||
	    lstat(directory, &status) < 0 || !S_ISDIR(status.st_mode) ||
	    status.st_uid != geteuid() || owner_read(directory, &state, &address, NULL) < 0 ||
	    state != OWNER_DEAD)
		return 0;
	return recover_dead(recovery, directory, NULL, recovered, err);
}

typedef int recover_one(const struct runtime_recovery *recovery, const char *directory,
			size_t *recovered, struct error *err);

static int recover_each(const struct runtime_recovery *recovery, const char *parent,
			recover_one *one, size_t *recovered, struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int result = file_list(parent, &names, err);
	text_each (name, &names) {
		char *directory CLEANUP_FREE = path_join(parent, name);
		int rc = one(recovery, directory, recovered, result == 0 ? err : NULL);
		result = result == 0 ? rc : result;
	}
	return result;
}

int runtime_recover(const struct runtime_recovery *recovery, size_t *recovered, struct error *err)
{
	const char *base = recovery->base_directory;
	const char *temporary = recovery->temporary_directory;
	int result = 0;
	int rc = 0;
	*recovered = 0;
	if (base != NULL && file_is_directory(base)) {
		/* A lock on the directory itself, so that two runs do not clean it at once. */
		int lock CLEANUP_FD = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (lock < 0 && errno != ENOENT)
			result = error_system(err, errno, "%s", base);
		while (lock >= 0 && result == 0 && flock(lock, LOCK_EX) < 0) {
			if (errno != EINTR)
				result = error_system(err, errno, "lock %s", base);
		}
		/* A run that ended meanwhile may have removed it. */
		if (result == 0 && file_is_directory(base))
			result = recover_each(recovery, base, recover_directory, recovered, err);
		if (*recovered > 0)
			(void)rmdir(base);
	}
	if (temporary != NULL && file_is_directory(temporary))
		rc = recover_each(recovery, temporary, recover_temporary, recovered,
				  result == 0 ? err : NULL);
	return result == 0 ? rc : result;
}
