/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/path.h"
#include "containers/contents/internal.h"

#include <stdlib.h>
#include <string.h>

#define WHITEOUT	".wh."
#define WHITEOUT_OPAQUE ".wh..wh..opq"

/* What the numbers in `hidden` say: a path with all below it, or only what is below. */
enum { HIDDEN, HIDDEN_BELOW };

int files_path(const char *name, char **out, struct error *err)
{
	char *rooted CLEANUP_FREE = text_format("/%s", name);
	*out = rooted != NULL ? path_normalize(rooted) : NULL;
	return *out != NULL ? 0 : error_memory(err);
}

static struct content_file *find(const struct files *files, const char *path)
{
	size_t place = 0;
	return text_index_get(&files->by_path, path, &place) ? &files->files[place] : NULL;
}

static int add(struct files *files, const char *path, struct content_file **out, struct error *err)
{
	size_t place = 0;
	if (files->count == CONTENTS_FILES_MAX)
		return error_set(err, ERROR_LIMIT,
				 "more than %d files are programs, libraries or links",
				 (int)CONTENTS_FILES_MAX);
	struct content_file *grown =
		arena_grow(&files->arena, files->files, files->count, sizeof(*grown));
	if (grown == NULL)
		return error_memory(err);
	files->files = grown;
	*out = &grown[files->count];
	(*out)->path = arena_string(&files->arena, path);
	files->longest = strlen(path) > files->longest ? strlen(path) : files->longest;
	return text_index_put(&files->by_path, (*out)->path, files->count++, &place, err);
}

int files_put(struct files *files, const char *path, const struct content_file *file,
	      struct error *err)
{
	struct content_file *to = find(files, path);
	int rc = to == NULL ? add(files, path, &to, err) : 0;
	if (rc < 0)
		return rc;
	path = to->path;
	*to = *file;
	to->path = path;
	to->layer = files->layer;
	return 0;
}

const struct content_file *files_get(const struct files *files, const char *path)
{
	const struct content_file *file = find(files, path);
	return file != NULL && !file->is_hidden ? file : NULL;
}

void files_forget(struct files *files, const char *path)
{
	struct content_file *file = find(files, path);
	if (file != NULL)
		file->is_hidden = true;
}

/* The first layer has nothing below it. */
static int hide(struct files *files, const char *path, int size, const char *name, size_t how,
		struct error *err)
{
	size_t known = 0;
	if (files->layer == 0)
		return 0;
	const char *kept = arena_format(&files->arena, "%.*s%s", size, path, name);
	return files->arena.failed ? error_memory(err)
				   : text_index_put(&files->hidden, kept, how, &known, err);
}

bool files_is_whiteout(const char *path)
{
	return text_starts_with(path_base(path), WHITEOUT);
}

int files_whiteout(struct files *files, const char *path, struct error *err)
{
	const char *name = path_base(path);
	const int folder = (int)(name - path);
	if (strcmp(name, WHITEOUT_OPAQUE) == 0)
		return hide(files, path, folder > 1 ? folder - 1 : 0, "", HIDDEN_BELOW, err);
	return hide(files, path, folder, name + strlen(WHITEOUT), HIDDEN, err);
}

int files_replace(struct files *files, const char *path, struct error *err)
{
	files_forget(files, path);
	return hide(files, path, (int)strlen(path), "", HIDDEN_BELOW, err);
}

/* Is the path, or a folder that it is in, hidden? `prefix` has its length. */
static bool is_hidden(const struct files *files, const char *path, char *prefix)
{
	memcpy(prefix, path, strlen(path) + 1);
	for (char *end = prefix + strlen(prefix); end != NULL; end = strrchr(prefix, '/')) {
		size_t how = 0;
		*end = '\0';
		if (text_index_get(&files->hidden, prefix, &how) &&
		    (how == HIDDEN || strcmp(prefix, path) != 0))
			return true;
	}
	return false;
}

int files_end_layer(struct files *files, struct error *err)
{
	char *prefix CLEANUP_FREE = malloc(files->longest + 1);
	if (prefix == NULL || files->arena.failed)
		return error_memory(err);
	for (size_t i = 0; files->hidden.count > 0 && i < files->count; i++) {
		struct content_file *file = &files->files[i];
		if (file->layer != files->layer && is_hidden(files, file->path, prefix))
			file->is_hidden = true;
	}
	text_index_free(&files->hidden);
	files->layer++;
	return 0;
}

void files_free(struct files *files)
{
	text_index_free(&files->by_path);
	text_index_free(&files->hidden);
	arena_free(&files->arena);
	*files = (struct files){0};
}
