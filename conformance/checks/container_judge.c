/* SPDX-License-Identifier: MIT */
#include "conformance/checks/container_judge.h"

#include "base/file.h"
#include "base/path.h"
#include "conformance/checks/tally.h"
#include "conformance/checks/visibility.h"

#include <inttypes.h>
#include <string.h>

void container_findings_free(struct container_findings *findings)
{
	text_list_free(&findings->nodes);
	text_list_free(&findings->mounts);
	text_list_free(&findings->privileges);
	text_list_free(&findings->open);
	text_list_free(&findings->notes);
}

const cJSON *container_find_path(const cJSON *array, const char *path)
{
	json_each (item, array) {
		if (text_equal(json_pointer_string(item, "/path"), path))
			return item;
	}
	return NULL;
}

bool node_number_read(const cJSON *node, struct node_number *out)
{
	*out = (struct node_number){
		.type = json_pointer_string(node, "/type"),
		.text = json_pointer_string(node, "/number"),
	};
	return out->type != NULL && text_to_device_number(out->text, &out->major, &out->minor);
}

const cJSON *node_number_find(const cJSON *nodes, const struct node_number *number)
{
	json_each (node, nodes) {
		if (text_equal(json_pointer_string(node, "/type"), number->type) &&
		    text_equal(json_pointer_string(node, "/number"), number->text))
			return node;
	}
	return NULL;
}

/* OCI runtime specification, config-linux.md, "Default Devices"; some runtimes allow the last two. */
static const struct usual {
	unsigned major, first, last;
	const char *extra;
} usual_nodes[] = {
	{1, 3, 3, NULL},     /* null */
	{1, 5, 5, NULL},     /* zero */
	{1, 7, 7, NULL},     /* full */
	{1, 8, 9, NULL},     /* random, urandom */
	{5, 0, 2, NULL},     /* tty, console, ptmx */
	{136, 0, ~0u, NULL}, /* pts */
	{10, 229, 229, "fuse"}, {10, 200, 200, "net/tun"},
};

static const struct usual *find_usual(const struct node_number *number)
{
	for (size_t i = 0; i < ARRAY_SIZE(usual_nodes); i++) {
		const struct usual *usual = &usual_nodes[i];
		if (number->major == usual->major && number->minor >= usual->first &&
		    number->minor <= usual->last && strcmp(number->type, "character") == 0)
			return usual;
	}
	return NULL;
}

bool node_number_is_default(const struct node_number *number)
{
	const struct usual *usual = find_usual(number);
	return usual != NULL && usual->extra == NULL;
}

bool node_file_is_of_the_node(const struct node_file *file)
{
	/* /dev/mem, /dev/kmem, /dev/port, /dev/core, /dev/kmsg */
	static const unsigned minors[] = {1, 2, 4, 6, 11};
	array_each (minor, minors) {
		if (file->kind == NODE_FILE_CHARACTER && file->major == 1 && file->minor == *minor)
			return true;
	}
	return file->kind == NODE_FILE_BLOCK;
}

bool container_may_have(const struct container_case *one, const struct node_number *number)
{
	const bool block = strcmp(number->type, "block") == 0;
	const bool is_bare = one->container == one->bare;
	const struct node_file file = {
		.kind = block ? NODE_FILE_BLOCK : NODE_FILE_CHARACTER,
		.major = number->major,
		.minor = number->minor,
	};
	if (node_number_is_default(number))
		return true;
	if (node_file_is_of_the_node(&file))
		return false;
	if ((is_bare || one->bare == NULL) && find_usual(number) != NULL)
		return true;
	if (!is_bare && (node_number_find(json_pointer(one->bare, "/nodes"), number) != NULL ||
			 node_number_find(json_pointer(one->bare, "/usable"), number) != NULL))
		return true;

	/* Nodes of the granted devices; where these are unknown, of any device that the answer or
	 * the runtime may have handed out. */
	if (one->devices != NULL) {
		granted_each (device, one->devices) {
			if (visibility_is_node_of(device, block, number->major, number->minor))
				return true;
		}
		return false;
	}
	if (!one->needs_runtime &&
	    node_number_find(json_pointer(one->container, "/granted"), number) == NULL)
		return false;
	node_each (device, one->context->node) {
		if (visibility_is_node_of(device, block, number->major, number->minor))
			return true;
	}
	return false;
}

