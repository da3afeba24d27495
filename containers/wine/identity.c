/* SPDX-License-Identifier: MIT */
#include "containers/wine/identity.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "containers/wine/device.h"

#include <gpucert/discovery.h>
#include <stdlib.h>
#include <string.h>

enum { LIBRARY_MAX = 64 * 1024 * 1024 };

#define VKD3D_LIBRARY "wined3d.dll"
#define VKD3D_FOLDER  "/usr/lib/x86_64-linux-gnu/wine/x86_64-windows"

void wine_identity_free(struct wine_identity *identity)
{
	free(identity->wine);
	free(identity->vkd3d);
	discovery_free(identity->drivers);
	*identity = (struct wine_identity){0};
}

char *wine_vkd3d_version(const char *data, size_t size)
{
	static const char mark[] = "vkd3d ";
	const char *end = data + size;
	for (const char *at = data;
	     (at = memmem(at, (size_t)(end - at), mark, sizeof(mark) - 1));) {
		at += sizeof(mark) - 1;
		if (at < end && *at >= '0' && *at <= '9')
			return memory_copy_start(at, strspn(at, "0123456789."));
	}
	return NULL;
}

bool wine_vkd3d_has_dxil(const char *data, size_t size)
{
	static const char mark[] = "with its experimental DXIL parser";
	return memmem(data, size, mark, sizeof(mark) - 1) != NULL;
}

int wine_identity_read(const struct wine_node *node, struct wine_identity *out, struct error *err)
{
	static const char name[] = "Wine ";
	const struct discovery_options options = {.root = node->root};
	struct wine_identity identity CLEANUP_WINE_IDENTITY = {0};
	struct text_list dlls CLEANUP_TEXT_LIST = {0};
	struct text digests CLEANUP_TEXT = {0};
	char *packages CLEANUP_FREE = path_join(node->root, WINE_NODE_PACKAGES);
	int rc = wine_node_version(node, &identity.wine, err);
	if (rc == 0)
		rc = discovery_take(&options, &identity.drivers, err);
	if (rc == 0)
		rc = wine_dlls_list(node->dlls, &dlls, err);
	if (rc == 0)
		rc = digest_file(packages, identity.digest, NULL, err);
	if (rc == 0)
		rc = wine_dlls_add_digests(node->dlls, &digests, err);
	if (rc < 0)
		return rc;

	/* The digest covers the list of packages, and the DLLs where there are some. */
	if (digests.size > 0) {
		text_add(&digests, identity.digest);
		digest_bytes(text_string(&digests), digests.size, identity.digest);
	}
	if (text_starts_with(identity.wine, name))
		memmove(identity.wine, identity.wine + strlen(name),
			strlen(identity.wine + strlen(name)) + 1);

	/* vkd3d is in the library that containers get. */
	char *own CLEANUP_FREE = path_join(node->root, VKD3D_FOLDER "/" VKD3D_LIBRARY);
	char *data CLEANUP_FREE = NULL;
	const char *path = own;
	size_t size = 0;
	text_each (dll, &dlls) {
		if (strcmp(path_base(dll), VKD3D_LIBRARY) == 0)
			path = dll;
	}
	if (file_read(path, LIBRARY_MAX, &data, &size, NULL) == 0) {
		identity.vkd3d = wine_vkd3d_version(data, size);
		identity.dxil = wine_vkd3d_has_dxil(data, size);
	}
	*out = STEAL(identity);
	return 0;
}

int wine_identity_add_files(const struct wine_node *node, const char *location_path,
			    struct digest_set *set, struct digests *digests, struct error *err)
{
	const struct wine_device *device = wine_device_at(location_path);
	struct grant drivers CLEANUP_GRANT = {0};
	int rc = device != NULL ? wine_drivers_add(node, device, &drivers, err) : 0;
	for (size_t i = 0; rc == 0 && i < drivers.mounts.count; i++)
		rc = digest_set_add(set, digests, drivers.mounts.items[i].container_path,
				    drivers.mounts.items[i].host_path, err);
	return rc;
}
