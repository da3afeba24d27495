/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * private-mount SOURCE TARGET [SOURCE TARGET]... -- COMMAND [ARGUMENT...]
 *
 * Runs COMMAND in a mount namespace of its own in which each directory SOURCE is seen at TARGET. A
 * target that does not exist is made without touching the host: the deepest directory above it that
 * exists is covered by an empty file system, into which everything it held is mounted again.
 */

enum {
	EXIT_SETUP = 125,
	EXIT_CANNOT_EXECUTE = 126,
	EXIT_NOT_FOUND = 127,
	PAIRS_MAX = 8,
	TARGET_MODE = 0750,
	PLACEHOLDER_MODE = 0600,
};

static int fail(struct error *err, const char *what, const char *path)
{
	return error_system(err, errno, "%s %s", what, path);
}

/* The kernel resolves /proc/self/fd to the opened directory itself, even if it was covered
 * since. */
static int bind_from(int fd, const char *name, const char *target, struct error *err)
{
	char *source CLEANUP_FREE = text_format("/proc/self/fd/%d/%s", fd, name);
	if (mount(source, target, NULL, MS_BIND | MS_REC, NULL) != 0)
		return fail(err, "cannot mount", target);
	return 0;
}

static int show_entry(int fd, const char *directory, const char *name, struct error *err)
{
	struct stat status = {0};
	char *target CLEANUP_FREE = path_join(directory, name);
	if (fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? 0 : fail(err, "cannot look at", target);
	if (S_ISLNK(status.st_mode)) {
		char destination[4096];
		ssize_t size = readlinkat(fd, name, destination, sizeof(destination) - 1);
		if (size < 0)
			return fail(err, "cannot read the link", target);
		destination[size] = '\0';
		if (symlink(destination, target) != 0)
			return fail(err, "cannot make the link", target);
		return 0;
	}
	if (S_ISDIR(status.st_mode)) {
		if (mkdir(target, TARGET_MODE) != 0)
			return fail(err, "cannot make", target);
	} else {
		int placeholder CLEANUP_FD =
			open(target, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, PLACEHOLDER_MODE);
		if (placeholder < 0)
			return fail(err, "cannot make", target);
	}
	return bind_from(fd, name, target, err);
}

/* Covers a directory so that names can be added to it in this namespace only. */
static int cover(const char *directory, struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int fd CLEANUP_FD = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat status = {0};
	if (fd < 0 || fstat(fd, &status) != 0)
		return fail(err, "cannot open", directory);
	char *mode CLEANUP_FREE = text_format("mode=%o", (unsigned)status.st_mode & 07777);
	int rc = file_list(directory, &names, err);
	if (rc != 0)
		return rc;
	if (mount("tmpfs", directory, "tmpfs", MS_NOSUID | MS_NODEV, mode) != 0)
		return fail(err, "cannot cover", directory);
	for (size_t i = 0; rc == 0 && i < names.count; i++)
		rc = show_entry(fd, directory, names.items[i], err);
	return rc;
}

static int set_up(char **pairs, size_t count, struct error *err)
{
	int sources[PAIRS_MAX];
	if (unshare(CLONE_NEWNS) != 0)
		return fail(err, "cannot make", "a mount namespace");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return fail(err, "cannot make mounts private below", "/");
	for (size_t i = 0; i < count; i++) {
		sources[i] = open(pairs[2 * i], O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (sources[i] < 0)
			return fail(err, "cannot open", pairs[2 * i]);
	}
	for (size_t i = 0; i < count; i++) {
		const char *target = pairs[2 * i + 1];
		/* The deepest directory on the path of a target that exists. */
		char *ancestor CLEANUP_FREE = memory_copy(target);
		while (!file_is_directory(ancestor)) {
			char *parent = path_directory(ancestor);
			free(ancestor);
			ancestor = parent;
		}
		int rc = 0;
		if (strcmp(ancestor, target) != 0) {
			if (strcmp(ancestor, "/") == 0)
				return error_set(
					err, ERROR_UNSUPPORTED,
					"%s cannot be made: no directory on the way to it exists",
					target);
			rc = cover(ancestor, err);
			if (rc == 0)
				rc = file_make_directories(target, TARGET_MODE, err);
		}
		if (rc == 0)
			rc = bind_from(sources[i], "", target, err);
		if (rc != 0)
			return rc;
	}
	return 0;
}

int main(int argc, char **argv)
{
	memory_ends_process(EXIT_SETUP);
	struct error err = {0};
	int end = 1;
	while (end < argc && strcmp(argv[end], "--") != 0)
		end++;
	size_t count = (size_t)(end - 1) / 2;
	if (end == 1 || (end - 1) % 2 != 0 || end + 1 >= argc || count > PAIRS_MAX) {
		(void)fprintf(stderr, "usage: private-mount SOURCE TARGET [SOURCE TARGET]... -- "
				      "COMMAND [ARGUMENT...]\n");
		return EXIT_SETUP;
	}
	if (set_up(&argv[1], count, &err) != 0) {
		(void)fprintf(stderr, "private-mount: %s\n", err.text);
		return EXIT_SETUP;
	}
	(void)execvp(argv[end + 1], &argv[end + 1]);
	int reason = errno;
	(void)fprintf(stderr, "private-mount: cannot execute %s: %s\n", argv[end + 1],
		      strerror(reason));
	return reason == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
}
