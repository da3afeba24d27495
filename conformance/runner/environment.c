/* SPDX-License-Identifier: MIT */
#include "conformance/runner/environment.h"

#include "base/cache_directory.h"
#include "base/digest.h"
#include "base/members.h"
#include "base/memory.h"
#include "base/os_version.h"
#include "base/path.h"
#include "conformance/runner/execution.h"
#include "containers/offers.h"
#include "containers/runtime/identity.h"
#include "reports/environment.h"

#include <stdlib.h>
#include <string.h>

/* The driver of a device that Windows programs see under Wine. */
#define WINE_DRIVER "wine"

/* Nothing for NULL and "". */
static void add_text(struct members *object, const char *key, const char *value)
{
	if (value != NULL && value[0] != '\0')
		member_string(object, key, value);
}

/* On this machine, under Wine. */
static bool is_wine(const struct wine_node *wine)
{
	return OFFERS_WINE_NODE && wine->directory != NULL;
}

/* The digest of a file; nothing where it could not be read. */
static void add_digest(struct members *object, const char *key, const struct digest_job *job)
{
	add_text(object, key, job != NULL ? digest_result(job) : NULL);
}

static void add_set(struct members *object, const char *key, const struct digest_set *set)
{
	char digest[DIGEST_SIZE] = "";
	if (digest_set_result(set, digest))
		add_text(object, key, digest);
}

/* Whether the other sections describe this machine. */
static void add_node(struct members *json, const struct environment *environment,
		     const struct context *context, const struct wine_node *wine)
{
	struct members node = member_object(json, "node");
	struct text_list dlls CLEANUP_TEXT_LIST = {0};
	const char *vm = getenv(ENVIRONMENT_VM);
	char digest[DIGEST_SIZE] = "";
	struct os_version version = {0};

	if (is_wine(wine)) {
		add_text(&node, "kind", "wine");
		add_text(&node, "digest", environment->wine.digest);
		/* DLLs that containers get in addition to, or instead of, Wine's own. */
		if (wine_dlls_list(wine->dlls, &dlls, NULL) == 0 && dlls.count != 0) {
			struct members names = member_array(&node, "dlls");
			text_each (dll, &dlls)
				member_string(&names, NULL, path_base(dll));
		}
	} else if (context->node->recorded) {
		add_text(&node, "kind", "recorded");
		add_text(&node, "file", path_base(context->node_file));
		if (digest_file(context->node_file, digest, NULL, NULL) == 0)
			add_text(&node, "digest", digest);
		add_text(&node, "recorded", context->node->recorded_at);
	} else if (vm != NULL) {
		cJSON *description = NULL;
		add_text(&node, "kind", "vm");
		if (json_read_file(vm, &description, NULL) == 0)
			member_item(&node, "vm", description);
		return;
	} else {
		add_text(&node, "kind", "live");
		return;
	}

	/* The machine that stands in for the node. */
	struct members machine = member_object(&node, "machine");
	if (os_version_read(&version, NULL) == 0) {
		add_text(&machine, "product", version.product);
		add_text(&machine, "kernel", version.kernel);
		add_text(&machine, "kernelBuild", version.kernel_build);
		add_text(&machine, "architecture", version.architecture);
	}
}

static void add_os(struct members *json, const struct discovery_system *system,
		   const struct wine_node *wine)
{
	const bool runs_wine = is_wine(wine);
	struct members os = member_object(json, "os");
	char *version CLEANUP_FREE = NULL;
	char *product CLEANUP_FREE = NULL;

	/* Names Wine: its Windows version is not that of a real Windows. */
	if (runs_wine || system->emulator[0] != '\0') {
		if (!runs_wine)
			version = memory_copy(system->emulator);
		else if (wine_node_version(wine, &version, NULL) < 0)
			version = memory_copy("Wine");
		product = text_format("%s, Windows build reported %s%s", version,
				      text_starts_with(system->build, "10.0.") ? "" : "10.0.",
				      system->build);
	}

	add_text(&os, "name", system->os);
	add_text(&os, "product", product != NULL ? product : system->product);
	add_text(&os, "version", system->version);
	if (text_equal(system->os, "windows")) {
		const char *dot = strrchr(system->build, '.'); /* "20348.1547" */
		size_t size = dot != NULL ? (size_t)(dot - system->build) : strlen(system->build);
		char *build CLEANUP_FREE = memory_copy_start(system->build, size);
		add_text(&os, "build", build);
		add_text(&os, "revision", dot != NULL ? dot + 1 : NULL);
	} else {
		add_text(&os, "kernel", system->build);
		add_text(&os, "kernelBuild", system->kernel_build);
	}
	add_text(&os, "architecture", system->architecture);
}

