/* SPDX-License-Identifier: MIT */
#include "containers/images/internal.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Directories that distributions have merged into /usr. */
static const char *const merged[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};

static const struct image_entry base[] = {
	{IMAGE_DIRECTORY, "/dev", "", 0755},
	{IMAGE_DIRECTORY, "/proc", "", 0555},
	{IMAGE_DIRECTORY, "/sys", "", 0555},
	{IMAGE_DIRECTORY, "/run", "", 0755},
	{IMAGE_DIRECTORY, "/tmp", "", 01777},
	{IMAGE_DIRECTORY, "/var/tmp", "", 01777},
	{IMAGE_DIRECTORY, "/root", "", 0700},
	{IMAGE_TEXT, "/etc/passwd",
	 "root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n",
	 0644},
	{IMAGE_TEXT, "/etc/group", "root:x:0:\nnogroup:x:65534:\n", 0644},
};

void image_tree_free(struct image_tree *tree)
{
	free(tree->entries);
	text_list_free(&tree->strings);
	*tree = (struct image_tree){0};
}

/* A linear search is enough: images hold some dozen files. */
bool image_tree_has(const struct image_tree *tree, const char *path)
{
	for (size_t i = 0; i < tree->count; i++) {
		if (strcmp(tree->entries[i].path, path) == 0)
			return true;
	}
	return tree->below != NULL && image_tree_has(tree->below, path);
}

/* `path` is normalised. */
static void put(struct image_tree *tree, enum image_entry_type type, const char *path,
		const char *content, unsigned mode)
{
	if (image_tree_has(tree, path))
		return;
	text_list_add(&tree->strings, path);
	text_list_add(&tree->strings, content);
	tree->entries = array_grow(tree->entries, tree->count, sizeof(*tree->entries));
	tree->entries[tree->count++] = (struct image_entry){
		.type = type,
		.path = tree->strings.items[tree->strings.count - 2],
		.content = tree->strings.items[tree->strings.count - 1],
		.mode = mode,
	};
}

int image_tree_add(struct image_tree *tree, enum image_entry_type type, const char *path,
		   const char *content, unsigned mode, struct error *err)
{
	if (!path_is_absolute(path))
		return error_set(err, ERROR_ARGUMENT, "%s: not absolute", path);
	char *normal CLEANUP_FREE = path_normalize(path);
	if (strcmp(normal, "/") == 0)
		return 0;

	bool below_merged = false;
	for (size_t i = 0; i < ARRAY_SIZE(merged); i++)
		below_merged = below_merged || (path_is_within(normal, merged[i]) &&
						strcmp(normal, merged[i]) != 0);
	char *place CLEANUP_FREE = text_format("%s%s", below_merged ? "/usr" : "", normal);
	for (const char *slash = strchr(place + 1, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		char *parent CLEANUP_FREE = memory_copy_start(place, (size_t)(slash - place));
		put(tree, IMAGE_DIRECTORY, parent, "", 0755);
	}
	put(tree, type, place, content, mode);
	return 0;
}

int image_tree_add_all(struct image_tree *tree, const struct image_entry *entries, size_t count,
		       struct error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = image_tree_add(tree, entries[i].type, entries[i].path, entries[i].content,
				    entries[i].mode, err);
	return rc;
}

int image_tree_base(struct image_tree *tree, struct error *err)
{
	int rc = image_tree_add_all(tree, base, ARRAY_SIZE(base), err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(merged); i++) {
		char *target CLEANUP_FREE = text_format("usr%s", merged[i]);
		char *directory CLEANUP_FREE = text_format("/usr%s", merged[i]);
		rc = image_tree_add(tree, IMAGE_DIRECTORY, directory, "", 0755, err);
		if (rc == 0)
			rc = image_tree_add(tree, IMAGE_LINK, merged[i], target, 0777, err);
	}
	return rc;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct image_entry *)a)->path, ((const struct image_entry *)b)->path);
}

void image_tree_sort(struct image_tree *tree)
{
	if (tree->count > 0)
		qsort(tree->entries, tree->count, sizeof(*tree->entries), compare);
}
