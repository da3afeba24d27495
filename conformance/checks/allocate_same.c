/* SPDX-License-Identifier: MIT */
/* In which member do two answers of Allocate differ? */
#include "base/file.h"
#include "base/memory.h"
#include "conformance/checks/allocate.h"
#include "conformance/checks/node_file.h"
#include "containers/grant/grant.h"

#include <string.h>

/* An answer as sorted lines "member = value". It is a set: its members in any order mean the same. */
struct lines {
	bool granted; /* only members that grant devices and files */
	struct text_list list;
};

static void add_line(struct lines *lines, const char *member, const char *key, const char *value)
{
	text_list_addf(&lines->list, "%s[%s]%s%s", member, key, value != NULL ? " = " : "",
		       value != NULL ? value : "");
}

/* A name and a value, which may be a comma-separated list of devices in any order. */
static void add_pair(struct lines *lines, const char *member, const char *key, const char *value)
{
	struct text_list elements CLEANUP_TEXT_LIST = {0};
	struct text sorted CLEANUP_TEXT = {0};
	text_list_split(&elements, value, ',');
	text_list_sort(&elements);
	for (size_t i = 0; i < elements.count; i++)
		text_addf(&sorted, "%s%s", i != 0 ? "," : "", elements.items[i]);

	/* Only the prefix of an annotation of CDI counts: the rest names the request. */
	const char *cdi = strstr(key, GRANT_CDI_ANNOTATION);
	char *plain CLEANUP_FREE =
		cdi == NULL ? memory_copy(key)
			    : text_format("%.*s*", (int)(cdi + strlen(GRANT_CDI_ANNOTATION) - key),
					  key);
	add_line(lines, member, plain, text_string(&sorted));
}

static void add_file(struct lines *lines, const char *member, const char *container_path,
		     const char *host_path, const char *mode)
{
	struct node_file file = {0};
	char *source CLEANUP_FREE = NULL;
	if (lines->granted && node_file_identify(host_path, &file)) {
		/* The file that the path leads to. The plugin may make a folder for each
		 * container. */
		if (node_file_is_device(&file))
			source = text_format("%s device %u:%u",
					     file.kind == NODE_FILE_BLOCK ? "block" : "character",
					     file.major, file.minor);
		else if (file.kind == NODE_FILE_FOLDER)
			source = memory_copy("a folder");
		else
			(void)file_resolve(NULL, host_path, &source, NULL);
	}
	char *value CLEANUP_FREE =
		text_format("%s (%s)", source != NULL ? source : host_path, mode);
	add_line(lines, member, container_path, value);
}

static struct lines read_lines(enum allocate_members members,
			       const V1beta1__ContainerAllocateResponse *answer)
{
	const bool shape = members == ALLOCATE_SHAPE;
	struct lines lines = {.granted = members != ALLOCATE_ALL};
	answer_each (device, answer, devices) {
		if (shape)
			add_line(&lines, "devices", device->container_path, NULL);
		add_file(&lines, "devices", shape ? "" : device->container_path, device->host_path,
			 device->permissions);
	}
	answer_each (mount, answer, mounts) {
		const char *mode = mount->read_only ? "read-only" : "writable";
		if (shape)
			add_line(&lines, "mounts", mount->container_path, mode);
		else
			add_file(&lines, "mounts", mount->container_path, mount->host_path, mode);
	}
	answer_each (cdi, answer, cdi_devices)
		add_line(&lines, "cdi_devices", cdi->name, NULL);
	if (members == ALLOCATE_ADDED) {
		text_list_sort(&lines.list);
		return lines;
	}
	answer_each (env, answer, envs) {
		if (lines.granted)
			add_line(&lines, "envs", env->key, NULL);
		else
			add_pair(&lines, "envs", env->key, env->value);
	}
	answer_each (annotation, answer, annotations) {
		const char *key = annotation->key;
		if (!lines.granted || strstr(key, GRANT_CDI_ANNOTATION) != NULL)
			add_pair(&lines, "annotations", key, annotation->value);
	}
	text_list_sort(&lines.list);
	return lines;
}

/* The line about the same member as the other line; NULL: none. */
static const char *find_member(const struct text_list *list, const char *other)
{
	char *member CLEANUP_FREE = memory_copy(other);
	char *end = strstr(member, "] = ");
	if (end != NULL)
		end[1] = '\0';
	text_each (line, list) {
		if (text_starts_with(line, member))
			return line;
	}
	return NULL;
}

