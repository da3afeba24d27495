/* SPDX-License-Identifier: MIT */
/* What is in the answer of Allocate. */
#include "conformance/checks/allocate.h"

#include "base/file.h"
#include "base/path.h"
#include "conformance/runner/context.h"
#include "containers/wine/translation.h"

#include <string.h>
#include <sys/stat.h>

#ifdef _WIN32
#define SEPARATORS "/\\"
#else
#define SEPARATORS "/"
#endif

static bool allocate_path_is_sound(const char *path)
{
	const char *part = path;

	while (*part != '\0') {
		size_t length = strcspn(part, SEPARATORS);

		if (length == 2 && part[0] == '.' && part[1] == '.')
			return false;
		part += length + strspn(part + length, SEPARATORS);
	}
	return path_is_absolute(path);
}

/* On the Wine node, Windows paths are files of this machine. */
static bool allocate_is_on_wine_node(const struct context *context, const char *path)
{
	struct wine_node node CLEANUP_WINE_NODE = {0};
	char *place CLEANUP_FREE = NULL;

	return wine_node_open(context->wine_directory, &node, NULL) == 0 &&
	       wine_find_file(&node, path, &place, NULL) == 0;
}

static bool allocate_path_exists(const struct context *context, const char *path)
{
	if (context->wine_directory != NULL)
		return allocate_is_on_wine_node(context, path);
	return allocate_path_is_sound(path) && file_exists(path);
}

static bool allocate_is_device_node(const char *path)
{
	struct stat status = {0};

	return allocate_path_is_sound(path) && stat(path, &status) == 0 &&
	       (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode));
}

static void paths_exist(struct rig *rig, const char *resource, const struct text_list *ids)
{
	for (size_t i = 0; i < ids->count; i++) {
		struct kubelet_reply reply = {0};
		const V1beta1__ContainerAllocateResponse *response =
			allocate_expect(rig, resource, (const char *const *)&ids->items[i], 1,
					ids->items[i], &reply);

		for (size_t j = 0; response != NULL && j < response->n_mounts; j++) {
			const char *path = response->mounts[j]->host_path;
			bool there = allocate_path_exists(rig->context, path);

			(void)check_expect(rig->run, there, "mounts[].host_path",
					   "absolute and present", "%s%s", path,
					   there ? "" : " (missing)");
		}
		/* On Windows it is no path; windows.string-form and windows.location-path look at
		 * it. */
		for (size_t j = 0;
		     response != NULL && !rig_is_windows(rig) && j < response->n_devices; j++) {
			const char *path = response->devices[j]->host_path;
			bool node = allocate_is_device_node(path);

			(void)check_expect(rig->run, node, "devices[].host_path", "a device node",
					   "%s%s", path,
					   node ? "" : " (missing or no device node)");
		}
		kubelet_reply_free(&reply);
	}
}

void allocate_paths_exist(struct check_run *run)
{
	allocate_each(run, paths_exist);
}

static void allocate_expect_unique(struct rig *rig, const char *what, struct text_list *paths,
				   const char *path)
{
	(void)check_expect(rig->run, !text_list_has(paths, path), what, "used once", "%s", path);
	if (text_list_add(paths, path, NULL) < 0)
		check_broken(rig->run, "out of memory");
}

static void allocate_expect_unique_paths(struct rig *rig,
					 const V1beta1__ContainerAllocateResponse *response)
{
	struct text_list mounts CLEANUP_TEXT_LIST = {0};
	struct text_list nodes CLEANUP_TEXT_LIST = {0};
	bool windows = rig_is_windows(rig);

	for (size_t i = 0; i < response->n_mounts; i++)
		allocate_expect_unique(rig, "mounts[].container_path", &mounts,
				       response->mounts[i]->container_path);
	/* Windows devices have no path in the container: containerd demands an empty one. */
	for (size_t i = 0; i < response->n_devices; i++)
		allocate_expect_unique(
			rig, windows ? "devices[].host_path" : "devices[].container_path", &nodes,
			windows ? response->devices[i]->host_path
				: response->devices[i]->container_path);
}

static void unique_paths(struct rig *rig, const char *resource, const struct text_list *ids)
{
	size_t count = ids->count < ALLOCATE_TOGETHER_MAX ? ids->count : ALLOCATE_TOGETHER_MAX;
	struct kubelet_reply together = {0};
	const V1beta1__ContainerAllocateResponse *response =
		allocate_expect_together(rig, resource, (const char *const *)ids->items, count,
					 "all devices together", &together);

	if (response != NULL)
		allocate_expect_unique_paths(rig, response);
	/* Refused together: one by one. */
	for (size_t i = 0; response == NULL && i < count; i++) {
		struct kubelet_reply reply = {0};
		const V1beta1__ContainerAllocateResponse *alone =
			allocate_expect(rig, resource, (const char *const *)&ids->items[i], 1,
					ids->items[i], &reply);

		if (alone != NULL)
			allocate_expect_unique_paths(rig, alone);
		kubelet_reply_free(&reply);
	}
	kubelet_reply_free(&together);
}

void allocate_unique_paths(struct check_run *run)
{
	allocate_each(run, unique_paths);
}

static bool allocate_is_dangerous(const char *path)
{
	static const char *const whole[] = {"/",     "/etc",  "/proc", "/sys", "/dev",
					    "/usr",  "/lib",  "/bin",  "/var", "/run",
					    "/home", "/root", "/boot"};
	static const char *const inside[] = {"/run/containerd", "/var/run/docker.sock",
					     "/var/lib/kubelet", "/proc"};
	char *clean CLEANUP_FREE = path_normalize(path);

	for (size_t i = 0; clean != NULL && i < ARRAY_SIZE(whole); i++) {
		if (strcmp(clean, whole[i]) == 0)
			return true;
	}
	for (size_t i = 0; clean != NULL && i < ARRAY_SIZE(inside); i++) {
		if (path_is_within(clean, inside[i]))
			return true;
	}
	return clean == NULL;
}

static void read_only(struct rig *rig, const char *resource, const struct text_list *ids)
{
	struct kubelet_reply reply = {0};
	const V1beta1__ContainerAllocateResponse *response =
		allocate_expect(rig, resource, (const char *const *)ids->items, 1,
				"Allocate of one device", &reply);

	for (size_t i = 0; response != NULL && i < response->n_mounts; i++) {
		const V1beta1__Mount *mount = response->mounts[i];

		(void)check_expect(rig->run, mount->read_only, "mounts[].read_only", "true",
				   "%s: %s", mount->container_path,
				   mount->read_only ? "true" : "false");
		(void)check_expect(rig->run,
				   !allocate_is_dangerous(mount->container_path) &&
					   !allocate_is_dangerous(mount->host_path),
				   "mounts[]", "harmless paths", "%s on %s", mount->host_path,
				   mount->container_path);
	}
	kubelet_reply_free(&reply);
}

void allocate_read_only(struct check_run *run)
{
	allocate_each(run, read_only);
}