static const struct digest_job *begin_digest(struct environment *environment, const char *path)
{
	const struct digest_job *job = NULL;
	if (path != NULL)
		(void)digests_add(environment->digests, path, &job, NULL);
	return job;
}

/* The programs that start a handler's containers. */
static void add_programs(struct members *out, struct environment *environment, struct runtime *used,
			 const char *handler)
{
	struct runtime_identity identity CLEANUP_RUNTIME_IDENTITY = {0};
	runtime_identify(used, handler, &identity);

	const struct digest_job *program = begin_digest(environment, identity.file);
	const struct digest_job *shim = begin_digest(environment, identity.shim_file);
	const struct digest_job *oci = begin_digest(environment, identity.oci_file);
	digests_wait(environment->digests);

	add_digest(out, "binaryDigest", program);
	add_text(out, "shim", identity.shim);
	add_digest(out, "shimDigest", shim);
	add_text(out, "oci", identity.oci);
	add_digest(out, "ociDigest", oci);
	add_text(out, "unknown", identity.unknown);
}

static void add_runtime(struct members *json, struct environment *environment,
			const struct context *context, struct runtime *used)
{
	const struct runtime_description *description = runtime_describe(used);
	const struct text_list *handlers = &context->runtime_handlers;
	struct members runtime = member_object(json, "runtime");
	add_text(&runtime, "name", description->name);
	add_text(&runtime, "version", description->version);
	add_text(&runtime, "apiVersion", description->api_version);
	add_text(&runtime, "snapshotter", description->snapshotter);
	member_bool(&runtime, "private", description->is_private);
	add_programs(&runtime, environment, used, context_handler(context, 0));

	/* Handlers that were asked for, by name. */
	if (handlers->count == 0)
		return;
	struct members array = member_array(&runtime, "handlers");
	text_each (name, handlers) {
		struct members handler = member_object(&array, NULL);
		add_text(&handler, "name", name);
		add_programs(&handler, environment, used, name);
	}
}

/* The first device that has the driver. */
static size_t driver_of(const struct discovery_snapshot *node, size_t index)
{
	const struct discovery_device *devices = node->devices;
	size_t first = 0;
	while (!text_equal(devices[first].driver_name, devices[index].driver_name) ||
	       !text_equal(devices[first].driver_version, devices[index].driver_version) ||
	       !text_equal(devices[first].driver_store_path, devices[index].driver_store_path))
		first++;
	return first;
}

/* "amdgpu"; "amdgpu#2" for another driver of that name. NULL: no driver. */
static char *driver_key(const struct discovery_snapshot *node, size_t index)
{
	const char *name = node->devices[index].driver_name;
	size_t first = driver_of(node, index);
	size_t number = 1;
	if (name[0] == '\0')
		return NULL;
	for (size_t i = 0; i < first; i++) {
		if (text_equal(node->devices[i].driver_name, name) && driver_of(node, i) == i)
			number++;
	}
	return number == 1 ? memory_copy(name) : text_format("%s#%zu", name, number);
}

static void add_driver(struct members *drivers, const struct environment *environment,
		       const struct discovery_snapshot *node, size_t index)
{
	const struct discovery_device *device = &node->devices[index];
	const char *maker = device->manufacturer[0] != '\0' ? device->manufacturer : device->vendor;
	struct members driver = member_object(drivers, NULL);
	char *key CLEANUP_FREE = driver_key(node, index);
	char *name CLEANUP_FREE =
		text_format("%s%s%s", maker, maker[0] != '\0' ? " " : "", device->driver_name);

	const char *model = device->display ? "wddm" : "mcdm";
	if (device->kind == DISCOVERY_SOFTWARE || node->system.emulator[0] != '\0')
		model = "software";
	else if (device->kind == DISCOVERY_VIRTUAL)
		model = REPORT_MODEL_VIRTUAL;
	else if (!text_equal(node->system.os, "windows"))
		model = "kernel";

	add_text(&driver, "key", key);
	add_text(&driver, "name", device->kind == DISCOVERY_SOFTWARE ? device->description : name);
	add_text(&driver, "version", device->driver_version);
	add_text(&driver, "userMode", device->user_mode_driver);
	add_text(&driver, "date", device->driver_date);
	add_text(&driver, "inf", device->driver_inf);
	add_text(&driver, "model", model);
	member_bool(&driver, "software", text_equal(model, "software"));
	add_set(&driver, "storeDigest", &environment->devices[index].driver_store);
}

