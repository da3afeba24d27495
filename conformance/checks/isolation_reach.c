/* SPDX-License-Identifier: MIT */
/* What a container can reach beside its devices (driver files, paths of the host), and what its APIs tell,
 * beside one another; its device nodes are in isolation_nodes.c. The containers are those that isolation.single-device looked at, and
 * for isolation.node-files the answers alone. */
#include "conformance/checks/isolation.h"

#include "base/file.h"
#include "base/path.h"
#include "conformance/checks/node_file.h"
#include "conformance/checks/suites.h"
#include "conformance/checks/tally.h"
#include "reports/view.h"

#include <inttypes.h>
#include <string.h>

static const cJSON *object_at(const cJSON *json, const char *pointer)
{
	const cJSON *found = json_pointer(json, pointer);
	return cJSON_IsObject(found) ? found : NULL;
}

/* One container. Returns how many things were judged. */
static size_t judge_sight(struct looked *looked, const struct sight_judge *judge)
{
	looked->label = json_pointer_string(looked->sight, "/label");
	looked->document = json_pointer(looked->sight, "/document");
	looked->container = object_at(looked->sight, "/container");
	looked->tried = object_at(looked->document, "/reach");
	looked->devices = (struct granted){0};
	json_each (id, json_pointer(looked->sight, "/devices")) {
		const struct discovery_device *device =
			discovery_find(check_context(looked->run)->node, cJSON_GetStringValue(id));
		if (device != NULL)
			granted_add(&looked->devices, device);
	}
	if (!judge->from_the_host || (looked->container != NULL && looked->tried != NULL))
		return judge->judge(looked);
	check_unsupported(looked->run, "%s: %s", looked->label,
			  looked->container == NULL
				  ? "what is in the container cannot be seen from the host"
				  : "nothing can be tried in a container of this system");
	return 0;
}

/* The container without devices of the same handler, which comes first. */
static const cJSON *find_bare(const cJSON *sights, const cJSON *sight)
{
	const char *handler = json_pointer_string(sight, "/handler");
	json_each (other, sights) {
		if (text_equal(json_pointer_string(other, "/handler"), handler))
			return other;
	}
	return sight;
}

void isolation_each_sight(struct check_run *run)
{
	const struct sight_judge *judge = check_row(run)->param;
	cJSON *sights CLEANUP_JSON = sights_take(run);
	struct granted_reader *reader CLEANUP_GRANTED_READER = NULL;
	struct host_places *places CLEANUP_HOST_PLACES = NULL;
	struct error err = {0};
	size_t judged = 0;
	if (sights == NULL)
		return;
	int rc = granted_reader_new(check_context(run)->node, &reader, &err);
	if (rc == 0)
		rc = host_places_new(check_context(run)->cri_address, &places, &err);
	if (!check_works(run, rc, NULL, &err))
		return;
	struct looked looked = {.run = run, .reader = reader, .places = places};
	json_each (sight, sights) {
		looked.sight = sight;
		looked.bare = find_bare(sights, sight);
		judged += judge_sight(&looked, judge);
	}
	if (judged == 0 && judge->none != NULL)
		check_not_applicable(run, "%s", judge->none);
}

const char *looked_label(const struct looked *looked, const char *what)
{
	return check_format(looked->run, "%s: %s", looked->label, what);
}

static const cJSON *find_path(const cJSON *array, const char *path)
{
	json_each (item, array) {
		if (text_equal(json_pointer_string(item, "/path"), path))
			return item;
	}
	return NULL;
}

struct mount {
	const cJSON *json;
	const char *path;
	const char *host_path; /* NULL: the host does not see it */
	bool read_only;
	bool usual; /* a container without devices has it as well */
};

static struct mount read_mount(const struct looked *looked, const cJSON *json)
{
	const char *path = json_pointer_string(json, "/path");
	const cJSON *usual = find_path(json_pointer(looked->bare, "/container/mounts"), path);
	return (struct mount){
		.json = json,
		.path = path,
		.host_path = json_pointer_string(json, "/hostPath"),
		.read_only = json_pointer_true(json, "/readOnly"),
		.usual = usual != NULL && text_equal(json_pointer_string(usual, "/type"),
						     json_pointer_string(json, "/type")),
	};
}

