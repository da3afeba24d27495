/* SPDX-License-Identifier: MIT */
#include "containers/runtime/runtime_internal.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "containers/runtime/remains.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

/* The longest socket path that containerd makes in it. */
#define LONGEST_SOCKET "/" RUN_DIRECTORY_PREFIX "XXXXXX/containerd.sock.ttrpc"

enum { BASE_TRIES = 8 };

/* The path goes into a TOML string, unescaped. */
static int check_base(const char *base, struct error *err)
{
	size_t max = sizeof(((struct sockaddr_un *)NULL)->sun_path) - sizeof(LONGEST_SOCKET);
	if (geteuid() != 0)
		return error_set(err, ERROR_PERMISSION, "containers need root");
	if (!path_is_absolute(base))
		return error_set(err, ERROR_ARGUMENT, "%s: base directory is not absolute", base);
	for (const char *at = base; *at != '\0'; at++) {
		if (*at == '"' || *at == '\\' || (unsigned char)*at < ' ')
			return error_set(
				err, ERROR_ARGUMENT,
				"base directory holds a quote, backslash or control character");
	}
	if (strlen(base) > max)
		return error_set(err, ERROR_LIMIT,
				 "%s: too long for a socket path (at most %zu bytes)", base, max);
	return 0;
}

/* Another run may remove the empty base directory in between: see run_directory_remove(). */
static int make_new(const char *base, char **made, struct error *err)
{
	int rc = 0;
	for (int try = 0; try < BASE_TRIES; try++) {
		rc = file_make_directories(base, 0711, err);
		if (rc == 0)
			rc = file_make_temporary(base, NEW_DIRECTORY_PREFIX, made, err);
		if (rc != ERROR_NOT_FOUND)
			return rc;
	}
	return rc;
}

/* Fills it and gives it its name. */
static int own(const char *made, const char *named, const char *cri, struct error *err)
{
	char *work CLEANUP_FREE = path_join(made, "work");
	int rc = work != NULL && named != NULL ? owner_write(made, cri, err) : error_memory(err);
	if (rc == 0)
		rc = file_make_directories(work, 0700, err);
	if (rc == 0 && rename(made, named) < 0)
		rc = error_system(err, errno, "%s", named);
	return rc;
}

int run_directory_make(const char *base, const char *cri, char **path, struct error *err)
{
	char *made CLEANUP_FREE = NULL;
	if (base == NULL)
		base = RUNTIME_BASE_DIRECTORY;
	int rc = check_base(base, err);
	if (rc == 0)
		rc = make_new(base, &made, err);
	if (rc < 0)
		return rc;
	char *named CLEANUP_FREE = text_format("%s/" RUN_DIRECTORY_PREFIX "%s", base,
					       path_base(made) + strlen(NEW_DIRECTORY_PREFIX));
	rc = own(made, named, cri, err);
	if (rc < 0)
		(void)file_remove_tree(made, NULL);
	else
		*path = STEAL(named);
	return rc;
}

/* All but owner.json, which is there as long as anything else is. */
static int empty(const char *path, struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int result = file_list(path, &names, err);
	for (size_t i = 0; i < names.count; i++) {
		char *below CLEANUP_FREE = path_join(path, names.items[i]);
		int rc = 0;
		if (below == NULL)
			return error_memory(err);
		if (strcmp(names.items[i], OWNER_FILE) != 0)
			rc = file_remove_tree(below, result == 0 ? err : NULL);
		result = result == 0 ? rc : result;
	}
	return result;
}

int runtime_remove_directory(const char *path, size_t *undone, struct error *err)
{
	int rc = file_exists(path) ? remains_unmount(path, undone, err) : 0;
	if (rc == 0 && file_is_directory(path))
		rc = empty(path, err);
	return rc == 0 ? file_remove_tree(path, err) : rc;
}

int runtime_make_directory(char **path, struct error *err)
{
	char *made CLEANUP_FREE = NULL;
	int rc = file_make_temporary(NULL, TEMPORARY_PREFIX, &made, err);
	if (rc < 0)
		return rc;
	rc = owner_write(made, NULL, err);
	if (rc < 0)
		(void)file_remove_tree(made, NULL);
	else
		*path = STEAL(made);
	return rc;
}

int run_directory_remove(const char *path, struct error *err)
{
	struct runtime_recovered counts = {0};
	char *base CLEANUP_FREE = path_directory(path);
	int rc = remains_remove(path, &counts, err);
	if (base != NULL)
		(void)rmdir(base);
	return rc;
}
