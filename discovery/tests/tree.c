/* SPDX-License-Identifier: MIT */
#include "discovery/tests/tree.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

#include <errno.h>
#include <gpucert/discovery.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TREE_MAX = 1 << 20 };

char *tree_new(void)
{
	const char *parent = getenv("TMPDIR");
	struct error err = {0};
	char *path = NULL;
	if (file_make_temporary(parent != NULL ? parent : "/tmp", "gpucert-tree-", &path, &err) <
	    0) {
		(void)fprintf(stderr, "%s\n", err.text);
		return NULL;
	}
	return path;
}

static int tree_make_parents(const char *path, struct error *err)
{
	char *directory CLEANUP_FREE = path_directory(path);
	return directory == NULL ? error_memory(err) : file_make_directories(directory, 0755, err);
}

int tree_file(const char *root, const char *path, const void *content, size_t size,
	      struct error *err)
{
	char *full CLEANUP_FREE = path_join(root, path);
	int rc = full == NULL ? error_memory(err) : tree_make_parents(full, err);
	return rc < 0 ? rc : file_write_atomic(full, content, size, 0644, err);
}

int tree_link(const char *root, const char *path, const char *target, struct error *err)
{
	char *full CLEANUP_FREE = path_join(root, path);
	if (full == NULL)
		return error_memory(err);
	int rc = tree_make_parents(full, err);
	if (rc == 0 && symlink(target, full) < 0)
		return error_system(err, errno, "%s", full);
	return rc;
}

static int tree_unescape(const char *content, struct text *out, struct error *err)
{
	static const char letters[] = "nt\\";
	static const char bytes[] = "\n\t\\";
	for (const char *p = content; *p != '\0'; p++) {
		const char *letter = p[0] == '\\' && p[1] != '\0' ? strchr(letters, p[1]) : NULL;
		if (p[0] != '\\') {
			text_append(out, p, 1);
		} else if (letter != NULL) {
			text_append(out, &bytes[letter - letters], 1);
			p++;
		} else if (p[1] == 'x' && strspn(p + 2, "0123456789abcdef") >= 2) {
			const char digits[] = {p[2], p[3], '\0'};
			char byte = (char)strtoul(digits, NULL, 16);
			text_append(out, &byte, 1);
			p += 3;
		} else {
			return error_set(err, ERROR_FORMAT, "unknown escape '%.2s'", p);
		}
	}
	return out->failed ? error_memory(err) : 0;
}

static int tree_add_line(const char *root, char *line, struct error *err)
{
	char *link = strstr(line, " -> ");
	char *equals = strstr(line, " =");
	struct text content CLEANUP_TEXT = {0};
	if (link != NULL && (equals == NULL || link < equals)) {
		*link = '\0';
		return tree_link(root, line, link + strlen(" -> "), err);
	}
	if (equals == NULL)
		return error_set(err, ERROR_FORMAT, "neither a file nor a link");
	*equals = '\0';
	const char *value = equals + strlen(" =");
	int rc = tree_unescape(value[0] == ' ' ? value + 1 : value, &content, err);
	return rc < 0 ? rc : tree_file(root, line, text_string(&content), content.size, err);
}

int tree_add(const char *root, const char *name, struct error *err)
{
	char *path CLEANUP_FREE =
		text_format("%s/discovery/tests/trees/%s/tree", GPUCERT_SOURCE_DIR, name);
	char *text CLEANUP_FREE = NULL;
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	int rc = path == NULL ? error_memory(err) : file_read(path, TREE_MAX, &text, NULL, err);
	if (rc == 0 && text != NULL)
		text_list_split(&lines, text, '\n');
	for (size_t i = 0; rc == 0 && i < lines.count; i++) {
		if (lines.items[i][0] == '\0' || lines.items[i][0] == '#')
			continue;
		rc = tree_add_line(root, lines.items[i], err);
		if (rc < 0)
			return error_wrap(err, rc, "%s:%zu", path, i + 1);
	}
	return rc;
}

int tree_take(void *root)
{
	const struct discovery_options options = {.root = root, .filter.include_integrated = true};
	struct discovery_snapshot *snapshot = NULL;
	int rc = discovery_take(&options, &snapshot, NULL);
	discovery_free(snapshot);
	return rc;
}

void tree_remove(char **root)
{
	if (*root != NULL)
		(void)file_remove_tree(*root, NULL);
	free(*root);
	*root = NULL;
}
