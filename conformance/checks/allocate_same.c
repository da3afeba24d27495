/* SPDX-License-Identifier: MIT */
/* In which member do two answers of Allocate differ? */
#include "base/cleanup.h"
#include "base/file.h"
#include "conformance/checks/allocate.h"
#include "conformance/checks/node_file.h"
#include "containers/grant/grant.h"

#include <string.h>

/* An answer as sorted lines "member = value". It is a set: its members in any order mean the same. */
struct lines {
	bool granted; /* only what hands out devices and files */
	struct text_list list;
	struct error err;
	int rc;
};

static void add_line(struct lines *lines, const char *member, const char *key, const char *value)
{
	if (lines->rc == 0)
		lines->rc = text_list_addf(&lines->list, &lines->err, "%s[%s]%s%s", member, key,
					   value != NULL ? " = " : "", value != NULL ? value : "");
}

/* The same elements in any order between commas are the same list of devices. */
static char *sort_elements(const char *value)
{
	struct text_list elements CLEANUP_TEXT_LIST = {0};
	struct text sorted CLEANUP_TEXT = {0};
	if (text_list_split(&elements, value, ',', NULL) < 0)
		return NULL;
	text_list_sort(&elements);
	text_add(&sorted, "");
	for (size_t i = 0; i < elements.count; i++)
		text_addf(&sorted, "%s%s", i != 0 ? "," : "", elements.items[i]);
	return text_take(&sorted);
}

/* A key; of an annotation of CDI only the prefix, for what follows names the request and means nothing. */
static char *plain_key(const char *key)
{
	const char *cdi = strstr(key, GRANT_CDI_ANNOTATION);
	return cdi == NULL
		       ? strdup(key)
		       : text_format("%.*s*", (int)(cdi + strlen(GRANT_CDI_ANNOTATION) - key), key);
}

/* A list of names and values. */
static void add_pair(struct lines *lines, const char *member, const char *key, const char *value)
{
	char *plain CLEANUP_FREE = plain_key(key);
	char *sorted CLEANUP_FREE = sort_elements(value);
	if (plain != NULL && sorted != NULL)
		add_line(lines, member, plain, sorted);
	else if (lines->rc == 0)
		lines->rc = error_memory(&lines->err);
}

static void add_values(struct lines *lines, const V1beta1__ContainerAllocateResponse *answer)
{
	for (size_t i = 0; i < answer->n_envs; i++) {
		if (lines->granted)
			add_line(lines, "envs", answer->envs[i]->key, NULL);
		else
			add_pair(lines, "envs", answer->envs[i]->key, answer->envs[i]->value);
	}
	for (size_t i = 0; i < answer->n_annotations; i++) {
		const char *key = answer->annotations[i]->key;
		if (!lines->granted || strstr(key, GRANT_CDI_ANNOTATION) != NULL)
			add_pair(lines, "annotations", key, answer->annotations[i]->value);
	}
}

/* What a path leads to, whatever it is called; a folder may be one that the plugin makes for each container. */
static char *describe_file(const char *path)
{
	struct node_file file = {0};
	char *real = NULL;
	if (!node_file_identify(path, &file))
		return strdup(path);
	if (file.kind == NODE_FILE_CHARACTER || file.kind == NODE_FILE_BLOCK)
		return text_format("%s device %u:%u",
				   file.kind == NODE_FILE_BLOCK ? "block" : "character", file.major,
				   file.minor);
	if (file.kind == NODE_FILE_FOLDER)
		return strdup("a folder");
	return file_resolve(NULL, path, &real, NULL) == 0 ? real : strdup(path);
}

static void add_file(struct lines *lines, const char *member, const char *container_path,
		     const char *host_path, const char *mode)
{
	char *source CLEANUP_FREE = lines->granted ? describe_file(host_path) : strdup(host_path);
	char *value CLEANUP_FREE = source != NULL ? text_format("%s (%s)", source, mode) : NULL;
	if (value != NULL)
		add_line(lines, member, container_path, value);
	else if (lines->rc == 0)
		lines->rc = error_memory(&lines->err);
}

