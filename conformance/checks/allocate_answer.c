/* SPDX-License-Identifier: MIT */
/* What is in the answer of Allocate. */
#include "conformance/checks/allocate.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "conformance/checks/tally.h"
#include "conformance/runner/context.h"
#include "containers/wine/translation.h"
#include "rpc/rpc.h"

#include <stdlib.h>
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

/* Files may be put in place by PreStartContainer, after the answer that names them. */
static void allocate_prepare(struct rig *rig, const char *resource, char **id)
{
	struct kubelet_plugin *plugin = kubelet_resource_plugin(rig->kubelet, resource);
	const struct kubelet_registration *r = rig_registration(rig, resource);
	struct kubelet_reply reply = {0};
	struct error err = {0};
	uint64_t start = clock_monotonic_ns();
	int rc = 0;

	if (r == NULL || !r->options.pre_start_required)
		return;
	rc = kubelet_call_pre_start(plugin, (const char *const *)id, 1, RIG_START_MS, &reply, &err);
	if (rc == 0 && reply.code != RPC_OK)
		rc = error_set(&err, ERROR_REMOTE, "%s: %s", rpc_code_name(reply.code),
			       reply.message);
	rig_waited(rig, start);
	if (rc < 0)
		(void)check_expect_ok(rig->run, rc, "PreStartContainer", &err);
	kubelet_reply_free(&reply);
}

static void paths_exist(struct rig *rig, const char *resource, const struct text_list *ids)
{
	struct tally sources = TALLY(rig->run, "mounts[].host_path", "absolute and present");
	struct tally nodes = TALLY(rig->run, "devices[].host_path", "a device node");
	size_t count = allocate_sample(rig, resource, ids);

	for (size_t i = 0; i < count; i++) {
		char **id = allocate_sampled(ids, count, i);
		struct kubelet_reply reply = {0};
		const V1beta1__ContainerAllocateResponse *response =
			allocate_expect(rig, resource, (const char *const *)id, 1, *id, &reply);

		if (response != NULL)
			allocate_prepare(rig, resource, id);
		for (size_t j = 0; response != NULL && j < response->n_mounts; j++) {
			const char *path = response->mounts[j]->host_path;
			bool there = allocate_path_exists(rig->context, path);

			tally_add(&sources, there, "%s%s", path, there ? "" : " (missing)");
		}
		/* On Windows it is no path; windows.string-form and windows.location-path look at
		 * it. */
		for (size_t j = 0;
		     response != NULL && !rig_is_windows(rig) && j < response->n_devices; j++) {
			const char *path = response->devices[j]->host_path;

			tally_add(&nodes, allocate_is_device_node(path),
				  "%s (missing, or not a device node)", path);
		}
		kubelet_reply_free(&reply);
	}
	(void)tally_end(&sources);
	(void)tally_end(&nodes);
}

void allocate_paths_exist(struct check_run *run)
{
	allocate_each(run, paths_exist);
}

static int allocate_order_mounts(const void *a, const void *b)
{
	const V1beta1__Mount *left = *(V1beta1__Mount *const *)a;
	const V1beta1__Mount *right = *(V1beta1__Mount *const *)b;
	int order = strcmp(left->container_path, right->container_path);

	order = order != 0 ? order : strcmp(left->host_path, right->host_path);
	return order != 0 ? order : (int)left->read_only - (int)right->read_only;
}

static int allocate_order_nodes(const void *a, const void *b)
{
	const V1beta1__DeviceSpec *left = *(V1beta1__DeviceSpec *const *)a;
	const V1beta1__DeviceSpec *right = *(V1beta1__DeviceSpec *const *)b;
	int order = strcmp(left->container_path, right->container_path);

	order = order != 0 ? order : strcmp(left->host_path, right->host_path);
	return order != 0 ? order : strcmp(left->permissions, right->permissions);
}

