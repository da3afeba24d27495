/* SPDX-License-Identifier: MIT */
#include "containers/images/tree.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Directories that distributions have merged into /usr. */
static const char *const merged[] = {"bin", "sbin", "lib", "lib32", "lib64", "libx32"};

void image_tree_free(struct image_tree *tree)
{
	arena_free(&tree->arena);
	*tree = (struct image_tree){0};
}

/* Images hold some dozen files. */
static const struct image_entry *image_tree_find(const struct image_tree *tree, const char *path)
{
	for (size_t i = 0; i < tree->count; i++) {
		if (strcmp(tree->entries[i].path, path) == 0)
			return &tree->entries[i];
	}
	return NULL;
}

bool image_tree_has(const struct image_tree *tree, const char *path)
{
	return image_tree_find(tree, path) != NULL;
}

static char *image_tree_place(const char *path)
{
	char *normal CLEANUP_FREE = path_normalize(path);

	for (size_t i = 0; normal != NULL && i < ARRAY_SIZE(merged); i++) {
		size_t length = strlen(merged[i]);

		if (strncmp(normal + 1, merged[i], length) == 0 && normal[1 + length] == '/')
			return text_format("/usr%s", normal);
	}
	return STEAL(normal);
}

/* `path` is normalised. */
static int image_tree_put(struct image_tree *tree, enum image_entry_type type, const char *path,
			  const char *content, unsigned mode, struct error *err)
{
	struct image_entry *grown = NULL;

	if (image_tree_has(tree, path))
		return 0;
	grown = arena_grow(&tree->arena, tree->entries, tree->count, sizeof(*grown));
	if (grown == NULL)
		return error_memory(err);
	tree->entries = grown;
	grown[tree->count++] = (struct image_entry){type, arena_string(&tree->arena, path),
						    arena_string(&tree->arena, content), mode};
	return tree->arena.failed ? error_memory(err) : 0;
}

static int image_tree_put_parents(struct image_tree *tree, const char *path, struct error *err)
{
	int rc = 0;

	for (const char *slash = strchr(path + 1, '/'); rc == 0 && slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		char *parent CLEANUP_FREE = strndup(path, (size_t)(slash - path));

		rc = parent != NULL ? image_tree_put(tree, IMAGE_DIRECTORY, parent, "", 0755, err)
				    : error_memory(err);
	}
	return rc;
}

int image_tree_add(struct image_tree *tree, enum image_entry_type type, const char *path,
		   const char *content, unsigned mode, struct error *err)
{
	char *place CLEANUP_FREE = NULL;
	int rc = 0;

	if (!path_is_absolute(path))
		return error_set(err, ERROR_ARGUMENT, "%s: not absolute", path);
	place = image_tree_place(path);
	if (place == NULL)
		return error_memory(err);
	if (strcmp(place, "/") == 0)
		return 0;
	rc = image_tree_put_parents(tree, place, err);
	if (rc < 0)
		return rc;
	return image_tree_put(tree, type, place, content, mode, err);
}

int image_tree_base(struct image_tree *tree, struct error *err)
{
	static const struct {
		const char *path;
		unsigned mode;
	} directories[] = {
		{"/dev", 0755},	      {"/proc", 0555},	     {"/sys", 0555},
		{"/run", 0755},	      {"/tmp", 01777},	     {"/var/tmp", 01777},
		{"/root", 0700},      {"/usr/lib", 0755},    {"/usr/lib32", 0755},
		{"/usr/lib64", 0755}, {"/usr/libx32", 0755}, {"/usr/bin", 0755},
		{"/usr/sbin", 0755},
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(directories); i++)
		rc = image_tree_add(tree, IMAGE_DIRECTORY, directories[i].path, "",
				    directories[i].mode, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(merged); i++) {
		char *path CLEANUP_FREE = text_format("/%s", merged[i]);
		char *target CLEANUP_FREE = text_format("usr/%s", merged[i]);

		rc = path != NULL && target != NULL
			     ? image_tree_add(tree, IMAGE_LINK, path, target, 0777, err)
			     : error_memory(err);
	}
	if (rc == 0)
		rc = image_tree_add(tree, IMAGE_TEXT, "/etc/passwd",
				    "root:x:0:0:root:/root:/sbin/nologin\n"
				    "nobody:x:65534:65534:nobody:/:/sbin/nologin\n",
				    0644, err);
	if (rc == 0)
		rc = image_tree_add(tree, IMAGE_TEXT, "/etc/group", "root:x:0:\nnogroup:x:65534:\n",
				    0644, err);
	return rc;
}

static int image_entry_compare(const void *a, const void *b)
{
	return strcmp(((const struct image_entry *)a)->path, ((const struct image_entry *)b)->path);
}

void image_tree_sort(struct image_tree *tree)
{
	if (tree->count > 0)
		qsort(tree->entries, tree->count, sizeof(*tree->entries), image_entry_compare);
}