/* A file that a device of the node needs, a copy of one, or a folder that holds one. */
static bool holds_driver(const struct looked *looked, const char *host_path)
{
	struct grant_entry entry = {.host_path = host_path, .container_path = host_path};
	struct grant grant = {.mounts = {&entry, 1}};
	node_each (device, check_context(looked->run)->node) {
		for (size_t i = 0; i < device->file_count; i++) {
			char *real CLEANUP_FREE = NULL;
			if (file_resolve(NULL, device->files[i].source, &real, NULL) == 0 &&
			    path_is_within(real, host_path))
				return true;
		}
	}
	return granted_read(looked->reader, &grant).count != 0;
}

static size_t judge_driver_files(struct looked *looked)
{
	TALLY(tally, looked->run, looked_label(looked, "driver files"), "cannot be written to");
	if (looked->sight == looked->bare)
		return 0;
	json_each (json, json_pointer(looked->container, "/mounts")) {
		struct mount mount = read_mount(looked, json);
		const cJSON *attempt =
			find_path(json_pointer(looked->tried, "/mounts"), mount.path);
		const char *write = json_pointer_string(attempt, "/write");
		const char *remount = json_pointer_string(attempt, "/remount");
		if (mount.host_path == NULL || attempt == NULL || mount.usual ||
		    !holds_driver(looked, mount.host_path))
			continue;
		tally_add(&tally,
			  mount.read_only && !text_equal(write, "ok") && !text_equal(remount, "ok"),
			  "%s is mounted %s: write %s, after a remount %s", mount.path,
			  mount.read_only ? "read-only" : "writable", write,
			  remount != NULL ? remount : "not tried");
	}
	if (tally.count == 0)
		check_not_applicable(looked->run, "%s: the answer mounts no file of a driver",
				     looked->label);
	return tally.count;
}

/* What a runtime mounts for every container: `own` file systems, or files that it made for it; and
 * what the launcher does. */
static bool is_runtimes(const struct mount *mount)
{
	static const char *const made[] = {
		"/",	    "/etc/hosts",	    "/etc/hostname",  "/etc/resolv.conf",
		"/dev/shm", "/dev/termination-log", LAUNCH_HOLD_PATH, LAUNCH_PAUSE_PATH,
		NULL};
	/* /sys is that of the host wherever the network is; it must not be writable. */
	return made[text_position(made, mount->path)] != NULL ||
	       (path_is_within(mount->path, "/sys") && mount->read_only);
}

/* What of the node a mount hands out; NULL: nothing that it needs, or recorded. */
static const char *place_given(struct check_run *run, const struct host_places *places,
			       const char *path, bool read_only)
{
	const char *given = NULL;
	struct error err = {0};
	int rc = host_places_given(places, path, read_only, &given, &err);
	return check_works(run, rc, NULL, &err) ? given : NULL;
}

/* Whoever made them: the answer, CDI, a hook, the runtime. */
static void expect_harmless_mounts(struct looked *looked)
{
	const char *what = looked_label(looked, "mounts");
	bool is_bare = looked->sight == looked->bare;
	TALLY(kept, looked->run, what, "kept from the node's other mounts");
	TALLY(harmless, looked->run, what, "nothing that the node needs for itself");
	json_each (json, json_pointer(looked->container, "/mounts")) {
		struct mount mount = read_mount(looked, json);
		if (mount.host_path == NULL || is_runtimes(&mount) || (!is_bare && mount.usual))
			continue;
		const char *given =
			place_given(looked->run, looked->places, mount.host_path, mount.read_only);
		tally_add(&harmless, given == NULL, "%s of the node at %s (%s)", given, mount.path,
			  mount.read_only ? "read-only" : "writable");
		tally_add(&kept, !json_pointer_true(json, "/shared"), "%s spreads its mounts",
			  mount.path);
		if (is_bare && given == NULL)
			check_note(looked->run,
				   "the runtime mounts %s of the node into every container",
				   mount.host_path);
	}
}

/* Those that only a runtime understands (CDI, variables) may mount what does no harm. Where devices are
 * handed out as mounts, as in user namespaces, they are nodes. */
