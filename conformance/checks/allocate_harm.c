/* SPDX-License-Identifier: MIT */
/* Whether answers, and the edits of their CDI devices, replace files of a container or expose the node to it. */
#include "conformance/checks/allocate.h"

#include "base/file.h"
#include "base/path.h"
#include "conformance/checks/node_cdi.h"
#include "conformance/checks/node_file.h"
#include "conformance/checks/tally.h"
#include "conformance/checks/tamper.h"

#include <stdlib.h>
#include <string.h>

enum { FOLDER_MAX = 256 }; /* entries of a folder that are examined */

/* Tallies over all answers of a resource. */
struct harm {
	struct tally paths, writable, nodes;
};

/* Adds the edits of the answer's CDI devices. */
static void add_edits(const struct rig *rig, const struct rig_item *item, struct grant *out)
{
	struct grant answer CLEANUP_GRANT = {0};
	const struct kubelet_answer one = {item->resource, item->answer};
	kubelet_merge(rig_is_windows(rig), &one, 1, &answer);
	node_cdi_add_edits(rig->context, &answer, out);
}

/* Resolves the links between folders that most images have. */
static char *plain_path(const char *path)
{
	static const char *const links[][2] = {
		{"/var/run", "/run"},	   {"/bin", "/usr/bin"},     {"/sbin", "/usr/sbin"},
		{"/lib", "/usr/lib"},	   {"/lib64", "/usr/lib64"}, {"/var/lock", "/run/lock"},
		{"/usr/sbin", "/usr/bin"},
	};
	char *plain = path_normalize(path);
	array_each (link, links) {
		if (path_is_within(plain, (*link)[0])) {
			char *longer = text_format("%s%s", (*link)[1], plain + strlen((*link)[0]));
			free(plain);
			plain = longer;
		}
	}
	return plain;
}

static bool is_one_of(const char *path, const char *const *paths)
{
	return paths[text_position(paths, path)] != NULL;
}

static bool is_below(const char *path, const char *const *folders)
{
	while (*folders != NULL && !path_is_within(path, *folders))
		folders++;
	return *folders != NULL;
}

/* Folders that contain more than a driver's files, and those that contain no driver files at all. */
static bool is_system_folder(const char *path)
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
					     "/run/cri-dockerd.sock",
					     "/run/k3s",
					     "/run/podman",
					     "/run/systemd",
					     "/sys/fs/cgroup",
					     "/sys/kernel",
					     "/var/lib/containerd",
					     "/var/lib/crio",
					     "/var/lib/docker",
					     "/var/lib/etcd",
					     "/var/lib/kubelet",
					     "/var/lib/rancher",
					     NULL};
	return is_one_of(path, whole) || is_below(path, inside);
}

static bool is_harmful(const char *source, const char *target)
{
	/* Host files that no container should read. On Container-Optimized OS drivers are in a home
	 * folder. */
	static const char *const secrets[] = {"/etc/gshadow", "/etc/shadow", "/etc/sudoers", NULL};
	if (!path_is_within(source, "/home/kubernetes/bin") &&
	    (is_system_folder(source) || is_below(source, secrets)))
		return true;

	/* Container files that every program depends on. */
	static const char *const files[] = {
		"/etc/group",	      "/etc/hosts",    "/etc/ld.so.preload",
		"/etc/nsswitch.conf", "/etc/passwd",   "/etc/resolv.conf",
		"/etc/shadow",	      "/etc/sudoers",  "/usr/bin/bash",
		"/usr/bin/busybox",   "/usr/bin/env",  "/usr/bin/sh",
		"/usr/bin/init",      "/usr/bin/sudo", NULL};
	const char *name = path_base(target);
	return is_system_folder(target) || is_one_of(target, files) ||
	       text_starts_with(name, "ld-linux") || text_starts_with(name, "ld-musl") ||
	       text_starts_with(name, "libc.so.") || text_starts_with(name, "libc.musl");
}

/* Every container has these nodes of its runtime, and its programs depend on them. */
static void judge_node(struct harm *harm, const char *source, const char *place)
{
	static const char *const own[] = {
		"/dev/console", "/dev/fd",     "/dev/full",  "/dev/null",   "/dev/ptmx",
		"/dev/random",	"/dev/stderr", "/dev/stdin", "/dev/stdout", "/dev/tty",
		"/dev/urandom", "/dev/zero",   NULL};
	char *target CLEANUP_FREE = plain_path(place);
	tally_add(&harm->nodes, !is_one_of(target, own) || text_equal(source, target), "%s on %s",
		  source, place);
}

static bool is_driver_name(const char *path)
{
	const char *name = path_base(path);
	return strstr(name, ".so") != NULL || text_ends_with(name, ".json");
}

/* Sets the user's bool if a driver has such a file. */
static bool find_driver_file(const char *path, const struct node_file *file, void *user)
{
	bool *found = user;
	*found = file->kind == NODE_FILE_REGULAR && is_driver_name(path);
	return !*found;
}

