/* SPDX-License-Identifier: MIT */
#include "discovery/linux/manifest.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/path.h"

#include <limits.h>
#include <string.h>

enum { MANIFEST_MAX = 64 * 1024 };

int manifest_find_library(struct elf_closure *closure, const char *manifest, const char *name,
			  char **out, struct error *err)
{
	char *directory CLEANUP_FREE = path_directory(manifest);

	if (strchr(name, '/') == NULL)
		return elf_closure_find(closure, name, out, err);
	if (directory == NULL)
		return error_memory(err);
	char *joined CLEANUP_FREE =
		path_is_absolute(name) ? memory_copy(name) : path_join(directory, name);
	*out = joined != NULL ? path_normalize(joined) : NULL;
	return *out != NULL ? 0 : error_memory(err);
}

void manifest_read_directory(struct node *node, const char *directory, const char *suffix,
			     manifest_read *read, const void *user)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	struct error err = {0};

	int rc = file_list(directory, &names, &err);
	if (rc < 0 && rc != ERROR_NOT_FOUND)
		builder_diagnose(node->builder, directory, "%s", err.text);
	text_each (name, &names) {
		char *data CLEANUP_FREE = NULL;
		size_t size = 0;

		if (!text_ends_with(name, suffix))
			continue;
		const char *path = builder_path(node->builder, directory, name);
		const char *manifest = places_host(node->places, path);
		err = (struct error){0};
		rc = file_read(path, MANIFEST_MAX, &data, &size, &err);
		if (rc == 0)
			rc = read(node, manifest, data, size, user, &err);
		if (rc < 0)
			builder_diagnose(node->builder, manifest, "%s", err.text);
	}
}

int opencl_icd_parse(const char *data, size_t size, char **library, struct error *err)
{
	const char *end = size > 0 ? memchr(data, '\n', size) : NULL;
	size_t length = end != NULL ? (size_t)(end - data) : size;
	size_t start = 0;

	while (start < length && (data[start] == ' ' || data[start] == '\t'))
		start++;
	while (length > start && strchr(" \t\r", data[length - 1]) != NULL &&
	       data[length - 1] != '\0')
		length--;
	if (length == start)
		return error_set(err, ERROR_FORMAT, "line 1: names no library");
	if (length - start >= PATH_MAX)
		return error_set(err, ERROR_LIMIT, "line 1: longer than a path");
	for (size_t i = start; i < length; i++) {
		if ((unsigned char)data[i] < 0x20 || data[i] == 0x7f)
			return error_set(err, ERROR_FORMAT, "line 1, column %zu: not text", i + 1);
	}
	if (!text_is_utf8(data + start, length - start))
		return error_set(err, ERROR_FORMAT, "line 1: not UTF-8");
	*library = memory_copy_start(data + start, length - start);
	return *library != NULL ? 0 : error_memory(err);
}

int vulkan_icd_parse(const char *data, size_t size, struct vulkan_icd *out, struct error *err)
{
	cJSON *document CLEANUP_JSON = NULL;
	const char *library = "";
	const char *version = "";
	struct json_at icd = {0};

	int rc = json_parse(data, size, &document, err);
	if (rc < 0)
		return rc;
	struct json_at root = json_root(document);
	rc = json_need(&root, "ICD", JSON_OBJECT, &icd, err);
	if (rc == 0)
		rc = json_need_string(&icd, "library_path", &library, err);
	if (rc == 0 && library[0] == '\0')
		rc = error_set(err, ERROR_FORMAT, "ICD.library_path: is empty");
	if (rc == 0)
		rc = json_have_string(&icd, "api_version", &version, err);
	if (rc < 0)
		return rc;
	out->library_path = memory_copy(library);
	out->api_version = memory_copy(version);
	return out->library_path != NULL && out->api_version != NULL ? 0 : error_memory(err);
}

void vulkan_icd_free(struct vulkan_icd *icd)
{
	free(icd->library_path);
	free(icd->api_version);
	*icd = (struct vulkan_icd){0};
}
