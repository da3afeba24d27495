/* SPDX-License-Identifier: MIT */
/* What a container can reach beside its devices: nodes, driver files, paths of the host. The
 * containers are those that isolation.single-device looked at (sights.h). */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "base/text.h"
#include "conformance/checks/host_places.h"
#include "conformance/checks/sights.h"
#include "conformance/checks/suites.h"
#include "conformance/checks/tally.h"
#include "conformance/runner/context.h"
#include "containers/launch/launch.h"

#include <inttypes.h>
#include <string.h>

/* One container of the check, and the one without devices. */
struct reach {
	struct check_run *run;
	const cJSON *sight;
	const cJSON *bare;
	const char *label;
	const cJSON *container; /* NULL: not looked into */
	const cJSON *tried;	/* NULL: nothing was tried in it */
	struct granted devices; /* that it was granted */
	struct granted_reader *reader;
	struct host_places *places;
};

static const struct discovery_device *find_device(const struct discovery_snapshot *node,
						  const char *id)
{
	for (size_t i = 0; i < node->device_count; i++) {
		if (text_equal(node->devices[i].id, id))
			return &node->devices[i];
	}
	return NULL;
}

static const cJSON *object_at(const cJSON *json, const char *pointer)
{
	const cJSON *found = json_pointer(json, pointer);
	return cJSON_IsObject(found) ? found : NULL;
}

/* Calls `judge` for each container that was looked into, the one without devices first. */
static void each_container(struct reach *reach, const cJSON *sights,
			   void (*judge)(struct reach *reach))
{
	reach->bare = json_first(sights);
	json_each (sight, sights) {
		reach->sight = sight;
		reach->label = json_pointer_string(sight, "/label");
		reach->container = object_at(sight, "/container");
		reach->tried = object_at(sight, "/document/reach");
		reach->devices = (struct granted){0};
		json_each (id, json_pointer(sight, "/devices")) {
			const struct discovery_device *device = find_device(
				check_context(reach->run)->node, cJSON_GetStringValue(id));
			if (device != NULL)
				granted_add(&reach->devices, device);
		}
		if (reach->container == NULL)
			check_unsupported(reach->run,
					  "%s: what is in the container cannot be seen "
					  "from the host",
					  reach->label);
		else if (reach->tried == NULL)
			check_unsupported(reach->run,
					  "%s: nothing can be tried in a container of "
					  "this system",
					  reach->label);
		else
			judge(reach);
	}
}

/* A check of this file. */
static void judge_all(struct check_run *run, void (*judge)(struct reach *reach))
{
	cJSON *sights CLEANUP_JSON = sights_take(run);
	struct granted_reader *reader CLEANUP_GRANTED_READER = NULL;
	struct host_places *places CLEANUP_HOST_PLACES = NULL;
	struct reach reach = {.run = run};
	struct error err = {0};
	if (sights == NULL)
		return;
	int rc = granted_reader_new(check_context(run)->node, &reader, &err);
	if (rc == 0)
		rc = host_places_new(check_context(run)->cri_address, &places, &err);
	if (!check_works(run, rc, NULL, &err))
		return;
	reach.reader = reader;
	reach.places = places;
	each_container(&reach, sights, judge);
}

/* What every container has (OCI runtime specification, config-linux.md, "Default Devices"), and what
 * some runtimes give to all. */
static const struct {
	unsigned major, first, last;
	const char *beside; /* NULL: of the specification */
} usual_nodes[] = {
	{1, 3, 3, NULL},     /* null */
	{1, 5, 5, NULL},     /* zero */
	{1, 7, 7, NULL},     /* full */
	{1, 8, 9, NULL},     /* random, urandom */
	{5, 0, 2, NULL},     /* tty, console, ptmx */
	{136, 0, ~0u, NULL}, /* pts */
	{10, 229, 229, "fuse"}, {10, 200, 200, "net/tun"},
};