static void add_component(struct members *drivers, const char *key, const char *name,
			  const char *version)
{
	struct members driver = member_object(drivers, NULL);
	add_text(&driver, "key", key);
	add_text(&driver, "name", name);
	add_text(&driver, "version", version);
	add_text(&driver, "model", "software");
	member_bool(&driver, "software", true);
}

static void add_drivers(struct members *json, const struct environment *environment,
			const struct discovery_snapshot *node)
{
	const struct wine_identity *wine = &environment->wine;
	struct members drivers = member_array(json, "drivers");

	/* On the Wine node no device has a Windows driver: the components that do its work are named. */
	if (wine->wine != NULL) {
		add_component(&drivers, WINE_DRIVER, "Wine", wine->wine);
		add_component(
			&drivers, "vkd3d",
			wine->dxil ? "vkd3d with its experimental DXIL parser (Wine's Direct3D 12)"
				   : "vkd3d (Wine's Direct3D 12)",
			wine->vkd3d);
		for (size_t i = 0; i < wine->drivers->device_count; i++) {
			const struct discovery_device *device = &wine->drivers->devices[i];
			add_component(&drivers, device->driver_name, device->description,
				      device->driver_version);
		}
	}

	for (size_t i = 0; i < node->device_count; i++) {
		if (node->devices[i].driver_name[0] != '\0' && driver_of(node, i) == i)
			add_driver(&drivers, environment, node, i);
	}
}

static void add_devices(struct members *json, const struct environment *environment,
			const struct discovery_snapshot *node)
{
	static const char *const left_out[] = {"files", "nodes", "environment"};
	struct members devices = member_array(json, "devices");
	cJSON *document CLEANUP_JSON = NULL;
	char *text = discovery_to_json(node);
	int rc = text != NULL ? json_parse(text, strlen(text), &document, NULL) : ERROR_MEMORY;
	discovery_string_free(text);
	json->failed = json->failed || rc < 0;
	if (rc < 0)
		return;

	cJSON *recorded = cJSON_GetObjectItemCaseSensitive(document, "devices");
	for (size_t i = 0; i < node->device_count; i++) {
		/* `own`: the device as in a recorded node (discovery/schema/node.schema.json), without
		 * what a container gets: that is long, and digested. */
		cJSON *own = cJSON_DetachItemFromArray(recorded, 0);
		const struct discovery_device *device = &node->devices[i];
		struct members item = member_object(&devices, NULL);
		char *driver CLEANUP_FREE = driver_key(node, i);
		char *hardware CLEANUP_FREE = NULL;

		add_text(&item, "ref", device->id);
		add_text(&item, "driver",
			 driver == NULL && environment->wine.wine != NULL ? WINE_DRIVER : driver);
		add_text(&item, "name", device->description);
		add_text(&item, "vendor", device->vendor);
		add_text(&item, "kind", discovery_kind_name(device->kind));
		if (device->pci_vendor != DISCOVERY_UNKNOWN)
			hardware =
				text_format("PCI\\VEN_%04X&DEV_%04X", (unsigned)device->pci_vendor,
					    (unsigned)device->pci_device);
		add_text(&item, "hardwareId", hardware);
		member_strings(&item, "apis", device->apis);

		struct members files = member_object(&item, "runtimeFiles");
		member_int(&files, "count", (int64_t)device->file_count);
		add_set(&files, "digest", &environment->devices[i].files);

		for (size_t k = 0; k < ARRAY_SIZE(left_out); k++)
			cJSON_DeleteItemFromObjectCaseSensitive(own, left_out[k]);
		member_item(&item, "node", own);
	}
}

cJSON *environment_describe_plugin(struct environment *environment, const struct context *context)
{
	digests_wait(environment->digests);
	return plugin_identity_json(&environment->plugin,
				    context->reference_plugin ? GPUCERT_VERSION : NULL);
}