/* `how`: what the container can do with them, "" for having them. */
static void judge_nodes(const struct container_case *one, const cJSON *nodes, const char *how,
			struct container_findings *out)
{
	json_each (node, nodes) {
		struct node_number number = {0};
		const bool known = node_number_read(node, &number);
		const struct usual *usual = known ? find_usual(&number) : NULL;
		if (!known || !container_may_have(one, &number))
			text_list_addf(&out->nodes, "%s%s (%s %s)",
				       json_pointer_string(node, "/path"), how,
				       known ? number.type : "unknown",
				       known ? number.text : "number");
		if (one->container == one->bare && usual != NULL && usual->extra != NULL)
			text_list_addf(&out->notes,
				       "%s, which the runtime gives to every container",
				       usual->extra);
	}
}

bool container_holds_driver(const struct context *context, const char *host_path)
{
	struct grant_entry entry = {.host_path = host_path, .container_path = host_path};
	struct grant grant = {.mounts = {&entry, 1}};
	struct granted_reader *reader CLEANUP_GRANTED_READER = granted_reader_new(context->node);
	node_each (device, context->node) {
		items_each (file, device->files, device->file_count) {
			char *real CLEANUP_FREE = NULL;
			if (file_resolve(NULL, file->source, &real, NULL) == 0 &&
			    path_is_within(real, host_path))
				return true;
		}
	}
	return granted_read(reader, &grant).count != 0;
}

/* Paths that differ in one name, the container's id, are the same file of two containers. */
static bool is_same_source(const char *one, const char *other)
{
	size_t differing = 0;
	if (one == NULL || other == NULL)
		return one == other;
	while (*one != '\0' && *other != '\0') {
		size_t length = strcspn(one + 1, "/") + 1;
		size_t other_length = strcspn(other + 1, "/") + 1;
		differing += length != other_length || strncmp(one, other, length) != 0;
		one += length;
		other += other_length;
	}
	return *one == *other && differing <= 1;
}

/* Used without a container to compare with: the file systems of the OCI runtime specification, and files
 * that runtimes make for each container. */
static bool is_standard(const struct container_mount_json *mount)
{
	static const char *const made[] = {
		"/", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/dev/termination-log",
		NULL};
	static const struct {
		const char *path, *type;
	} own[] = {{"/proc", "proc"},	       {"/dev", "tmpfs"},     {"/dev/pts", "devpts"},
		   {"/dev/console", "devpts"}, {"/dev/shm", "tmpfs"}, {"/dev/mqueue", "mqueue"}};
	if (made[text_position(made, mount->path)] != NULL)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		if (strcmp(mount->path, own[i].path) == 0 && text_equal(mount->type, own[i].type))
			return true;
	}
	/* /sys is that of the host wherever the network is; it must not be writable. */
	if (path_is_within(mount->path, "/sys"))
		return mount->read_only;
	return path_is_within(mount->path, "/proc") &&
	       (text_equal(mount->type, "proc") ? mount->read_only : mount->host_path == NULL);
}

struct container_mount_json container_mount_read(const struct container_case *one,
						 const cJSON *json)
{
	struct container_mount_json mount = {
		.path = json_pointer_string(json, "/path"),
		.type = json_pointer_string(json, "/type"),
		.host_path = json_pointer_string(json, "/hostPath"),
		.read_only = json_pointer_true(json, "/readOnly"),
		.granted = json_pointer_true(json, "/granted"),
	};
	if (mount.granted)
		return mount;

	/* The probe waits at these two. */
	if (strcmp(mount.path, LAUNCH_HOLD_PATH) == 0 ||
	    strcmp(mount.path, LAUNCH_PAUSE_PATH) == 0) {
		mount.runtimes = mount.host_path == NULL ||
				 path_is_within(mount.host_path, one->context->run_directory);
	} else if (one->bare == NULL || one->bare == one->container) {
		mount.runtimes = is_standard(&mount);
	} else {
		const cJSON *usual =
			container_find_path(json_pointer(one->bare, "/mounts"), mount.path);
		mount.runtimes =
			usual != NULL &&
			text_equal(json_pointer_string(usual, "/type"), mount.type) &&
			(mount.read_only || !json_pointer_true(usual, "/readOnly")) &&
			is_same_source(json_pointer_string(usual, "/hostPath"), mount.host_path);
	}
	return mount;
}

static void judge_mount(const struct container_case *one, const cJSON *json,
			struct container_findings *out)
{
	const struct container_mount_json mount = container_mount_read(one, json);
	const char *host_path = mount.host_path;
	const char *mode = mount.read_only ? "read-only" : "writable";
	if (mount.runtimes)
		return;
	if (json_pointer_true(json, "/shared"))
		text_list_addf(&out->mounts, "%s spreads its mounts", mount.path);
	/* Devices granted as mounts, as in user namespaces, are nodes. */
	if (container_find_path(json_pointer(one->container, "/nodes"), mount.path))
		return;
	if (!mount.granted && one->needs_runtime)
		text_list_addf(&out->notes, "the runtime added %s%s%s", mount.path,
			       host_path != NULL ? " of the node's " : "",
			       host_path != NULL ? host_path : "");
	else if (!mount.granted && one->container != one->bare)
		text_list_addf(&out->mounts, "%s (%s of the node), which nobody granted",
			       mount.path, host_path != NULL ? host_path : "nothing known");

