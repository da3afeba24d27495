/* SPDX-License-Identifier: MIT */
/* The files that a container can reach (of drivers, of the host), and whether its APIs agree; its device
 * nodes are in isolation_nodes.c. Judges the containers that isolation.single-device inspected;
 * isolation.node-files judges the answers only. */
#include "conformance/checks/isolation.h"

#include "base/file.h"
#include "base/path.h"
#include "conformance/checks/suites.h"
#include "conformance/checks/tally.h"
#include "containers/offers.h"

#include <string.h>

static const cJSON *object_at(const cJSON *json, const char *pointer)
{
	const cJSON *found = json_pointer(json, pointer);
	return cJSON_IsObject(found) ? found : NULL;
}

void isolation_each_observation(struct check_run *run)
{
	const struct observation_judge *judge = check_row(run)->param;
	cJSON *observations CLEANUP_JSON = observations_get(run);
	struct host_places *places CLEANUP_HOST_PLACES = host_places_new(check_context(run));
	size_t judged = 0;
	if (observations == NULL)
		return;
	json_each (observation, observations) {
		/* The container without devices comes first of each handler. */
		const char *handler = json_pointer_string(observation, "/handler");
		const cJSON *bare = json_first(observations);
		while (!text_equal(json_pointer_string(bare, "/handler"), handler))
			bare = bare->next;
		struct inspected inspected = {
			.run = run,
			.bare = bare,
			.observation = observation,
			.label = json_pointer_string(observation, "/label"),
			.document = json_pointer(observation, "/document"),
			.container = object_at(observation, "/container"),
			.tried = object_at(observation, "/document/reach"),
			.one = {.context = check_context(run),
				.container = object_at(observation, "/container"),
				.bare = object_at(bare, "/container"),
				.places = places,
				.needs_runtime = json_pointer_true(observation, "/needsRuntime"),
				.devices = &inspected.devices},
		};
		json_each (id, json_pointer(observation, "/devices")) {
			const struct discovery_device *device =
				discovery_find(check_context(run)->node, cJSON_GetStringValue(id));
			if (device != NULL)
				granted_add(&inspected.devices, device);
		}
		if (!judge->from_the_host ||
		    (inspected.container != NULL && inspected.tried != NULL)) {
			judged += judge->judge(&inspected);
			continue;
		}
		check_unsupported(run, "%s: %s", inspected.label,
				  inspected.container == NULL
					  ? "what is in the container cannot be seen from the host"
					  : "nothing can be tried in a container of this system");
	}
	if (judged == 0 && judge->none != NULL)
		check_not_applicable(run, "%s", judge->none);
}

const char *inspected_label(const struct inspected *inspected, const char *what)
{
	return check_format(inspected->run, "%s: %s", inspected->label, what);
}

/* How many APIs show a device; `names` gets their list. NULL: not needed. */
static size_t count_apis(const struct inspected *inspected, struct text *names)
{
	size_t count = 0;
	gpu_api_each (api) {
		if (cJSON_GetArraySize(agreement_shown(inspected->document, api->name)) == 0)
			continue;
		if (names != NULL)
			text_addf(names, "%s%s", count != 0 ? ", " : "", api->name);
		count++;
	}
	return count;
}

static size_t judge_driver_files(struct inspected *inspected)
{
	TALLY(tally, inspected->run, inspected_label(inspected, "driver files"),
	      "cannot be written to");
	if (inspected->observation == inspected->bare)
		return 0;
	json_each (json, json_pointer(inspected->container, "/mounts")) {
		struct container_mount_json mount = container_mount_read(&inspected->one, json);
		const cJSON *attempt =
			container_find_path(json_pointer(inspected->tried, "/mounts"), mount.path);
		const char *write = json_pointer_string(attempt, "/write");
		const char *remount = json_pointer_string(attempt, "/remount");
		if (mount.host_path == NULL || attempt == NULL || mount.runtimes ||
		    !container_holds_driver(inspected->one.context, mount.host_path))
			continue;
		tally_add(&tally,
			  mount.read_only && !text_equal(write, "ok") && !text_equal(remount, "ok"),
			  "%s is mounted %s: write %s, after a remount %s", mount.path,
			  mount.read_only ? "read-only" : "writable", write,
			  remount != NULL ? remount : "not tried");
	}
	if (tally.count == 0)
		check_not_applicable(inspected->run, "%s: the answer mounts no file of a driver",
				     inspected->label);
	return tally.count;
}

