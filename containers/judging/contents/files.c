/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/path.h"
#include "containers/judging/contents/internal.h"

#include <stdlib.h>
#include <string.h>

#define WHITEOUT	".wh."
#define WHITEOUT_OPAQUE ".wh..wh..opq"

/* The numbers in `hidden`: a path with everything below it, or only the files below. */
enum { HIDDEN, HIDDEN_BELOW };

char *files_path(const char *name)
{
	char *rooted CLEANUP_FREE = text_format("/%s", name);
	return path_normalize(rooted);
}

static struct content_file *find(const struct files *files, const char *path)
{
	size_t place = 0;
	return text_index_get(&files->by_path, path, &place) ? &files->files[place] : NULL;
}

int files_put(struct files *files, const char *path, const struct content_file *file,
	      struct error *err)
{
	struct content_file *to = find(files, path);
	if (to == NULL) {
		if (files->count == CONTENTS_FILES_MAX)
			return error_set(err, ERROR_LIMIT,
					 "more than %d files are programs, libraries or links",
					 (int)CONTENTS_FILES_MAX);
		struct arena *arena = &files->arena;
		files->files = arena_grow(arena, files->files, files->count, sizeof(*files->files));
		to = &files->files[files->count];
		to->path = arena_string(arena, path);
		files->longest = strlen(path) > files->longest ? strlen(path) : files->longest;
		(void)text_index_put(&files->by_path, to->path, files->count++);
	}
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

static void hide(struct files *files, const char *path, int size, const char *name, size_t how)
{
	if (files->layer == 0)
		return; /* no layer is below the first */
	const char *kept = arena_format(&files->arena, "%.*s%s", size, path, name);
	(void)text_index_put(&files->hidden, kept, how);
}

bool files_is_whiteout(const char *path)
{
	return text_starts_with(path_base(path), WHITEOUT);
}

void files_whiteout(struct files *files, const char *path)
{
	const char *name = path_base(path);
	const int folder = (int)(name - path);
	if (text_equal(name, WHITEOUT_OPAQUE))
		hide(files, path, folder > 1 ? folder - 1 : 0, "", HIDDEN_BELOW);
	else
		hide(files, path, folder, name + strlen(WHITEOUT), HIDDEN);
}

void files_replace(struct files *files, const char *path)
{
	files_forget(files, path);
	hide(files, path, (int)strlen(path), "", HIDDEN_BELOW);
}

/* Is the path, or a folder that it is in, hidden? `prefix` has room for it. */
static bool is_hidden(const struct files *files, const char *path, char *prefix)
{
	memcpy(prefix, path, strlen(path) + 1);
	for (char *end = prefix + strlen(prefix); end != NULL; end = strrchr(prefix, '/')) {
		size_t how = 0;
		*end = '\0';
		if (text_index_get(&files->hidden, prefix, &how) &&
		    (how == HIDDEN || !text_equal(prefix, path)))
			return true;
	}
	return false;
}

void files_end_layer(struct files *files)
{
	char *prefix CLEANUP_FREE = memory_allocate(files->longest + 1, 1);
	for (size_t i = 0; files->hidden.count > 0 && i < files->count; i++) {
		struct content_file *file = &files->files[i];
		if (file->layer != files->layer && is_hidden(files, file->path, prefix))
			file->is_hidden = true;
	}
	text_index_free(&files->hidden);
	files->layer++;
}

void files_free(struct files *files)
{
	text_index_free(&files->by_path);
	text_index_free(&files->hidden);
	arena_free(&files->arena);
	*files = (struct files){0};
}