int environment_open(struct environment *environment, uv_loop_t *loop,
		     const struct discovery_snapshot *node, const struct wine_node *wine,
		     struct error *err)
{
	char *program CLEANUP_FREE = NULL;
	char *run_check CLEANUP_FREE = NULL;
	char *folder CLEANUP_FREE = cache_directory();
	int rc = 0;
	if (folder != NULL) {
		char *kept CLEANUP_FREE = path_join(folder, "digests");
		(void)digest_cache_open(kept, &environment->digest_cache, NULL);
	}
	environment->digests = digests_new(loop, environment->digest_cache);
	environment->device_count = node->device_count;
	environment->devices =
		memory_allocate(node->device_count + 1, sizeof(*environment->devices));

	if (OFFERS_WINE_NODE && wine != NULL)
		rc = wine_identity_read(wine, &environment->wine, err);
	for (size_t i = 0; rc == 0 && i < node->device_count; i++) {
		/* Begins to digest the files of a device. They are this machine's only if the node is. */
		const struct discovery_device *device = &node->devices[i];
		struct device_digests *digests = &environment->devices[i];
		const bool files_are_elsewhere =
			(OFFERS_WINE_NODE && wine != NULL) || node->recorded;
		if (OFFERS_WINE_NODE && wine != NULL)
			rc = wine_identity_add_files(wine, device->location_path, &digests->files,
						     environment->digests, err);
		for (size_t k = 0; rc == 0 && !files_are_elsewhere && k < device->file_count; k++)
			rc = digest_set_add(&digests->files, environment->digests,
					    device->files[k].destination, device->files[k].source,
					    err);
		if (rc == 0 && !files_are_elsewhere && device->driver_store_path[0] != '\0')
			rc = digest_set_add(&digests->driver_store, environment->digests,
					    path_base(device->driver_store_path),
					    device->driver_store_path, err);
	}
	if (rc == 0 && path_of_program(&program, NULL) == 0)
		environment->harness = begin_digest(environment, program);
	if (rc == 0 && path_of_helper(RUN_CHECK, &run_check, NULL) == 0)
		environment->run_check = begin_digest(environment, run_check);
	return rc;
}

void environment_close(struct environment *environment)
{
	for (size_t i = 0; environment->devices != NULL && i < environment->device_count; i++) {
		digest_set_free(&environment->devices[i].files);
		digest_set_free(&environment->devices[i].driver_store);
	}
	free(environment->devices);
	plugin_identity_free(&environment->plugin);
	if (OFFERS_WINE_NODE)
		wine_identity_free(&environment->wine);
	digests_free(environment->digests);
	digest_cache_free(&environment->digest_cache);
	*environment = (struct environment){0};
}

int environment_describe(struct environment *environment, const struct context *context,
			 const struct workplace *workplace, cJSON **out, struct error *err)
{
	const struct image_description *probe = &workplace->images.probe;
	const struct wine_node *wine = &workplace->wine;
	struct members json CLEANUP_MEMBERS = members_new();
	int rc = 0;

	/* The plugin's program: on the Wine node, the one that the relay runs. */
	if (context->reference_plugin && is_wine(wine)) {
		char *program CLEANUP_FREE = NULL;
		if (wine_node_program(wine, WINE_NODE_PLUGIN, &program, NULL) == 0)
			plugin_identity_of_file(&environment->plugin, program,
						environment->digests);
	} else {
		rc = plugin_identity_of_command(&environment->plugin, context->plugin_command,
						environment->digests, err);
	}
	if (rc < 0)
		return rc;

	if (workplace->runtime != NULL)
		add_runtime(&json, environment, context, workplace->runtime);
	member_item(&json, "plugin", environment_describe_plugin(environment, context));
	add_node(&json, environment, context, wine);
	add_os(&json, &context->node->system, wine);
	add_drivers(&json, environment, context->node);
	add_devices(&json, environment, context->node);

	struct members images = member_array(&json, "images");
	if (probe->reference != NULL) {
		struct members image = member_object(&images, NULL);
		add_text(&image, "ref", probe->reference);
		add_text(&image, "digest", probe->digest);
		add_text(&image, "osVersion", probe->os_version);
	}

	struct members harness = member_object(&json, "harness");
	add_text(&harness, "version", GPUCERT_VERSION);
	add_digest(&harness, "binaryDigest", environment->harness);
	add_digest(&harness, "checksDigest", environment->run_check);
	*out = members_take(&json);
	return *out != NULL ? 0 : error_memory(err);
}