/* Of the entries with one container path the kubelet takes the first and drops the others. */
static void allocate_expect_unique_mounts(struct rig *rig,
					  const V1beta1__ContainerAllocateResponse *response)
{
	struct tally paths = TALLY(rig->run, "mounts[].container_path", "the same each time");

	if (response->n_mounts > 1)
		qsort(response->mounts, response->n_mounts, sizeof(*response->mounts),
		      allocate_order_mounts);
	for (size_t i = 0; i < response->n_mounts; i++) {
		V1beta1__Mount *const *pair = &response->mounts[i == 0 ? 0 : i - 1];
		const V1beta1__Mount *mount = response->mounts[i];

		tally_add(&paths,
			  strcmp(pair[0]->container_path, mount->container_path) != 0 ||
				  allocate_order_mounts(&pair[0], &response->mounts[i]) == 0,
			  "%s is %s and %s", mount->container_path, pair[0]->host_path,
			  mount->host_path);
	}
	(void)tally_end(&paths);
}

static void allocate_expect_unique_nodes(struct rig *rig,
					 const V1beta1__ContainerAllocateResponse *response)
{
	struct tally paths = TALLY(rig->run, "devices[].container_path", "the same each time");

	if (response->n_devices > 1)
		qsort(response->devices, response->n_devices, sizeof(*response->devices),
		      allocate_order_nodes);
	for (size_t i = 0; i < response->n_devices; i++) {
		V1beta1__DeviceSpec *const *pair = &response->devices[i == 0 ? 0 : i - 1];
		const V1beta1__DeviceSpec *node = response->devices[i];

		tally_add(&paths,
			  strcmp(pair[0]->container_path, node->container_path) != 0 ||
				  allocate_order_nodes(&pair[0], &response->devices[i]) == 0,
			  "%s is %s and %s", node->container_path, pair[0]->host_path,
			  node->host_path);
	}
	(void)tally_end(&paths);
}