	if (host_path == NULL && host_places_is_kernel_type(mount.type)) {
		text_list_addf(&out->mounts, "the %s file system at %s (%s)", mount.type,
			       mount.path, mode);
		return;
	}
	/* Memory that the host does not see is this container's own. */
	if (host_path == NULL &&
	    (text_equal(mount.type, "tmpfs") || text_equal(mount.type, "ramfs")))
		return;

	const char *given = NULL;
	if (host_path != NULL)
		given = host_places_given(one->places, host_path, mount.type, mount.read_only);
	if (given != NULL)
		text_list_addf(&out->mounts, "%s of the node at %s (%s)", given, mount.path, mode);
	else if (one->container == one->bare && host_path != NULL)
		text_list_addf(&out->notes,
			       "the runtime mounts %s of the node into every container", host_path);
	else if (!json_pointer_true(json, "/sourceKnown") &&
		 !(mount.read_only && host_path != NULL &&
		   container_holds_driver(one->context, host_path)))
		text_list_addf(&out->open,
			       "the source of %s (%s, %s) is not known: files of a file system of "
			       "this type may lie anywhere",
			       mount.path, mount.type, mode);
}

void container_judge(const struct container_case *one, struct container_findings *out)
{
	const cJSON *container = one->container;
	judge_nodes(one, json_pointer(container, "/nodes"), "", out);
	judge_nodes(one, json_pointer(container, "/usable"), ", which its cgroup lets it use", out);
	json_each (mount, json_pointer(container, "/mounts"))
		judge_mount(one, mount, out);

	/* Nothing of an answer or a hook may widen what the program may do; containers are started
	 * without capabilities (containers/launch/launch.h). */
	const cJSON *usual = one->bare;
	const bool is_bare = container == usual;
	uint64_t capabilities = (uint64_t)json_pointer_number(container, "/capabilities");
	uint64_t least = is_bare ? 0 : (uint64_t)json_pointer_number(usual, "/capabilities");
	double seccomp = json_pointer_number(container, "/seccomp");
	double usual_seccomp = usual != NULL ? json_pointer_number(usual, "/seccomp") : seccomp;
	bool confined = json_pointer_true(container, "/noNewPrivileges");
	if ((capabilities & ~least) != 0 || seccomp < usual_seccomp ||
	    (!confined && (usual == NULL || json_pointer_true(usual, "/noNewPrivileges"))))
		text_list_addf(&out->privileges,
			       "capabilities %#" PRIx64 " beside %#" PRIx64
			       ", seccomp %.0f beside %.0f, no new privileges %s",
			       capabilities, least, seccomp, usual_seccomp,
			       confined ? "yes" : "no");
	const cJSON *shared = json_pointer(container, "/shared");
	if (cJSON_GetArraySize(shared) != 0) {
		char *namespaces CLEANUP_FREE = json_print_compact(shared);
		text_list_addf(&out->privileges, "namespaces of the host: %s", namespaces);
	}

	const char *unknown = json_pointer_string(container, "/usableUnknown");
	if (unknown != NULL)
		text_list_addf(&out->open, "which devices the kernel lets it use is not known: %s",
			       unknown);
	const char *cut = json_pointer_string(container, "/nodesCut");
	if (cut != NULL)
		text_list_addf(&out->open,
			       "%s was not searched for device nodes to its end: it has too "
			       "many files, or too many folders in one another",
			       cut);
}

static void record(struct check_run *run, const char *label, const char *what, const char *wanted,
		   const struct text_list *found)
{
	TALLY(tally, run, check_format(run, "%s: %s", label, what), wanted);
	text_each (finding, found)
		tally_add(&tally, false, "%s", finding);
	if (found->count == 0)
		(void)check_expect_is(run, true, tally.what, wanted, "");
}

void container_record(struct check_run *run, const char *label, unsigned kinds,
		      const struct container_findings *findings)
{
	if ((kinds & CONTAINER_NODES) != 0)
		record(run, label, "device nodes",
		       "those of every container and of the granted devices", &findings->nodes);
	if ((kinds & CONTAINER_REACH) != 0) {
		record(run, label, "mounts", "nothing that the node needs for itself",
		       &findings->mounts);
		record(run, label, "privileges", "no more than are asked for",
		       &findings->privileges);
	}
	text_each (reason, &findings->open)
		check_unsupported(run, "%s: %s", label, reason);
}