static void read_lines(const V1beta1__ContainerAllocateResponse *answer, struct lines *lines)
{
	for (size_t i = 0; i < answer->n_devices; i++)
		add_file(lines, "devices", answer->devices[i]->container_path,
			 answer->devices[i]->host_path, answer->devices[i]->permissions);
	for (size_t i = 0; i < answer->n_mounts; i++)
		add_file(lines, "mounts", answer->mounts[i]->container_path,
			 answer->mounts[i]->host_path,
			 answer->mounts[i]->read_only ? "read-only" : "writable");
	for (size_t i = 0; i < answer->n_cdi_devices; i++)
		add_line(lines, "cdi_devices", answer->cdi_devices[i]->name, NULL);
	add_values(lines, answer);
	text_list_sort(&lines->list);
}

/* The line of the member that the other line is about; NULL: none. */
static const char *find_member(const struct text_list *list, const char *other)
{
	const char *end = strstr(other, "] = ");
	size_t length = end != NULL ? (size_t)(end - other) + 1 : strlen(other);
	text_each (line, list) {
		if (strncmp(line, other, length) == 0)
			return line;
	}
	return NULL;
}

static void show(const char *line, const char *other, char shown[ALLOCATE_SHOWN])
{
	struct text escaped CLEANUP_TEXT = {0};
	const char *bracket = strchr(other, ']');
	if (line != NULL)
		text_add_escaped(&escaped, line, strlen(line));
	else if (bracket != NULL)
		text_addf(&escaped, "no %.*s", (int)(bracket - other + 1), other);
	size_t size = text_fit(text_string(&escaped), escaped.size, ALLOCATE_SHOWN - 4);
	(void)snprintf(shown, ALLOCATE_SHOWN, "%.*s%s", (int)size, text_string(&escaped),
		       size < escaped.size ? "..." : "");
}

/* Keeps the difference in this line of one of the lists: the first one, or the first device node. */
static void keep_difference(const char *line, bool is_first, const struct text_list *other,
			    struct allocate_difference *out)
{
	bool is_device = text_starts_with(line, "devices[");
	if (out->found && (out->is_device || !is_device))
		return;
	out->found = true;
	out->is_device = is_device;
	show(is_first ? line : find_member(other, line), line, out->first);
	show(is_first ? find_member(other, line) : line, line, out->second);
}

static void find_difference(const struct text_list *first, const struct text_list *second,
			    struct allocate_difference *out)
{
	size_t i = 0;
	size_t j = 0;
	while (i < first->count || j < second->count) {
		int order = i == first->count	 ? 1
			    : j == second->count ? -1
						 : strcmp(first->items[i], second->items[j]);
		if (order < 0)
			keep_difference(first->items[i], true, second, out);
		if (order > 0)
			keep_difference(second->items[j], false, first, out);
		i += order <= 0;
		j += order >= 0;
	}
}

bool allocate_differ(struct rig *rig, enum allocate_members members,
		     const V1beta1__ContainerAllocateResponse *first,
		     const V1beta1__ContainerAllocateResponse *second,
		     struct allocate_difference *out)
{
	struct lines lines[2] = {{.granted = members == ALLOCATE_GRANTED},
				 {.granted = members == ALLOCATE_GRANTED}};
	*out = (struct allocate_difference){0};
	read_lines(first, &lines[0]);
	read_lines(second, &lines[1]);
	if (check_works(rig->run, lines[0].rc, NULL, &lines[0].err) &&
	    check_works(rig->run, lines[1].rc, NULL, &lines[1].err))
		find_difference(&lines[0].list, &lines[1].list, out);
	text_list_free(&lines[0].list);
	text_list_free(&lines[1].list);
	return out->found;
}

bool allocate_expect_same(struct rig *rig, const char *what, enum allocate_members members,
			  const V1beta1__ContainerAllocateResponse *first,
			  const V1beta1__ContainerAllocateResponse *second)
{
	struct allocate_difference difference = {0};
	bool compared = first != NULL && second != NULL;
	bool same = !compared || !allocate_differ(rig, members, first, second, &difference);
	if (compared)
		check_expect_at(rig->run, __FILE__, __LINE__, same, NULL, what,
				same ? "the same answer" : difference.first, "%s",
				same ? "the same answer" : difference.second);
	return same;
}