static void expect_granted_mounts(struct looked *looked)
{
	TALLY(tally, looked->run, looked_label(looked, "mounts"),
	      "those of the answer and of every container");
	bool by_runtime = json_pointer_true(looked->sight, "/byRuntime");
	json_each (json, json_pointer(looked->container, "/mounts")) {
		struct mount mount = read_mount(looked, json);
		const char *host_path = mount.host_path;
		bool known =
			mount.usual || json_pointer_true(json, "/granted") ||
			find_path(json_pointer(looked->container, "/nodes"), mount.path) != NULL;
		if (!known && by_runtime)
			check_note(looked->run, "%s: the runtime added %s%s%s", looked->label,
				   mount.path, host_path != NULL ? " of the node's " : "",
				   host_path != NULL ? host_path : "");
		tally_add(&tally, known || by_runtime, "%s (%s of the node)", mount.path,
			  host_path != NULL ? host_path : "nothing known");
	}
}

/* Nothing of an answer or a hook may widen what the program may do; a container without devices is
 * asked for without capabilities (containers/launch/launch.h). */
static void expect_privileges(struct looked *looked)
{
	bool is_bare = looked->sight == looked->bare;
	const cJSON *usual = json_pointer(looked->bare, "/container");
	uint64_t capabilities = (uint64_t)json_pointer_number(looked->container, "/capabilities");
	uint64_t least = is_bare ? 0 : (uint64_t)json_pointer_number(usual, "/capabilities");
	double seccomp = json_pointer_number(looked->container, "/seccomp");
	double usual_seccomp = json_pointer_number(usual, "/seccomp");
	bool confined = json_pointer_true(looked->container, "/noNewPrivileges");
	(void)check_expect(looked->run,
			   (capabilities & ~least) == 0 && seccomp >= usual_seccomp &&
				   (confined || !json_pointer_true(usual, "/noNewPrivileges")),
			   looked_label(looked, "privileges"), "no more than are asked for",
			   "capabilities %#" PRIx64 " beside %#" PRIx64
			   ", seccomp %.0f beside %.0f, no new privileges %s",
			   capabilities, least, seccomp, usual_seccomp, confined ? "yes" : "no");
}

/* Whose image has drivers of its own (--immutable): of the node there are device nodes alone, whoever would
 * mount more, and the drivers of the image show the device. */
static void expect_immutable(struct looked *looked)
{
	size_t shown = 0;
	for (const struct gpu_api *api = gpu_apis; api->name != NULL; api++)
		shown += cJSON_GetArraySize(agreement_shown(looked->document, api->name)) != 0;
	if (looked->sight != looked->bare)
		(void)check_expect(looked->run, shown > 0,
				   looked_label(looked, "device by the image's own drivers"),
				   "shown by an API", "%zu APIs show one", shown);
	TALLY(tally, looked->run, looked_label(looked, "mounts of an immutable container"),
	      "device nodes alone");
	json_each (json, json_pointer(looked->container, "/mounts")) {
		struct mount mount = read_mount(looked, json);
		bool is_node =
			find_path(json_pointer(looked->container, "/nodes"), mount.path) != NULL;
		if (mount.host_path != NULL && !is_runtimes(&mount))
			tally_add(&tally, is_node, "%s of the node at %s", mount.host_path,
				  mount.path);
	}
}

static size_t judge_host_paths(struct looked *looked)
{
	const char *root = json_pointer_string(looked->tried, "/firstRoot");
	char *shared CLEANUP_FREE = json_print_compact(json_pointer(looked->container, "/shared"));
	expect_harmless_mounts(looked);
	expect_privileges(looked);
	if (looked->sight != looked->bare)
		expect_granted_mounts(looked);
	if (check_context(looked->run)->immutable)
		expect_immutable(looked);
	(void)check_expect_text(looked->run, looked_label(looked, "namespaces of the host"), shared,
				"[]");
	(void)check_expect(looked->run, !text_equal(root, "other"),
			   looked_label(looked, "/proc/1/root"), "the container's own, or closed",
			   "%s", root);
	return 1;
}

/* "lavapipe is shown by vulkan" */
static void note_apis(const struct looked *looked)
{
	struct text names CLEANUP_TEXT = {0};
	for (const struct gpu_api *api = gpu_apis; api->name != NULL; api++) {
		if (cJSON_GetArraySize(agreement_shown(looked->document, api->name)) != 0)
			text_addf(&names, "%s%s", names.size != 0 ? ", " : "", api->name);
	}
	check_note(looked->run, "%s is shown by %s", looked->label,
		   names.size != 0 ? text_string(&names) : "no API");
}

