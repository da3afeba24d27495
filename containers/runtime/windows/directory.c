/* SPDX-License-Identifier: MIT */
/* Only the user may read it. On Windows nothing removes directories of dead runs: they stay among the user's
 * temporary files. */
#include "containers/runtime/runtime_internal.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

int run_directory_make(const char *base, const char *cri, char **path, struct error *err)
{
	int rc = base != NULL ? file_make_directories(base, 0700, err) : 0;
	(void)cri;
	if (rc == 0)
		rc = file_make_temporary(base, "gpucert-run-", path, err);
	if (rc < 0)
		return rc;
	char *work CLEANUP_FREE = path_join(*path, "work");
	return file_make_directories(work, 0700, err);
}

bool run_directory_shares_image(const char *path, const char *cri, const char *reference)
{
	(void)path;
	(void)cri;
	(void)reference;
	return false;
}

int run_directory_remove(const char *path, struct error *err)
{
	return file_remove_tree(path, err);
}

int runtime_make_directory(char **path, struct error *err)
{
	return file_make_temporary(NULL, "gpucert-", path, err);
}

int runtime_remove_directory(const char *path, size_t *undone, struct error *err)
{
	(void)undone;
	return file_remove_tree(path, err);
}