static void allocate_expect_unique_paths(struct rig *rig,
					 const V1beta1__ContainerAllocateResponse *response)
{
	allocate_expect_unique_mounts(rig, response);
	/* Windows devices have no path in the container: containerd demands an empty one. */
	if (!rig_is_windows(rig))
		allocate_expect_unique_nodes(rig, response);
	if (response->n_mounts == 0 && response->n_devices == 0)
		(void)check_expect(rig->run, true, "entries of the answer", "any number", "none");
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

/* Names that most images have for folders of other names. */
static char *allocate_plain_path(const char *path)
{
	static const struct {
		const char *name, *folder;
	} links[] = {{"/var/run", "/run"},     {"/bin", "/usr/bin"},	 {"/sbin", "/usr/sbin"},
		     {"/lib", "/usr/lib"},     {"/lib64", "/usr/lib64"}, {"/var/lock", "/run/lock"},
		     {"/usr/sbin", "/usr/bin"}};
	char *plain = path_normalize(path);

	for (size_t i = 0; plain != NULL && i < ARRAY_SIZE(links); i++) {
		if (path_is_within(plain, links[i].name)) {
			char *longer =
				text_format("%s%s", links[i].folder, plain + strlen(links[i].name));

			free(plain);
			plain = longer;
		}
	}
	return plain;
}

static bool allocate_is_one_of(const char *path, const char *const *paths)
{
	while (*paths != NULL && strcmp(path, *paths) != 0)
		paths++;
	return *paths != NULL;
}

static bool allocate_is_below(const char *path, const char *const *folders)
{
	while (*folders != NULL && !path_is_within(path, *folders))
		folders++;
	return *folders != NULL;
}

/* Folders of which a part may well be a driver's, and those of which nothing is. */
static bool allocate_is_system_folder(const char *path)
{
	static const char *const whole[] = {
		"/",	"/dev",	      "/etc",	  "/opt",     "/run",	  "/srv",
		"/sys", "/tmp",	      "/usr",	  "/usr/bin", "/usr/lib", "/usr/lib64",
		"/var", "/var/cache", "/var/lib", "/var/log", NULL};
	static const char *const inside[] = {"/boot",
					     "/etc/kubernetes",
					     "/etc/ssh",
					     "/home",
					     "/proc",
					     "/root",
					     "/run/containerd",
					     "/run/crio",
					     "/run/docker",
					     "/run/docker.sock",
					     "/run/systemd",
					     "/sys/fs/cgroup",
					     "/sys/kernel",
					     "/var/lib/containerd",
					     "/var/lib/crio",
					     "/var/lib/docker",
					     "/var/lib/etcd",
					     "/var/lib/kubelet",
					     NULL};

	return allocate_is_one_of(path, whole) || allocate_is_below(path, inside);
}

/* Of the host: what no container should get to read. */
static bool allocate_is_harmful_source(const char *path)
{
	static const char *const secrets[] = {"/etc/gshadow", "/etc/shadow", "/etc/sudoers", NULL};

	return allocate_is_system_folder(path) || allocate_is_below(path, secrets);
}

/* In the container: what every program relies on. */
static bool allocate_is_harmful_target(const char *path)
{
	static const char *const files[] = {
		"/etc/group",	      "/etc/hosts",    "/etc/ld.so.preload",
		"/etc/nsswitch.conf", "/etc/passwd",   "/etc/resolv.conf",
		"/etc/shadow",	      "/etc/sudoers",  "/usr/bin/bash",
		"/usr/bin/busybox",   "/usr/bin/env",  "/usr/bin/sh",
		"/usr/bin/init",      "/usr/bin/sudo", NULL};
	const char *name = path_base(path);

	return allocate_is_system_folder(path) || allocate_is_one_of(path, files) ||
	       text_starts_with(name, "ld-linux") || text_starts_with(name, "ld-musl") ||
	       text_starts_with(name, "libc.so.") || text_starts_with(name, "libc.musl");
}

/* The file that a source is, links followed; as it is written where this machine does not have it.
 */
static char *allocate_real_source(const struct context *context, const char *path)
{
	char *real = NULL;

	if (context->node_file == NULL && context->wine_directory == NULL &&
	    file_resolve(NULL, path, &real, NULL) == 0)
		return real;
	return path_normalize(path);
}

static void allocate_expect_harmless(struct rig *rig, const V1beta1__Mount *mount,
				     struct tally *paths)
{
	char *real CLEANUP_FREE = allocate_real_source(rig->context, mount->host_path);
	char *source CLEANUP_FREE = real != NULL ? allocate_plain_path(real) : NULL;
	char *target CLEANUP_FREE = allocate_plain_path(mount->container_path);

	if (source == NULL || target == NULL) {
		check_broken(rig->run, "out of memory");
		return;
	}
	tally_add(paths, !allocate_is_harmful_source(source) && !allocate_is_harmful_target(target),
		  "%s%s%s on %s", mount->host_path,
		  strcmp(real, mount->host_path) != 0 ? " = " : "",
		  strcmp(real, mount->host_path) != 0 ? real : "", mount->container_path);
}

static void read_only(struct rig *rig, const char *resource, const struct text_list *ids)
{
	struct tally writable = TALLY(rig->run, "mounts[].read_only", "true");
	struct tally paths = TALLY(rig->run, "mounts[]", "harmless paths");
	size_t count = allocate_sample(rig, resource, ids);

	for (size_t i = 0; i < count; i++) {
		char **id = allocate_sampled(ids, count, i);
		struct kubelet_reply reply = {0};
		const V1beta1__ContainerAllocateResponse *response =
			allocate_expect(rig, resource, (const char *const *)id, 1, *id, &reply);

		for (size_t j = 0; response != NULL && j < response->n_mounts; j++) {
			const V1beta1__Mount *mount = response->mounts[j];

			tally_add(&writable, mount->read_only, "%s: false", mount->container_path);
			allocate_expect_harmless(rig, mount, &paths);
		}
		kubelet_reply_free(&reply);
	}
	(void)tally_end(&writable);
	(void)tally_end(&paths);
}

void allocate_read_only(struct check_run *run)
{
	allocate_each(run, read_only);
}