/* Do they mean the same device? */
static size_t judge_agreement(struct looked *looked)
{
	if (looked->devices.count != 1)
		return 0;
	note_apis(looked);
	return agreement_expect(looked->run, looked->label, looked->document);
}

/* What an API shows that manages devices past their assignment: the granted devices, as far as the
 * PCI bus has them. False: it does not answer. */
static bool expect_assigned(struct looked *looked, const char *api)
{
	const cJSON *devices = agreement_shown(looked->document, api);
	TALLY(tally, looked->run,
	      check_format(looked->run, "%s: devices through %s", looked->label, api),
	      "those that were granted");
	json_each (seen, devices) {
		const struct discovery_device *device =
			visibility_device(check_context(looked->run)->node, "nvml", seen);
		const char *address = json_pointer_string(seen, "/pciAddress");
		tally_add(&tally, device != NULL && granted_has(&looked->devices, device),
			  "%s at %s", json_pointer_string(seen, "/name"),
			  address != NULL ? address : "an unknown address");
	}
	if (devices != NULL && tally.count == 0)
		(void)check_expect_is(
			looked->run,
			cJSON_GetArraySize(agreement_shown(looked->document, "cuda")) == 0,
			tally.what, "none, as through CUDA", "none, and CUDA shows one");
	return devices != NULL;
}

static size_t judge_management(struct looked *looked)
{
	size_t answered = 0;
	for (const struct gpu_api *api = gpu_apis; api->name != NULL; api++)
		answered += api->past_assignment && expect_assigned(looked, api->name);
	return answered;
}

const struct sight_judge
	isolation_driver_files = {judge_driver_files, NULL, true},
	isolation_host_paths = {judge_host_paths, NULL, true},
	isolation_apis_agree = {judge_agreement,
				"no two APIs of a container tell the same of a device", false},
	isolation_management_apis = {judge_management,
				     "no management library answers in a container", false};

/* What the answers of all ids mount and hand out as nodes: judged without a container. */
struct files {
	struct check_run *run;
	struct host_places *places;
	struct tally *answers, *mounts, *nodes;
};

/* /dev/mem, /dev/kmem, /dev/port, /dev/core, /dev/kmsg */
static bool is_of_the_node(const struct node_file *file)
{
	static const unsigned minors[] = {1, 2, 4, 6, 11};
	for (size_t i = 0; file->kind == NODE_FILE_CHARACTER && i < ARRAY_SIZE(minors); i++) {
		if (file->major == 1 && file->minor == minors[i])
			return true;
	}
	return file->kind == NODE_FILE_BLOCK;
}

static bool judge_files(struct offer *offer, void *user)
{
	struct files *files = user;
	tally_add(files->answers, true, "%s", offer->id);
	grant_each (mount, &offer_applied(offer)->mounts) {
		const char *given =
			place_given(files->run, files->places, mount->host_path, mount->read_only);
		tally_add(files->mounts, given == NULL, "%s by %s (%s) for %s", given,
			  mount->host_path, mount->read_only ? "read-only" : "writable", offer->id);
	}
	grant_each (node, &offer_applied(offer)->devices) {
		struct node_file file = {0};
		bool harmful = node_file_identify(node->host_path, &file) && is_of_the_node(&file);
		tally_add(files->nodes, !harmful, "%s (%s %u:%u) for %s", node->host_path,
			  file.kind == NODE_FILE_BLOCK ? "block" : "character", file.major,
			  file.minor, offer->id);
	}
	return true;
}

void isolation_node_files(struct check_run *run)
{
	TALLY(nodes, run, "device nodes", "no disk and no memory of the node");
	TALLY(mounts, run, "mounts", "nothing that the node needs for itself");
	TALLY(answers, run, "answers", "looked at");
	struct host_places *places CLEANUP_HOST_PLACES = NULL;
	struct rig *rig = rig_ready(run, NULL);
	struct error err = {0};
	if (rig == NULL ||
	    !check_works(run, host_places_new(rig->context->cri_address, &places, &err), NULL,
			 &err))
		return;
	struct files files = {run, places, &answers, &mounts, &nodes};
	(void)offers_each(rig, judge_files, &files);
}
