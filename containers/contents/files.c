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

const char *files_path(struct files *files, const char *name)
{
	char *rooted CLEANUP_FREE = text_format("/%s", name);
	char *path CLEANUP_FREE = rooted != NULL ? path_normalize(rooted) : NULL;
	return path == NULL || strcmp(path, "/") == 0 ? "" : arena_string(&files->arena, path);
}

int files_put(struct files *files, const char *path, unsigned layer, struct content_file **out,
	      struct error *err)
{
	size_t place = 0;
	if (files->count == CONTENTS_FILES_MAX)
		return error_set(err, ERROR_LIMIT,
				 "more than %d files are programs, libraries or links",
				 (int)CONTENTS_FILES_MAX);
	int rc = text_index_put(&files->by_path, path, files->count, &place, err);
	if (rc < 0)
		return rc;
	if (place == files->count) {
		struct content_file *grown =
			arena_grow(&files->arena, files->files, files->count, sizeof(*grown));
		if (grown == NULL)
			return error_memory(err);
		files->files = grown;
		files->count++;
	}
	files->files[place] = (struct content_file){
		.path = path, .target = "", .layer = layer, .version = "", .glibc = ""};
	*out = &files->files[place];
	return 0;
}

struct content_file *files_get(struct files *files, const char *path)
{
	size_t place = 0;
	bool known = text_index_get(&files->by_path, path, &place);
	return known && files->files[place].path != NULL ? &files->files[place] : NULL;
}

static int hide(struct files *files, const char *path, size_t how, struct error *err)
{
	size_t known = 0;
	return text_index_put(&files->hidden, path, how, &known, err);
}

int files_whiteout(struct files *files, const char *path, struct error *err)
{
	const char *name = path_base(path);
	const int folder = (int)(name - path);
	if (files->arena.failed)
		return error_memory(err);
	if (strcmp(name, WHITEOUT_OPAQUE) == 0)
		return hide(files,
			    arena_format(&files->arena, "%.*s", folder > 1 ? folder - 1 : 0, path),
			    HIDDEN_BELOW, err);
	return hide(files,
		    arena_format(&files->arena, "%.*s%s", folder, path, name + strlen(WHITEOUT)),
		    HIDDEN, err);
}

int files_replace(struct files *files, const char *path, struct error *err)
{
	return hide(files, path, HIDDEN_BELOW, err);
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

int files_end_layer(struct files *files, unsigned layer, struct error *err)
{
	for (size_t i = 0; files->hidden.count > 0 && i < files->count; i++) {
		struct content_file *file = &files->files[i];
		if (file->path == NULL || file->layer == layer)
			continue;
		char *prefix CLEANUP_FREE = malloc(strlen(file->path) + 1);
		if (prefix == NULL)
			return error_memory(err);
		if (is_hidden(files, file->path, prefix))
			file->path = NULL;
	}
	text_index_free(&files->hidden);
	return files->arena.failed ? error_memory(err) : 0;
}

void files_free(struct files *files)
{
	text_index_free(&files->by_path);
	text_index_free(&files->hidden);
	arena_free(&files->arena);
	*files = (struct files){0};
}