/* Shared sockets and folders, such as those of NVIDIA's MPS, must be writable, and a file that the plugin made for the
 * container may be; plugins mount /dev/null to mark a device by the mount's name, and writes to it are lost. */
static bool may_be_writable(const char *path, const struct node_file *file)
{
	static const char *const installed[] = {"/bin", "/etc",	 "/lib", "/lib32", "/lib64",
						"/opt", "/sbin", "/usr", NULL};
	bool found = false;
	switch (file->kind) {
	case NODE_FILE_FOLDER:
		node_file_walk(path, FOLDER_MAX, find_driver_file, &found);
		return !found;
	case NODE_FILE_REGULAR:
		return !is_driver_name(path) && !is_below(path, installed);
	case NODE_FILE_CHARACTER:
		return file->major == 1 && file->minor == 3;
	case NODE_FILE_OTHER:
		return true;
	case NODE_FILE_BLOCK:
		break;
	}
	return false;
}

/* `edit`: the mount comes from a CDI Spec, which has the mount's options. */
static void judge_mount(const struct rig *rig, struct harm *harm, const struct grant_entry *mount,
			bool edit)
{
	const struct context *context = rig->context;
	const bool live = context->node_file == NULL && context->wine_directory == NULL;
	const char *by = edit ? ", by a CDI Spec" : "";

	struct node_file file = {0};
	const bool is_known = node_file_identify(mount->host_path, &file);
	const bool may_write = is_known && may_be_writable(mount->host_path, &file);
	if (edit ? is_known && file.kind == NODE_FILE_REGULAR && !may_write : !may_write)
		tally_add(&harm->writable, mount->read_only, "%s: false%s", mount->container_path,
			  by);

	/* The source with links resolved; unchanged if this machine does not have it. */
	char *real CLEANUP_FREE = NULL;
	if (!live || file_resolve(NULL, mount->host_path, &real, NULL) < 0)
		real = path_normalize(mount->host_path);
	char *source CLEANUP_FREE = plain_path(real);
	char *target CLEANUP_FREE = plain_path(mount->container_path);
	/* This run's own plugin directory, with the kubelet's socket. */
	char *plugins CLEANUP_FREE = plain_path(kubelet_plugin_dir(rig->kubelet));
	const bool holds_plugins =
		path_is_within(source, plugins) || path_is_within(plugins, source);
	const bool other = strcmp(real, mount->host_path) != 0;
	tally_add(&harm->paths, !is_harmful(source, target) && !holds_plugins, "%s%s%s on %s%s",
		  mount->host_path, other ? " = " : "", other ? real : "", mount->container_path,
		  by);
}

static void judge_harm(struct rig *rig, const struct rig_item *item)
{
	struct harm *harm = item->user;
	struct grant edits CLEANUP_GRANT = {0};
	add_edits(rig, item, &edits);
	if (!rig_is_windows(rig)) {
		answer_each (device, item->answer, devices)
			judge_node(harm, device->host_path, device->container_path);
	}
	grant_each (node, &edits.devices)
		judge_node(harm, node->host_path, node->container_path);
	answer_each (mount, item->answer, mounts) {
		judge_mount(rig, harm,
			    &(struct grant_entry){.container_path = mount->container_path,
						  .host_path = mount->host_path,
						  .read_only = mount->read_only},
			    false);
	}
	grant_each (mount, &edits.mounts)
		judge_mount(rig, harm, mount, true);
}

void allocate_read_only(struct rig *rig, const struct rig_item *item)
{
	struct harm harm = {
		.paths = TALLY_OF(rig->run, "mounts[]", "harmless paths"),
		.writable = TALLY_OF(rig->run, "mounts[].read_only", "true"),
		.nodes = TALLY_OF(rig->run, "devices[].container_path",
				  "a place that no other node has"),
	};
	allocate_for_each_and_all(rig, item, judge_harm, &harm);
	tally_end(&harm.writable);
	tally_end(&harm.paths);
	tally_end(&harm.nodes);
}

static void judge_variable(struct tally *names, const char *name, const char *by)
{
	static const char *const others[] = {
		"PATH", "HOME", "HOSTNAME", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT",
		NULL};
	const char *reason = tamper_variable(name);
	if (reason == NULL && is_one_of(name, others))
		reason = "belongs to the image or to the kubelet";
	tally_add(names, reason == NULL, "%s%s, which %s", name, by, reason);
}

static void judge_variables(struct rig *rig, const struct rig_item *item)
{
	struct grant edits CLEANUP_GRANT = {0};
	add_edits(rig, item, &edits);
	answer_each (env, item->answer, envs)
		judge_variable(item->user, env->key, "");
	grant_each (variable, &edits.envs)
		judge_variable(item->user, variable->name, " of a CDI Spec");
}

const struct allocate_rule allocate_harmless_variables = {
	"envs[].key", "about devices only", "no answer has a variable", judge_variables};