static bool is_usual(struct reach *reach, const char *what, unsigned major, unsigned minor)
{
	for (size_t i = 0; i < ARRAY_SIZE(usual_nodes); i++) {
		if (major != usual_nodes[i].major || minor < usual_nodes[i].first ||
		    minor > usual_nodes[i].last)
			continue;
		if (usual_nodes[i].beside != NULL && reach->sight == reach->bare)
			check_note(reach->run, "%s: %s, which the runtime gives to every container",
				   what, usual_nodes[i].beside);
		return true;
	}
	return false;
}

static void expect_nodes(struct reach *reach, const char *what, const cJSON *nodes)
{
	struct tally tally =
		TALLY(reach->run, what, "those of every container and of the granted devices");
	json_each (node, nodes) {
		const char *number = json_pointer_string(node, "/number");
		const char *type = json_pointer_string(node, "/type");
		bool block = text_equal(type, "block");
		unsigned major = 0;
		unsigned minor = 0;
		bool known = number != NULL && sscanf(number, "%u:%u", &major, &minor) == 2 &&
			     !block && is_usual(reach, what, major, minor);
		for (size_t i = 0; !known && i < reach->devices.count; i++)
			known = visibility_is_node_of(reach->devices.devices[i], block, major,
						      minor);
		tally_add(&tally, known, "%s (%s %s)", json_pointer_string(node, "/path"), type,
			  number);
	}
	(void)tally_end(&tally);
}

/* A refusal that no driver makes. */
static bool is_refused(const char *result)
{
	return text_equal(result, "EPERM") || text_equal(result, "EACCES");
}

/* What the program found at the nodes of its devices, and made of others. */
static void expect_attempts(struct reach *reach)
{
	struct tally opened =
		TALLY(reach->run, check_format(reach->run, "%s: granted nodes", reach->label),
		      "can be opened");
	struct tally made =
		TALLY(reach->run, check_format(reach->run, "%s: device nodes", reach->label),
		      "cannot be made");
	json_each (node, json_pointer(reach->sight, "/document/nodes")) {
		const char *result = json_pointer_string(node, "/open/readOnly");
		if (result != NULL)
			tally_add(&opened,
				  !is_refused(result) ||
					  !is_refused(json_pointer_string(node, "/open/readWrite")),
				  "%s (%s): %s", json_pointer_string(node, "/path"),
				  json_pointer_string(node, "/kind"), result);
	}
	json_each (node, json_pointer(reach->tried, "/nodes")) {
		const char *open = json_pointer_string(node, "/open");
		tally_add(&made, !text_equal(json_pointer_string(node, "/make"), "ok"),
			  "made in %s, open: %s", json_pointer_string(node, "/folder"),
			  open != NULL ? open : "");
	}
	(void)tally_end(&opened);
	(void)tally_end(&made);
}

static void judge_nodes(struct reach *reach)
{
	const char *untold = json_pointer_string(reach->container, "/usableUntold");
	expect_nodes(reach, check_format(reach->run, "%s: device nodes", reach->label),
		     json_pointer(reach->container, "/nodes"));
	if (untold != NULL)
		check_unsupported(reach->run,
				  "%s: which devices the kernel lets it use is not "
				  "known: %s",
				  reach->label, untold);
	else
		expect_nodes(reach,
			     check_format(reach->run, "%s: devices that its cgroup lets it use",
					  reach->label),
			     json_pointer(reach->container, "/usable"));
	expect_attempts(reach);
}

void isolation_device_nodes(struct check_run *run)
{
	judge_all(run, judge_nodes);
}

static bool is_true(const cJSON *json, const char *pointer)
{
	return cJSON_IsTrue(json_pointer(json, pointer));
}

/* A container without devices has it as well. */
static bool is_in_bare(const struct reach *reach, const cJSON *mount)
{
	json_each (usual, json_pointer(reach->bare, "/container/mounts")) {
		if (text_equal(json_pointer_string(usual, "/path"),
			       json_pointer_string(mount, "/path")) &&
		    text_equal(json_pointer_string(usual, "/type"),
			       json_pointer_string(mount, "/type")))
			return true;
	}
	return false;
}