/* Shows the value, in this list, of the member that the line of one of the lists is about. */
static void show(const struct text_list *list, const char *line, char shown[ALLOCATE_SHOWN])
{
	struct text escaped CLEANUP_TEXT = {0};
	size_t times = 0;
	text_each (each, list)
		times += text_equal(each, line) ? 1 : 0;
	const char *member = times != 0 ? line : find_member(list, line);
	const char *bracket = strchr(line, ']');
	if (member == NULL)
		text_add(&escaped, "no ");
	if (member != NULL)
		text_add_escaped(&escaped, member, strlen(member));
	else if (bracket != NULL)
		text_add_escaped(&escaped, line, (size_t)(bracket - line) + 1);
	size_t size = text_fit(text_string(&escaped), escaped.size, ALLOCATE_SHOWN - 24);
	int end = snprintf(shown, ALLOCATE_SHOWN, "%.*s%s", (int)size, text_string(&escaped),
			   size < escaped.size ? "..." : "");
	if (times > 1)
		(void)snprintf(shown + end, ALLOCATE_SHOWN - (size_t)end, ", %zu times", times);
}

/* Keeps the difference in this line of one of the lists: the first one, or the first device node. */
static void keep_difference(const char *line, const struct lines lines[2],
			    struct allocate_difference *out)
{
	bool is_device = text_starts_with(line, "devices[");
	if (out->found && (out->is_device || !is_device))
		return;
	out->found = true;
	out->is_device = is_device;
	show(&lines[0].list, line, out->first);
	show(&lines[1].list, line, out->second);
}

/* Packed, both are the same bytes: the files that they name need not be compared. */
static bool are_equal(const V1beta1__ContainerAllocateResponse *first,
		      const V1beta1__ContainerAllocateResponse *second)
{
	const size_t size = protobuf_c_message_get_packed_size(&first->base);
	if (size != protobuf_c_message_get_packed_size(&second->base))
		return false;
	uint8_t *bytes CLEANUP_FREE = memory_allocate(2, size + 1);
	(void)protobuf_c_message_pack(&first->base, bytes);
	(void)protobuf_c_message_pack(&second->base, bytes + size);
	return memcmp(bytes, bytes + size, size) == 0;
}

bool allocate_differ(enum allocate_members members, const V1beta1__ContainerAllocateResponse *first,
		     const V1beta1__ContainerAllocateResponse *second,
		     struct allocate_difference *out)
{
	*out = (struct allocate_difference){0};
	if (are_equal(first, second))
		return false;
	struct lines lines[2] = {read_lines(members, first), read_lines(members, second)};
	struct text_list *one = &lines[0].list;
	struct text_list *other = &lines[1].list;

	/* Goes through both sorted lists at once. */
	size_t i = 0;
	size_t j = 0;
	while (i < one->count || j < other->count) {
		int order = 0;
		if (i == one->count)
			order = 1;
		else if (j == other->count)
			order = -1;
		else
			order = strcmp(one->items[i], other->items[j]);
		if (order < 0)
			keep_difference(one->items[i], lines, out);
		if (order > 0 && members != ALLOCATE_ADDED)
			keep_difference(other->items[j], lines, out);
		i += order <= 0;
		j += order >= 0;
	}
	text_list_free(one);
	text_list_free(other);
	return out->found;
}

bool allocate_expect_same(struct rig *rig, const char *what, enum allocate_members members,
			  const V1beta1__ContainerAllocateResponse *first,
			  const V1beta1__ContainerAllocateResponse *second)
{
	if (first == NULL || second == NULL)
		return true;
	struct allocate_difference difference = {0};
	if (!allocate_differ(members, first, second, &difference))
		return check_expect(rig->run, true, what, "the same answer", "the same answer");
	return check_expect(rig->run, false, what, difference.first, "%s", difference.second);
}

bool allocate_keep(struct rig *rig, const char *resource, const char *id,
		   struct allocate_kept *kept)
{
	if (kept->count == ALLOCATE_KEPT_MAX)
		return true;
	struct allocate_kept_answer *one = &kept->each[kept->count++];
	one->resource = check_format(rig->run, "%s", resource);
	one->id = check_format(rig->run, "%s", id);
	one->answer = allocate_expect(rig, resource, &id, 1, "Allocate before", &one->reply);
	return one->answer != NULL;
}

void allocate_kept_free(struct allocate_kept *kept)
{
	items_each (one, kept->each, kept->count)
		rpc_answer_free(&one->reply);
}

bool allocate_is_stable(struct rig *rig, const struct rig_item *item)
{
	struct rpc_answer first CLEANUP_RPC_ANSWER = {0};
	struct rpc_answer second CLEANUP_RPC_ANSWER = {0};
	struct allocate_difference difference = {0};
	const char *const *ids = rig_ids(item->ids);
	const V1beta1__ContainerAllocateResponse *one =
		rig_ask(rig, item->resource, ids, 1, &first);
	const V1beta1__ContainerAllocateResponse *other =
		rig_ask(rig, item->resource, ids, 1, &second);
	return one != NULL && other != NULL &&
	       !allocate_differ(ALLOCATE_ALL, one, other, &difference);
}

bool allocate_changed(bool stable, const V1beta1__ContainerAllocateResponse *first,
		      const V1beta1__ContainerAllocateResponse *second,
		      struct allocate_difference *out)
{
	return allocate_differ(stable ? ALLOCATE_ALL : ALLOCATE_GRANTED, first, second, out) &&
	       (stable || out->is_device);
}
