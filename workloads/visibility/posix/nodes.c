/* SPDX-License-Identifier: MIT */
#include "workloads/visibility/visibility.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/members.h"
#include "base/path.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <uv.h>

/* Where drivers put their nodes. The first matching pattern decides; rows of one directory follow each
 * other. */
static const struct node_rule {
	const char *directory; /* below /dev; "" for /dev itself */
	const char *pattern;
	const char *kind;
} rules[] = {
	{"", "dxg", "dxg"},
	{"", "kfd", "kfd"},
	{"", "mali*", "mali"},
	{"", "nvidia*", "nvidia"},
	{"accel", "accel*", "accel"},
	{"dri", "card*", "dri-card"},
	{"dri", "controlD*", "dri-control"},
	{"dri", "renderD*", "dri-render"},
	{"nvidia-caps", "*", "nvidia-capability"},
};

void member_outcome(struct members *members, const char *key, bool held)
{
	char name[64] = "";
	member_string(members, key,
		      held ? "ok"
			   : uv_err_name_r(uv_translate_sys_error(errno), name, sizeof(name)));
}

void member_try_open(struct members *members, const char *key, const char *path, int flags)
{
	int fd CLEANUP_FD = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	member_outcome(members, key, fd >= 0);
}

/* Adds the node, when it is one of a driver's. */
static void add_node(const char *path, const char *directory, const char *name, bool opens,
		     cJSON *nodes)
{
	const struct node_rule *rule = NULL;
	struct stat status = {0};

	for (size_t i = 0; rule == NULL && i < ARRAY_SIZE(rules); i++)
		if (strcmp(rules[i].directory, directory) == 0 && text_glob(rules[i].pattern, name))
			rule = &rules[i];
	if (rule == NULL || stat(path, &status) != 0 || S_ISDIR(status.st_mode))
		return;

	struct members node CLEANUP_MEMBERS = members_new();
	const bool is_device = S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode);
	const char *type = S_ISBLK(status.st_mode) ? "block" : "character";
	member_format(&node, "path", "/dev/%s%s%s", directory, directory[0] != '\0' ? "/" : "",
		      name);
	member_string(&node, "kind", rule->kind);
	member_string(&node, "type", is_device ? type : "other");
	if (is_device)
		member_format(&node, "number", "%u:%u", major(status.st_rdev),
			      minor(status.st_rdev));
	else
		member_null(&node, "number");

	struct members open = member_object(&node, "open");
	if (opens && is_device) {
		member_try_open(&open, "readWrite", path, O_RDWR);
		member_try_open(&open, "readOnly", path, O_RDONLY);
	} else {
		member_null(&open, "readWrite");
		member_null(&open, "readOnly");
	}
	array_add(nodes, members_take(&node));
}

int nodes_list(const char *root, bool try_open, cJSON **out, struct error *err)
{
	cJSON *nodes CLEANUP_JSON = cJSON_CreateArray();
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(rules); i++) {
		const char *directory = rules[i].directory;
		struct text_list names CLEANUP_TEXT_LIST = {0};
		char *folder CLEANUP_FREE = path_join(root, directory);

		if ((i > 0 && strcmp(directory, rules[i - 1].directory) == 0) ||
		    !file_is_directory(folder))
			continue;
		rc = file_list(folder, &names, err);
		text_each (name, &names) {
			char *path CLEANUP_FREE = path_join(folder, name);
			add_node(path, directory, name, try_open, nodes);
		}
	}
	if (rc == 0)
		*out = STEAL(nodes);
	return rc;
}
