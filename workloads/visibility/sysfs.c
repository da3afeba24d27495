/* SPDX-License-Identifier: MIT */
#include "workloads/visibility/sysfs.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/members.h"
#include "base/path.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_pci_address(const char *name)
{
	static const char shape[] = "hhhh:hh:hh.h"; /* longer domains exist under Hyper-V */
	const char *colon = strchr(name, ':');
	size_t extra = colon != NULL ? (size_t)(colon - name) : 0;

	if (extra < 4 || extra > 8 || strlen(name) != strlen(shape) + extra - 4)
		return false;
	for (size_t i = 0; i < extra; i++)
		if (!isxdigit((unsigned char)name[i]))
			return false;
	for (size_t i = 4; shape[i] != '\0'; i++) {
		const char c = name[i + extra - 4];

		if (shape[i] == 'h' ? !isxdigit((unsigned char)c) : c != shape[i])
			return false;
	}
	return true;
}

/* Names of connectors ("card0-HDMI-A-1") hold a hyphen. */
static bool is_card(const char *name)
{
	return (text_starts_with(name, "card") || text_starts_with(name, "renderD")) &&
	       strchr(name, '-') == NULL;
}

static void member_attribute(struct members *members, const char *key, const char *card,
			     const char *attribute)
{
	char *path CLEANUP_FREE = path_join(card, attribute);
	char *line CLEANUP_FREE = NULL;

	if (path == NULL)
		members->failed = true;
	else
		(void)file_read_line(path, &line, NULL);
	member_string(members, key, line);
}

/* The last part of what a symbolic link leads to; null without one. `accept` may be NULL. */
static void member_link(struct members *members, const char *key, const char *card,
			const char *link, bool (*accept)(const char *name))
{
	char *path CLEANUP_FREE = path_join(card, link);
	char *target CLEANUP_FREE = path != NULL ? realpath(path, NULL) : NULL;
	const char *name = target != NULL ? path_base(target) : NULL;

	if (path == NULL)
		members->failed = true;
	member_string(members, key, name != NULL && (accept == NULL || accept(name)) ? name : NULL);
}

static cJSON *card_json(const char *folder, const char *name)
{
	struct members members CLEANUP_MEMBERS = members_new();
	char *card CLEANUP_FREE = path_join(folder, name);

	if (card == NULL)
		return NULL;
	member_string(&members, "name", name);
	member_attribute(&members, "number", card, "dev");
	member_attribute(&members, "vendorId", card, "device/vendor");
	member_attribute(&members, "deviceId", card, "device/device");
	member_link(&members, "pciAddress", card, "device", is_pci_address);
	member_link(&members, "driver", card, "device/driver", NULL);
	return members_take(&members);
}

static cJSON *name_json(const char *folder, const char *name)
{
	(void)folder;
	return cJSON_CreateString(name);
}

/* One element for each accepted name of a directory; JSON null when there is no such directory. */
static int list_folder(const char *root, const char *below, bool (*accept)(const char *name),
		       cJSON *(*describe)(const char *folder, const char *name), cJSON **out,
		       struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	char *folder CLEANUP_FREE = path_join(root, below);
	cJSON *array CLEANUP_JSON = NULL;
	int code = 0;

	if (folder == NULL)
		return error_memory(err);
	array = file_is_directory(folder) ? cJSON_CreateArray() : cJSON_CreateNull();
	if (array == NULL)
		return error_memory(err);
	if (cJSON_IsArray(array))
		code = file_list(folder, &names, err);
	for (size_t i = 0; code == 0 && i < names.count; i++)
		if (accept(names.items[i]) && !array_add(array, describe(folder, names.items[i])))
			code = error_memory(err);
	if (code == 0)
		*out = STEAL(array);
	return code;
}

int sysfs_list(const char *sys_root, const char *proc_root, cJSON **out, struct error *err)
{
	struct members sysfs CLEANUP_MEMBERS = members_new();
	cJSON *drm CLEANUP_JSON = NULL;
	cJSON *nvidia CLEANUP_JSON = NULL;
	int code = list_folder(sys_root, "class/drm", is_card, card_json, &drm, err);

	if (code == 0)
		code = list_folder(proc_root, "driver/nvidia/gpus", is_pci_address, name_json,
				   &nvidia, err);
	if (code != 0)
		return code;
	member_item(&sysfs, "drm", STEAL(drm));
	member_item(&sysfs, "nvidia", STEAL(nvidia));
	*out = members_take(&sysfs);
	return *out != NULL ? 0 : error_memory(err);
}