/* A file that a device of the node needs, a copy of one, or a folder that holds one. */
static bool holds_driver(const struct reach *reach, const char *host_path)
{
	const struct discovery_snapshot *node = check_context(reach->run)->node;
	struct grant_entry entry = {.host_path = host_path, .container_path = host_path};
	struct grant grant = {.mounts = {&entry, 1}};
	for (size_t i = 0; i < node->device_count; i++) {
		const struct discovery_device *device = &node->devices[i];
		for (size_t j = 0; j < device->file_count; j++) {
			char *real CLEANUP_FREE = NULL;
			if (file_resolve(NULL, device->files[j].source, &real, NULL) == 0 &&
			    path_is_within(real, host_path))
				return true;
		}
	}
	return granted_read(reach->reader, &grant).count != 0;
}

static const cJSON *attempt_at(const struct reach *reach, const char *path)
{
	json_each (attempt, json_pointer(reach->tried, "/mounts")) {
		if (text_equal(json_pointer_string(attempt, "/path"), path))
			return attempt;
	}
	return NULL;
}

static void judge_driver_files(struct reach *reach)
{
	struct tally tally =
		TALLY(reach->run, check_format(reach->run, "%s: driver files", reach->label),
		      "cannot be written to");
	if (reach->sight == reach->bare)
		return;
	json_each (mount, json_pointer(reach->container, "/mounts")) {
		const char *path = json_pointer_string(mount, "/path");
		const char *host_path = json_pointer_string(mount, "/hostPath");
		const cJSON *attempt = attempt_at(reach, path);
		if (host_path == NULL || attempt == NULL || is_in_bare(reach, mount) ||
		    !holds_driver(reach, host_path))
			continue;
		const char *write = json_pointer_string(attempt, "/write");
		const char *remount = json_pointer_string(attempt, "/remount");
		tally_add(&tally,
			  is_true(mount, "/readOnly") && !text_equal(write, "ok") &&
				  !text_equal(remount, "ok"),
			  "%s is mounted %s: write %s, after a remount %s", path,
			  is_true(mount, "/readOnly") ? "read-only" : "writable", write,
			  remount != NULL ? remount : "not tried");
	}
	if (tally.count == 0)
		check_not_applicable(reach->run, "%s: the answer mounts no file of a driver",
				     reach->label);
	(void)tally_end(&tally);
}

void isolation_driver_files(struct check_run *run)
{
	judge_all(run, judge_driver_files);
}

/* What a runtime mounts for every container: `own` file systems, or files that it made for it; and
 * what the launcher does. */
static bool is_runtimes(const cJSON *mount)
{
	static const char *const made[] = {
		"/",	    "/etc/hosts",	    "/etc/hostname",  "/etc/resolv.conf",
		"/dev/shm", "/dev/termination-log", LAUNCH_HOLD_PATH, LAUNCH_PAUSE_PATH};
	const char *path = json_pointer_string(mount, "/path");
	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		if (text_equal(path, made[i]))
			return true;
	}
	/* /sys is that of the host wherever the network is; it must not be writable. */
	return path_is_within(path, "/sys") && is_true(mount, "/readOnly");
}

/* Whoever made them: the answer, CDI, a hook, the runtime. */
static void expect_harmless_mounts(struct reach *reach)
{
	const char *what = check_format(reach->run, "%s: mounts", reach->label);
	bool is_bare = reach->sight == reach->bare;
	struct tally harmless = TALLY(reach->run, what, "nothing that the node needs for itself");
	struct tally kept = TALLY(reach->run, what, "kept from the node's other mounts");
	json_each (mount, json_pointer(reach->container, "/mounts")) {
		const char *host_path = json_pointer_string(mount, "/hostPath");
		const char *path = json_pointer_string(mount, "/path");
		const char *given = NULL;
		struct error err = {0};
		if (host_path == NULL || is_runtimes(mount) ||
		    (!is_bare && is_in_bare(reach, mount)))
			continue;
		(void)check_works(reach->run,
				  host_places_given(reach->places, host_path,
						    is_true(mount, "/readOnly"), &given, &err),
				  NULL, &err);
		tally_add(&harmless, given == NULL, "%s of the node at %s (%s)",
			  given != NULL ? given : "", path,
			  is_true(mount, "/readOnly") ? "read-only" : "writable");
		tally_add(&kept, !is_true(mount, "/shared"), "%s spreads its mounts", path);
		if (is_bare && given == NULL)
			check_note(reach->run,
				   "the runtime mounts %s of the node into every container",
				   host_path);
	}
	(void)tally_end(&harmless);
	(void)tally_end(&kept);
}