static size_t judge_host_paths(struct inspected *inspected)
{
	struct container_findings findings CLEANUP_CONTAINER_FINDINGS = {0};
	container_judge(&inspected->one, &findings);
	container_record(inspected->run, inspected->label, CONTAINER_REACH, &findings);
	text_each (note, &findings.notes)
		check_note(inspected->run, "%s: %s", inspected->label, note);

	/* An image with drivers of its own (--immutable): its container gets only device nodes from
	 * the node, and the image's drivers show the device. */
	if (check_context(inspected->run)->immutable) {
		size_t shown = count_apis(inspected, NULL);
		if (inspected->observation != inspected->bare)
			(void)check_expect(
				inspected->run, shown > 0,
				inspected_label(inspected, "device by the image's own drivers"),
				"shown by an API", "%zu APIs show one", shown);
		TALLY(tally, inspected->run,
		      inspected_label(inspected, "mounts of an immutable container"),
		      "only device nodes");
		json_each (json, json_pointer(inspected->container, "/mounts")) {
			struct container_mount_json mount =
				container_mount_read(&inspected->one, json);
			bool is_node =
				container_find_path(json_pointer(inspected->container, "/nodes"),
						    mount.path) != NULL;
			if (mount.host_path != NULL && !mount.runtimes)
				tally_add(&tally, is_node, "%s of the node at %s", mount.host_path,
					  mount.path);
		}
	}

	const char *root = json_pointer_string(inspected->tried, "/firstRoot");
	(void)check_expect(inspected->run, !text_equal(root, "other"),
			   inspected_label(inspected, "/proc/1/root"),
			   "the container's own, or closed", "%s", root);
	return 1;
}

/* Do all APIs that answer show the same device? */
static size_t judge_agreement(struct inspected *inspected)
{
	if (inspected->devices.count != 1)
		return 0;
	struct text names CLEANUP_TEXT = {0};
	(void)count_apis(inspected, &names);
	check_note(inspected->run, "%s is shown by %s", inspected->label,
		   names.size != 0 ? text_string(&names) : "no API");
	return agreement_expect(inspected->run, inspected->label, inspected->document);
}

/* Libraries that manage devices independently of their assignment must show the granted devices that
 * are on the PCI bus. */
static size_t judge_management(struct inspected *inspected)
{
	size_t answered = 0;
	gpu_api_each (api) {
		const cJSON *devices = agreement_shown(inspected->document, api->name);
		if (!api->past_assignment || devices == NULL)
			continue;
		answered++;
		TALLY(tally, inspected->run,
		      check_format(inspected->run, "%s: devices through %s", inspected->label,
				   api->name),
		      "those that were granted");
		json_each (seen, devices) {
			const struct discovery_device *device = visibility_device(
				check_context(inspected->run)->node, "nvml", seen);
			const char *address = json_pointer_string(seen, "/pciAddress");
			tally_add(&tally,
				  device != NULL && granted_has(&inspected->devices, device),
				  "%s at %s", json_pointer_string(seen, "/name"),
				  address != NULL ? address : "an unknown address");
		}
		bool cuda = cJSON_GetArraySize(agreement_shown(inspected->document, "cuda")) != 0;
		if (tally.count == 0)
			(void)check_expect_is(inspected->run, !cuda, tally.what,
					      "none, as through CUDA", "none, and CUDA shows one");
	}
	return answered;
}

const struct observation_judge
	isolation_driver_files = {judge_driver_files, NULL, true},
	isolation_host_paths = {judge_host_paths, NULL, true},
	isolation_apis_agree = {judge_agreement,
				"no two APIs of a container report the same fact of a device",
				false},
	isolation_management_apis = {judge_management,
				     "no management library answers in a container", false};

/* The mounts and device nodes in the answers for all ids: judged without a container. */
struct files {
	struct host_places *places;
	struct container_mounts node;
	struct tally *answers, *mounts, *nodes;
};

/* The type of the file system that holds a path of the node; NULL: unknown. */
static const char *type_at(const struct container_mounts *node, const char *path)
{
	const char *type = NULL;
	size_t longest = 0;
	char *real CLEANUP_FREE = NULL;
	if (file_resolve(NULL, path, &real, NULL) < 0)
		return NULL;
	items_each (mount, node->items, node->count) {
		if (strlen(mount->target) < longest || !path_is_within(real, mount->target))
			continue;
		type = mount->type;
		longest = strlen(mount->target);
	}
	return type;
}

static bool judge_files(struct offer *offer, void *user)
{
	struct files *files = user;
	tally_add(files->answers, true, "%s", offer->id);
	grant_each (mount, &offer_applied(offer)->mounts) {
		struct node_file file = {0};
		const char *given = NULL;
		bool is_node =
			node_file_identify(mount->host_path, &file) && node_file_is_device(&file);
		if (!is_node)
			given = host_places_given(files->places, mount->host_path,
						  type_at(&files->node, mount->host_path),
						  mount->read_only);
		if (node_file_is_of_the_node(&file))
			given = mount->host_path;
		tally_add(files->mounts, given == NULL, "%s by %s (%s) for %s", given,
			  mount->host_path, mount->read_only ? "read-only" : "writable", offer->id);
	}
	grant_each (node, &offer_applied(offer)->devices) {
		struct node_file file = {0};
		bool harmful = node_file_identify(node->host_path, &file) &&
			       node_file_is_of_the_node(&file);
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
	TALLY(answers, run, "answers", "inspected");
	struct host_places *places CLEANUP_HOST_PLACES = NULL;
	struct rig *rig = rig_ready(run);
	struct files files = {.answers = &answers, .mounts = &mounts, .nodes = &nodes};
	struct error err = {0};
	if (rig == NULL)
		return;
	places = host_places_new(rig->context);
	int rc = 0;
	if (OFFERS_INSPECTION)
		rc = container_mounts_read(0, &files.node, &err);
	files.places = places;
	if (check_works(run, rc, NULL, &err))
		(void)offers_each(rig, judge_files, &files);
	if (OFFERS_INSPECTION)
		container_mounts_free(&files.node);
}
