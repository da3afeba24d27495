/* SPDX-License-Identifier: MIT */
#include "discovery/tests/container/bare_root.h"

#include "base/cleanup.h"
#include "base/elf.h"
#include "base/file.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_PREPARATION = 120, EXIT_NOT_ALLOWED = 121 };

static int root_mount(const char *source, const char *target, const char *type, unsigned long flags,
		      struct error *err)
{
	if (mount(source, target, type, flags, NULL) < 0)
		return error_system(err, errno, "mounting %s at %s", source, target);
	return 0;
}

/* Binds a file or directory to a place below the root, read-only, and makes the place first. */
static int root_bind(const char *root, const char *source, const char *destination,
		     struct error *err)
{
	char *target CLEANUP_FREE = path_join(root, destination);
	char *directory CLEANUP_FREE = target != NULL ? path_directory(target) : NULL;
	bool is_directory = file_is_directory(source);
	int rc = directory == NULL
			 ? error_memory(err)
			 : file_make_directories(is_directory ? target : directory, 0755, err);
	if (rc == 0 && !is_directory && !file_exists(target))
		rc = file_write_atomic(target, "", 0, 0755, err);
	if (rc == 0)
		rc = root_mount(source, target, NULL, MS_BIND | MS_REC, err);
	return rc < 0 ? rc
		      : root_mount("none", target, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, err);
}

/* What the image holds. */
static int root_add_image(const char *root, const struct bare_root *bare, struct error *err)
{
	struct elf_closure *closure CLEANUP(elf_closure_cleanup) = NULL;
	char *library CLEANUP_FREE = NULL;
	int rc = elf_closure_new(NULL, &closure, err);
	if (rc == 0)
		rc = elf_closure_add(closure, bare->program, err);
	if (rc == 0)
		rc = elf_closure_find(closure, bare->library, &library, err);
	if (rc == 0)
		rc = elf_closure_add(closure, library, err);
	for (size_t i = 0; rc == 0 && i < closure->file_count; i++)
		rc = root_bind(root, closure->files[i].source, closure->files[i].destination, err);
	return rc;
}

static bool root_is_left_out(const struct bare_root *bare, const struct discovery_file *file)
{
	if (bare->without_origin != NULL && text_equal(bare->without_origin, file->origin))
		return true;
	return bare->without_destination != NULL &&
	       text_glob(bare->without_destination, file->destination);
}

static int root_add_device(const char *root, const struct bare_root *bare, struct error *err)
{
	const struct discovery_device *device = bare->device;
	int rc = 0;
	for (size_t i = 0; rc == 0 && device != NULL && i < device->file_count; i++) {
		if (!root_is_left_out(bare, &device->files[i]))
			rc = root_bind(root, device->files[i].source, device->files[i].destination,
				       err);
	}
	for (size_t i = 0; rc == 0 && device != NULL && i < device->variable_count; i++) {
		if (setenv(device->environment[i].name, device->environment[i].value, 1) < 0)
			rc = error_system(err, errno, "setenv");
	}
	return rc;
}

static int root_add_system(const char *root, struct error *err)
{
	static const char *const directories[] = {"/proc", "/sys", "/tmp"};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(directories); i++) {
		char *path CLEANUP_FREE = path_join(root, directories[i]);
		rc = path == NULL ? error_memory(err) : file_make_directories(path, 0777, err);
		if (rc == 0 && !text_equal(directories[i], "/tmp"))
			rc = root_bind(root, directories[i], directories[i], err);
	}
	return rc < 0 ? rc : root_bind(root, "/dev/null", "/dev/null", err);
}

static int root_enter(const char *root, const struct bare_root *bare, struct error *err)
{
	int rc = 0;
	if (unshare(CLONE_NEWNS) < 0)
		return error_system(err, errno, "unshare");
	rc = root_mount("none", "/", NULL, MS_REC | MS_PRIVATE, err);
	if (rc == 0)
		rc = root_mount("none", root, "tmpfs", 0, err);
	if (rc == 0)
		rc = root_add_system(root, err);
	if (rc == 0)
		rc = root_add_image(root, bare, err);
	/* Container runtimes set this path where the image sets none. */
	if (rc == 0 && (clearenv() != 0 || setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1) < 0))
		rc = error_system(err, errno, "environment");
	if (rc == 0)
		rc = root_add_device(root, bare, err);
	if (rc == 0 && (chroot(root) < 0 || chdir("/") < 0))
		rc = error_system(err, errno, "chroot to %s", root);
	return rc;
}

/* The child: never returns. */
static void root_become(const char *root, const struct bare_root *bare, int output)
{
	struct error err = {0};
	(void)dup2(output, STDOUT_FILENO);
	(void)dup2(output, STDERR_FILENO);
	int rc = root_enter(root, bare, &err);
	if (rc == 0) {
		(void)execl(bare->program, bare->program, (char *)NULL);
		(void)error_system(&err, errno, "%s", bare->program);
	}
	(void)dprintf(STDERR_FILENO, "%s\n", err.text);
	_exit(rc == ERROR_PERMISSION ? EXIT_NOT_ALLOWED : EXIT_PREPARATION);
}

static int root_collect(pid_t child, int from, struct text *output, struct error *err)
{
	char chunk[4096];
	int status = 0;
	for (ssize_t size = 1; size > 0;) {
		size = read(from, chunk, sizeof(chunk));
		if (size > 0)
			text_append(output, chunk, (size_t)size);
	}
	if (waitpid(child, &status, 0) < 0)
		return error_system(err, errno, "waitpid");
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	if (WEXITSTATUS(status) == EXIT_NOT_ALLOWED)
		return error_set(err, ERROR_PERMISSION, "%s", text_string(output));
	if (WEXITSTATUS(status) == EXIT_PREPARATION)
		return error_set(err, ERROR_IO, "%s", text_string(output));
	return WEXITSTATUS(status);
}

int bare_root_run(const struct bare_root *root, struct text *output, struct error *err)
{
	char *directory CLEANUP_FREE = NULL;
	int ends[2] = {-1, -1};
	int rc = file_make_temporary("/tmp", "gpucert-root-", &directory, err);
	if (rc < 0)
		return rc;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_system(err, errno, "pipe");
	(void)fflush(NULL);
	pid_t child = fork();
	if (child == 0)
		root_become(directory, root, ends[1]);
	cleanup_fd_(&ends[1]);
	rc = child < 0 ? error_system(err, errno, "fork")
		       : root_collect(child, ends[0], output, err);
	cleanup_fd_(&ends[0]);
	(void)rmdir(directory);
	return rc;
}
