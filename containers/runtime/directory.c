/* SPDX-License-Identifier: MIT */
#include "containers/runtime/directory.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "containers/runtime/mounts.h"
#include "containers/runtime/owner.h"
#include "containers/runtime/runtime.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

/* The longest socket path that containerd makes in it. */
#define LONGEST_SOCKET "/" RUN_DIRECTORY_PREFIX "XXXXXX/containerd.sock.ttrpc"

enum { BASE_TRIES = 8 };

static int run_directory_fill(const char *path, const char *cri, struct error *err)
{
	char *work CLEANUP_FREE = path_join(path, "work");
	int rc = owner_write(path, cri, err);

	if (rc < 0)
		return rc;
	return work != NULL ? file_make_directories(work, 0700, err) : error_memory(err);
}

int run_directory_make(const char *base, const char *cri, char **path, struct error *err)
{
	char *made CLEANUP_FREE = NULL;
	char *named CLEANUP_FREE = NULL;
	size_t max = sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1;
	int rc = 0;

	if (strlen(base) + strlen(LONGEST_SOCKET) > max)
		return error_set(err, ERROR_LIMIT,
				 "%s: too long for a socket path (at most %zu bytes)", base,
				 max - strlen(LONGEST_SOCKET));
	/* Another run may remove the empty base directory in between: see run_directory_leave(). */
	for (int try = 0; made == NULL && rc == 0 && try < BASE_TRIES; try++) {
		rc = file_make_directories(base, 0711, err);
		if (rc == 0)
			rc = file_make_temporary(base, NEW_DIRECTORY_PREFIX, &made, err);
		if (rc == ERROR_NOT_FOUND && try + 1 < BASE_TRIES)
			rc = 0;
	}
	if (rc < 0)
		return rc;
	rc = run_directory_fill(made, cri, err);
	named = text_format("%s/" RUN_DIRECTORY_PREFIX "%s", base,
			    path_base(made) + strlen(NEW_DIRECTORY_PREFIX));
	if (rc == 0 && named == NULL)
		rc = error_memory(err);
	if (rc == 0 && rename(made, named) < 0)
		rc = error_system(err, errno, "%s", named);
	if (rc < 0) {
		(void)file_remove_tree(made, NULL);
		return rc;
	}
	*path = STEAL(named);
	return 0;
}

static int run_directory_empty(const char *path, struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int rc = file_list(path, &names, err);

	for (size_t i = 0; i < names.count; i++) {
		char *below CLEANUP_FREE = path_join(path, names.items[i]);
		struct error *first = rc == 0 ? err : NULL;
		int one = 0;

		if (below == NULL)
			return error_memory(err);
		if (strcmp(names.items[i], OWNER_FILE) != 0)
			one = file_remove_tree(below, first);
		rc = rc == 0 ? one : rc;
	}
	return rc;
}

int runtime_remove_directory(const char *path, size_t *undone, struct error *err)
{
	int rc = file_exists(path) ? mounts_undo_below(path, undone, err) : 0;

	if (rc == 0 && file_is_directory(path))
		rc = run_directory_empty(path, err);
	return rc == 0 ? file_remove_tree(path, err) : rc;
}

int runtime_make_directory(char **path, struct error *err)
{
	char *made CLEANUP_FREE = NULL;
	int rc = file_make_temporary(NULL, TEMPORARY_PREFIX, &made, err);

	if (rc == 0)
		rc = owner_write(made, NULL, err);
	if (rc < 0 && made != NULL)
		(void)file_remove_tree(made, NULL);
	if (rc == 0)
		*path = STEAL(made);
	return rc;
}

void run_directory_leave(const char *path)
{
	char *base CLEANUP_FREE = path_directory(path);

	if (base != NULL)
		(void)rmdir(base);
}
