/* SPDX-License-Identifier: MIT */
/* Render nodes, and what sysfs reports of their devices. */
#include "workloads/vaapi/vaapi.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { RENDER_FIRST = 128 };

int vaapi_open_nodes(struct vaapi *va, struct api_report *report, struct error *err)
{
	int code = 0; /* the errno of a node that exists and cannot be opened */

	for (unsigned i = 0; i < VAAPI_NODES_MAX; i++) {
		struct vaapi_node *node = &va->nodes[va->count];
		struct stat status = {0};

		(void)snprintf(node->path, sizeof(node->path), "/dev/dri/renderD%u",
			       RENDER_FIRST + i);
		node->fd = open(node->path, O_RDWR | O_CLOEXEC);
		if (node->fd >= 0 && fstat(node->fd, &status) == 0) {
			node->major = major(status.st_rdev);
			node->minor = minor(status.st_rdev);
			va->count++;
		} else if (errno != ENOENT) {
			char message[128] = "";
			code = errno;
			(void)snprintf(message, sizeof(message), "%s: %s", node->path,
				       strerror(code));
			api_report_message(report, message);
		}
	}
	if (va->count == 0 && code != 0)
		return error_set(err, ERROR_PERMISSION,
				 "no render node of /dev/dri can be opened: %s", strerror(code));
	return 0;
}

static char *sysfs_path(const struct vaapi_node *node, const char *name)
{
	return text_format("/sys/dev/char/%u:%u/device%s", node->major, node->minor, name);
}

static void add_number(struct members *device, const char *key, const struct vaapi_node *node,
		       const char *name)
{
	char *path CLEANUP_FREE = sysfs_path(node, name);
	char *text CLEANUP_FREE = NULL;
	size_t size = 0;

	if (file_read(path, 64, &text, &size, NULL) == 0)
		member_hex(device, key, strtoul(text, NULL, 16), 4);
}

cJSON *vaapi_describe(const struct vaapi *va, size_t index)
{
	const struct vaapi_node *node = &va->nodes[index];
	struct members device CLEANUP_MEMBERS = api_device_new(index);

	member_string(&device, "name",
		      node->reason.code == 0 ? va->vaQueryVendorString(node->display) : NULL);
	member_bool(&device, "software", false);
	add_number(&device, "vendorId", node, "/vendor");
	add_number(&device, "deviceId", node, "/device");

	/* The folder of a PCI device is named by its address: "0000:3b:00.0". */
	char *path CLEANUP_FREE = sysfs_path(node, "");
	char *folder CLEANUP_FREE = realpath(path, NULL);
	const char *name = folder != NULL ? strrchr(folder, '/') : NULL;
	const bool pci = name != NULL && text_glob("/*:??:??.?", name);
	member_string(&device, "pciAddress", pci ? name + 1 : NULL);

	api_add_drm(&device, (struct api_node){0},
		    (struct api_node){true, node->major, node->minor});
	member_optional(&device, "apiVersion", node->version);
	return members_take(&device);
}
