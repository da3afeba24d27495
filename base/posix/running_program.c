/* SPDX-License-Identifier: MIT */
#include "base/running_program.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROC_FILE_MAX = 4 * 1024 * 1024 };

void running_program_free(struct running_program *program)
{
	free(program->name);
	free(program->file);
	free(program->root);
	free(program->directory);
	free(program->search_path);
	text_list_free(&program->words);
	*program = (struct running_program){0};
}

static int proc_link(int pid, const char *name, char **out, struct error *err)
{
	char *path CLEANUP_FREE = text_format("/proc/%d/%s", pid, name);
	char target[PATH_MAX] = "";
	ssize_t size = readlink(path, target, sizeof(target) - 1);
	if (size < 0)
		return error_system(err, errno, "%s", path);
	*out = memory_copy_start(target, (size_t)size);
	return 0;
}

/* The NUL-terminated strings of a /proc file. */
static int proc_strings(int pid, const char *name, struct text_list *out, struct error *err)
{
	char *path CLEANUP_FREE = text_format("/proc/%d/%s", pid, name);
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	int rc = file_read(path, PROC_FILE_MAX, &data, &size, err);
	for (size_t at = 0; rc == 0 && at < size; at += strlen(data + at) + 1)
		text_list_add(out, data + at);
	return rc;
}

int running_program_read(int pid, struct running_program *out, struct error *err)
{
	static const char deleted[] = " (deleted)";
	struct running_program program CLEANUP_RUNNING_PROGRAM = {0};
	struct text_list variables CLEANUP_TEXT_LIST = {0};
	const char *search_path = "";
	char *path CLEANUP_FREE = NULL;
	int rc = proc_link(pid, "exe", &path, err);
	if (rc == 0)
		rc = proc_link(pid, "cwd", &program.directory, err);
	if (rc == 0)
		rc = proc_strings(pid, "cmdline", &program.words, err);
	if (rc == 0)
		rc = proc_strings(pid, "environ", &variables, err);
	if (rc < 0)
		return rc;
	text_each (variable, &variables) {
		if (text_starts_with(variable, "PATH="))
			search_path = variable + strlen("PATH=");
	}
	program.search_path = memory_copy(search_path);
	if (text_ends_with(path, deleted))
		path[strlen(path) - strlen(deleted)] = '\0';
	program.name = memory_copy(path_base(path));
	program.file = text_format("/proc/%d/exe", pid);
	program.root = text_format("/proc/%d/root", pid);
	*out = STEAL(program);
	return 0;
}

char *running_program_path(const struct running_program *program, const char *path)
{
	char *absolute CLEANUP_FREE = path_is_absolute(path) || program->directory == NULL
					      ? memory_copy(path)
					      : path_join(program->directory, path);
	char *resolved CLEANUP_FREE = NULL;
	struct stat file = {0};
	if (program->root == NULL || file_resolve(program->root, absolute, &resolved, NULL) < 0)
		return NULL;
	char *local CLEANUP_FREE = text_format("%s%s", program->root, resolved);
	return stat(local, &file) == 0 && S_ISREG(file.st_mode) ? STEAL(local) : NULL;
}

char *running_program_find(const struct running_program *program, const char *name)
{
	struct text_list directories CLEANUP_TEXT_LIST = {0};
	if (strchr(name, '/') != NULL)
		return running_program_path(program, name);
	if (program->search_path == NULL)
		return NULL;
	text_list_split(&directories, program->search_path, ':');
	text_each (directory, &directories) {
		char *path CLEANUP_FREE = path_join(directory, name);
		char *found = running_program_path(program, path);
		if (found != NULL)
			return found;
	}
	return NULL;
}