/* Where devices are handed out as mounts, as in user namespaces. */
static bool is_node(const struct reach *reach, const char *path)
{
	json_each (node, json_pointer(reach->container, "/nodes")) {
		if (text_equal(json_pointer_string(node, "/path"), path))
			return true;
	}
	return false;
}

/* What only a runtime understands (CDI, variables) may mount what does no harm. */
static void expect_granted_mounts(struct reach *reach)
{
	struct tally tally = TALLY(reach->run, check_format(reach->run, "%s: mounts", reach->label),
				   "those of the answer and of every container");
	bool by_runtime = is_true(reach->sight, "/byRuntime");
	json_each (mount, json_pointer(reach->container, "/mounts")) {
		const char *path = json_pointer_string(mount, "/path");
		const char *host_path = json_pointer_string(mount, "/hostPath");
		bool known = is_in_bare(reach, mount) || is_true(mount, "/granted") ||
			     is_node(reach, path);
		if (!known && by_runtime)
			check_note(reach->run, "%s: the runtime added %s%s%s", reach->label, path,
				   host_path != NULL ? " of the node's " : "",
				   host_path != NULL ? host_path : "");
		tally_add(&tally, known || by_runtime, "%s (%s of the node)", path,
			  host_path != NULL ? host_path : "nothing known");
	}
	(void)tally_end(&tally);
}

static double number_at(const cJSON *json, const char *pointer)
{
	const cJSON *number = json_pointer(json, pointer);
	return cJSON_IsNumber(number) ? number->valuedouble : 0;
}

/* Nothing of an answer or a hook may widen what the program may do; a container without devices is
 * asked for without capabilities (containers/launch/launch.h). */
static void expect_privileges(struct reach *reach)
{
	const cJSON *usual = json_pointer(reach->bare, "/container");
	uint64_t capabilities = (uint64_t)number_at(reach->container, "/capabilities");
	uint64_t least =
		reach->sight == reach->bare ? 0 : (uint64_t)number_at(usual, "/capabilities");
	double seccomp = number_at(reach->container, "/seccomp");
	bool confined = is_true(reach->container, "/noNewPrivileges");
	(void)check_expect(reach->run,
			   (capabilities & ~least) == 0 &&
				   seccomp >= number_at(usual, "/seccomp") &&
				   (confined || !is_true(usual, "/noNewPrivileges")),
			   check_format(reach->run, "%s: privileges", reach->label),
			   "no more than are asked for",
			   "capabilities %#" PRIx64 " beside %#" PRIx64
			   ", seccomp %.0f beside %.0f, no new privileges %s",
			   capabilities, least, seccomp, number_at(usual, "/seccomp"),
			   confined ? "yes" : "no");
}

static void judge_host_paths(struct reach *reach)
{
	const char *root = json_pointer_string(reach->tried, "/firstRoot");
	char *shared CLEANUP_FREE = json_print_compact(json_pointer(reach->container, "/shared"));
	expect_harmless_mounts(reach);
	expect_privileges(reach);
	if (reach->sight != reach->bare)
		expect_granted_mounts(reach);
	(void)check_expect_text(
		reach->run, check_format(reach->run, "%s: namespaces of the host", reach->label),
		shared, "[]");
	(void)check_expect(reach->run, !text_equal(root, "other"),
			   check_format(reach->run, "%s: /proc/1/root", reach->label),
			   "the container's own, or closed", "%s", root);
}

void isolation_host_paths(struct check_run *run)
{
	judge_all(run, judge_host_paths);
}
