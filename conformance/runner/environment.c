/* SPDX-License-Identifier: MIT */
#include "conformance/runner/environment.h"

#include "base/digest.h"
#include "base/members.h"
#include "base/os_version.h"
#include "base/path.h"
#include "containers/offers.h"
#include "containers/registry/content_cache.h"
#include "containers/runtime/identity.h"

#include <string.h>

/* What drives a device that Windows programs see under Wine. */
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

static void add_digest(struct members *object, const char *key, const char *path)
{
	char digest[DIGEST_SIZE] = "";
	if (path != NULL && digest_file(path, digest, NULL, NULL) == 0)
		add_text(object, key, digest);
}

/* The digest of a file that is being read, or was. */
static void add_result(struct members *object, const char *key, const struct digest_job *job)
{
	add_text(object, key, job != NULL ? digest_result(job) : NULL);
}

static void add_set(struct members *object, const char *key, const struct digest_set *set)
{
	char digest[DIGEST_SIZE] = "";
	if (digest_set_result(set, digest))
		add_text(object, key, digest);
}

/* The machine that stands in for the node. */
static cJSON *machine_json(void)
{
	struct members machine CLEANUP_MEMBERS = members_new();
	struct os_version version = {0};
	if (os_version_read(&version, NULL) == 0) {
		add_text(&machine, "product", version.product);
		add_text(&machine, "kernel", version.kernel);
		add_text(&machine, "kernelBuild", version.kernel_build);
		add_text(&machine, "architecture", version.architecture);
	}
	return members_take(&machine);
}

/* The names of the DLLs that containers get beside, or instead of, Wine's own. */
static void add_dlls(struct members *node, const char *folder)
{
	struct text_list dlls CLEANUP_TEXT_LIST = {0};
	struct members names CLEANUP_MEMBERS = members_new_array();
	if (wine_dlls_list(folder, &dlls, NULL) < 0 || dlls.count == 0)
		return;
	for (size_t i = 0; i < dlls.count; i++)
		member_string(&names, NULL, path_base(dlls.items[i]));
	member_item(node, "dlls", members_take(&names));
}

/* Whether what the other sections say of a node is true of this machine. */
static cJSON *node_json(const struct environment *environment, const struct context *context,
			const struct wine_node *wine)
{
	struct members node CLEANUP_MEMBERS = members_new();
	if (is_wine(wine)) {
		add_text(&node, "kind", "wine");
		add_text(&node, "digest", environment->wine.digest);
		add_dlls(&node, wine->dlls);
	} else if (context->node->recorded) {
		add_text(&node, "kind", "recorded");
		add_text(&node, "file", path_base(context->node_file));
		add_digest(&node, "digest", context->node_file);
		add_text(&node, "recorded", context->node->recorded_at);
	} else {
		add_text(&node, "kind", "live");
		return members_take(&node);
	}
	member_item(&node, "machine", machine_json());
	return members_take(&node);
}

/* Never just the Windows that Wine says it is. NULL: out of memory. */
static char *wine_product(const struct discovery_system *system, const struct wine_node *wine)
{
	char *version CLEANUP_FREE = NULL;
	if (is_wine(wine))
		(void)wine_node_version(wine, &version, NULL);
	else
		version = strdup(system->emulator);
	return text_format("%s, Windows build reported %s%s", version != NULL ? version : "Wine",
			   text_starts_with(system->build, "10.0.") ? "" : "10.0.", system->build);
}

static cJSON *os_json(const struct discovery_system *system, const struct wine_node *wine)
{
	struct members os CLEANUP_MEMBERS = members_new();
	char *product CLEANUP_FREE = is_wine(wine) || system->emulator[0] != '\0'
					     ? wine_product(system, wine)
					     : strdup(system->product);
	const char *dot = strrchr(system->build, '.'); /* "20348.1547" */
	char *build CLEANUP_FREE =
		dot != NULL ? strndup(system->build, (size_t)(dot - system->build)) : NULL;
	add_text(&os, "name", system->os);
	add_text(&os, "product", product);
	add_text(&os, "version", system->version);
	if (strcmp(system->os, "windows") == 0) {
		add_text(&os, "build", dot != NULL ? build : system->build);
		add_text(&os, "revision", dot != NULL ? dot + 1 : NULL);
	} else {
		add_text(&os, "kernel", system->build);
		add_text(&os, "kernelBuild", system->kernel_build);
	}
	add_text(&os, "architecture", system->architecture);
	return members_take(&os);
}

static const struct digest_job *begin_digest(struct environment *environment, const char *path)
{
	const struct digest_job *job = NULL;
	if (path != NULL)
		(void)digests_add(environment->digests, path, &job, NULL);
	return job;
}

/* What starts the containers of a handler. */
static int add_programs(struct members *out, struct environment *environment, struct runtime *used,
			const char *handler, struct error *err)
{
	struct runtime_identity identity CLEANUP_RUNTIME_IDENTITY = {0};
	int rc = runtime_identify(used, handler, &identity, err);
	if (rc != 0)
		return rc;
	const struct digest_job *program = begin_digest(environment, identity.file);
	const struct digest_job *shim = begin_digest(environment, identity.shim_file);
	const struct digest_job *oci = begin_digest(environment, identity.oci_file);
	digests_wait(environment->digests);
	add_result(out, "binaryDigest", program);
	add_text(out, "shim", identity.shim);
	add_result(out, "shimDigest", shim);
	add_text(out, "oci", identity.oci);
	add_result(out, "ociDigest", oci);
	add_text(out, "untold", identity.untold);
	return 0;
}

/* Those that were asked for, by name. */
static int add_handlers(struct members *runtime, struct environment *environment,
			const struct context *context, struct runtime *used, struct error *err)
{
	struct members array CLEANUP_MEMBERS = members_new_array();
	const struct text_list *handlers = &context->runtime_handlers;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < handlers->count; i++) {
		struct members handler CLEANUP_MEMBERS = members_new();
		add_text(&handler, "name", handlers->items[i]);
		rc = add_programs(&handler, environment, used, handlers->items[i], err);
		member_item(&array, NULL, members_take(&handler));
	}
	if (handlers->count != 0)
		member_item(runtime, "handlers", members_take(&array));
	return rc;
}

/* *out is NULL when no runtime is used. */
static int runtime_json(struct environment *environment, const struct context *context,
			struct runtime *used, cJSON **out, struct error *err)
{
	struct members runtime CLEANUP_MEMBERS = members_new();
	if (used == NULL)
		return 0;
	const struct runtime_description *description = runtime_describe(used);
	add_text(&runtime, "name", description->name);
	add_text(&runtime, "version", description->version);
	add_text(&runtime, "apiVersion", description->api_version);
	add_text(&runtime, "snapshotter", description->snapshotter);
	member_bool(&runtime, "private", description->is_private);
	int rc = add_programs(&runtime, environment, used, context_handler(context, 0), err);
	if (rc == 0)
		rc = add_handlers(&runtime, environment, context, used, err);
	if (rc != 0)
		return rc;
	*out = members_take(&runtime);
	return *out != NULL ? 0 : error_memory(err);
}

static cJSON *images_json(const struct images *images)
{
	struct members array CLEANUP_MEMBERS = members_new_array();
	struct members image CLEANUP_MEMBERS = members_new();
	add_text(&image, "ref", images->probe.reference);
	add_text(&image, "digest", images->probe.digest);
	add_text(&image, "osVersion", images->probe.os_version);
	if (images->probe.reference != NULL)
		member_item(&array, NULL, members_take(&image));
	return members_take(&array);
}

static cJSON *harness_json(const struct environment *environment)
{
	struct members harness CLEANUP_MEMBERS = members_new();
	add_text(&harness, "version", GPUCERT_VERSION);
	add_result(&harness, "binaryDigest", environment->harness);
	return members_take(&harness);
}

static bool same_driver(const struct discovery_device *a, const struct discovery_device *b)
{
	return strcmp(a->driver_name, b->driver_name) == 0 &&
	       strcmp(a->driver_version, b->driver_version) == 0 &&
	       strcmp(a->driver_store_path, b->driver_store_path) == 0;
}

/* The first device that has the driver. */
static size_t driver_of(const struct discovery_snapshot *node, size_t index)
{
	size_t first = 0;
	while (!same_driver(&node->devices[first], &node->devices[index]))
		first++;
	return first;
}

/* "amdgpu"; "amdgpu#2" for another driver of that name. NULL: out of memory, or no driver. */
static char *driver_key(const struct discovery_snapshot *node, size_t index)
{
	const char *name = node->devices[index].driver_name;
	size_t first = driver_of(node, index);
	size_t others = 0;
	if (name[0] == '\0')
		return NULL;
	for (size_t i = 0; i < first; i++)
		others += strcmp(node->devices[i].driver_name, name) == 0 && driver_of(node, i) == i
				  ? 1
				  : 0;
	return others == 0 ? strdup(name) : text_format("%s#%zu", name, others + 1);
}

/* Who made it, and what it is called. */
static char *driver_name(const struct discovery_device *device)
{
	const char *maker = device->manufacturer[0] != '\0' ? device->manufacturer : device->vendor;
	if (device->kind == DISCOVERY_SOFTWARE)
		return strdup(device->description);
	return text_format("%s%s%s", maker, maker[0] != '\0' ? " " : "", device->driver_name);
}

static const char *driver_model(const struct discovery_snapshot *node,
				const struct discovery_device *device)
{
	if (device->kind == DISCOVERY_SOFTWARE || node->system.emulator[0] != '\0')
		return "software";
	if (strcmp(node->system.os, "windows") != 0)
		return "kernel";
	return device->display ? "wddm" : "mcdm";
}

static cJSON *driver_json(const struct environment *environment,
			  const struct discovery_snapshot *node, size_t index)
{
	const struct discovery_device *device = &node->devices[index];
	const char *model = driver_model(node, device);
	struct members driver CLEANUP_MEMBERS = members_new();
	char *key CLEANUP_FREE = driver_key(node, index);
	char *name CLEANUP_FREE = driver_name(device);
	add_text(&driver, "key", key);
	add_text(&driver, "name", name);
	add_text(&driver, "version", device->driver_version);
	add_text(&driver, "userMode", device->user_mode_driver);
	add_text(&driver, "date", device->driver_date);
	add_text(&driver, "inf", device->driver_inf);
	add_text(&driver, "model", model);
	member_bool(&driver, "software", strcmp(model, "software") == 0);
	add_set(&driver, "storeDigest", &environment->devices[index].driver_store);
	return members_take(&driver);
}

static void add_component(struct members *drivers, const char *key, const char *name,
			  const char *version)
{
	struct members driver CLEANUP_MEMBERS = members_new();
	add_text(&driver, "key", key);
	add_text(&driver, "name", name);
	add_text(&driver, "version", version);
	add_text(&driver, "model", "software");
	member_bool(&driver, "software", true);
	member_item(drivers, NULL, members_take(&driver));
}

/* On the Wine node no device has a driver of Windows: what does its work is named. */
static void add_wine(struct members *drivers, const struct wine_identity *wine)
{
	add_component(drivers, WINE_DRIVER, "Wine", wine->wine);
	add_component(drivers, "vkd3d",
		      wine->dxil ? "vkd3d with its experimental DXIL parser (Wine's Direct3D 12)"
				 : "vkd3d (Wine's Direct3D 12)",
		      wine->vkd3d);
	for (size_t i = 0; i < wine->drivers->device_count; i++) {
		const struct discovery_device *device = &wine->drivers->devices[i];
		add_component(drivers, device->driver_name, device->description,
			      device->driver_version);
	}
}

static cJSON *drivers_json(const struct environment *environment,
			   const struct discovery_snapshot *node)
{
	struct members drivers CLEANUP_MEMBERS = members_new_array();
	if (environment->wine.wine != NULL)
		add_wine(&drivers, &environment->wine);
	for (size_t i = 0; i < node->device_count; i++) {
		if (node->devices[i].driver_name[0] != '\0' && driver_of(node, i) == i)
			member_item(&drivers, NULL, driver_json(environment, node, i));
	}
	return members_take(&drivers);
}

/* `words`: the device in the node's own words (discovery/schema/node.schema.json), without what a
 * container is given: that is long, and digested. */
static cJSON *device_json(const struct environment *environment,
			  const struct discovery_snapshot *node, size_t index, cJSON *words)
{
	static const char *const given[] = {"files", "nodes", "environment"};
	const struct discovery_device *device = &node->devices[index];
	struct members json CLEANUP_MEMBERS = members_new();
	struct members files CLEANUP_MEMBERS = members_new();
	char *driver CLEANUP_FREE = driver_key(node, index);
	char *hardware CLEANUP_FREE = NULL;
	add_text(&json, "ref", device->id);
	add_text(&json, "driver",
		 driver == NULL && environment->wine.wine != NULL ? WINE_DRIVER : driver);
	add_text(&json, "name", device->description);
	add_text(&json, "vendor", device->vendor);
	add_text(&json, "kind", discovery_kind_name(device->kind));
	if (device->pci_vendor != DISCOVERY_UNKNOWN)
		hardware = text_format("PCI\\VEN_%04X&DEV_%04X", (unsigned)device->pci_vendor,
				       (unsigned)device->pci_device);
	add_text(&json, "hardwareId", hardware);
	member_strings(&json, "apis", device->apis);
	member_int(&files, "count", (int64_t)device->file_count);
	add_set(&files, "digest", &environment->devices[index].files);
	member_item(&json, "runtimeFiles", members_take(&files));
	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		cJSON_DeleteItemFromObjectCaseSensitive(words, given[i]);
	member_item(&json, "node", words);
	return members_take(&json);
}

static cJSON *devices_json(const struct environment *environment,
			   const struct discovery_snapshot *node)
{
	struct members devices CLEANUP_MEMBERS = members_new_array();
	cJSON *document CLEANUP_JSON = NULL;
	char *text = discovery_to_json(node);
	int rc = text != NULL ? json_parse(text, strlen(text), &document, NULL) : ERROR_MEMORY;
	discovery_string_free(text);
	cJSON *recorded = cJSON_GetObjectItemCaseSensitive(document, "devices");
	for (size_t i = 0; rc == 0 && i < node->device_count; i++) {
		cJSON *words = cJSON_DetachItemFromArray(recorded, 0);
		member_item(&devices, NULL, device_json(environment, node, i, words));
	}
	return rc == 0 ? members_take(&devices) : NULL;
}

/* The program that is the plugin: on the Wine node, what the relay runs. */
static int identify_plugin(struct environment *environment, const struct context *context,
			   const struct wine_node *wine, struct error *err)
{
	char *program CLEANUP_FREE = NULL;
	if (context->reference_plugin && is_wine(wine)) {
		if (wine_node_program(wine, WINE_NODE_PLUGIN, &program, NULL) < 0)
			return 0;
		return plugin_identity_of_file(&environment->plugin, program, environment->digests,
					       err);
	}
	return plugin_identity_of_command(&environment->plugin, context->plugin_command,
					  environment->digests, err);
}

int environment_describe_plugin(struct environment *environment, const struct context *context,
				cJSON **out, struct error *err)
{
	digests_wait(environment->digests);
	*out = plugin_identity_json(&environment->plugin,
				    context->reference_plugin ? GPUCERT_VERSION : NULL);
	return *out != NULL ? 0 : error_memory(err);
}

/* Begins to digest what a device uses. The files are those of this machine only where the node is.
 */
static int begin_device(struct environment *environment, size_t index,
			const struct discovery_snapshot *node, const struct wine_node *wine,
			struct error *err)
{
	const struct discovery_device *device = &node->devices[index];
	struct digest_set *files = &environment->devices[index].files;
	int rc = 0;
	if (OFFERS_WINE_NODE && wine != NULL)
		return wine_identity_add_files(wine, device->location_path, files,
					       environment->digests, err);
	if (node->recorded)
		return 0;
	for (size_t i = 0; rc == 0 && i < device->file_count; i++)
		rc = digest_set_add(files, environment->digests, device->files[i].destination,
				    device->files[i].source, err);
	if (rc == 0 && device->driver_store_path[0] != '\0')
		rc = digest_set_add(&environment->devices[index].driver_store, environment->digests,
				    path_base(device->driver_store_path), device->driver_store_path,
				    err);
	return rc;
}

int environment_open(struct environment *environment, uv_loop_t *loop,
		     const struct discovery_snapshot *node, const struct wine_node *wine,
		     struct error *err)
{
	char *program CLEANUP_FREE = NULL;
	char *folder CLEANUP_FREE = content_cache_directory();
	char *kept CLEANUP_FREE = folder != NULL ? path_join(folder, "digests") : NULL;
	if (kept != NULL)
		(void)digest_cache_open(kept, &environment->digest_cache, NULL);
	int rc = digests_new(loop, environment->digest_cache, &environment->digests, err);
	environment->device_count = node->device_count;
	environment->devices = calloc(node->device_count + 1, sizeof(*environment->devices));
	if (rc == 0 && environment->devices == NULL)
		rc = error_memory(err);
	if (rc == 0 && OFFERS_WINE_NODE && wine != NULL)
		rc = wine_identity_read(wine, &environment->wine, err);
	for (size_t i = 0; rc == 0 && i < node->device_count; i++)
		rc = begin_device(environment, i, node, wine, err);
	if (rc == 0 && path_of_program(&program, NULL) == 0)
		environment->harness = begin_digest(environment, program);
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
	struct members json CLEANUP_MEMBERS = members_new();
	cJSON *plugin = NULL;
	cJSON *runtime = NULL;
	int rc = identify_plugin(environment, context, &workplace->wine, err);
	if (rc == 0)
		rc = runtime_json(environment, context, workplace->runtime, &runtime, err);
	if (runtime != NULL)
		member_item(&json, "runtime", runtime);
	if (rc == 0)
		rc = environment_describe_plugin(environment, context, &plugin, err);
	if (rc != 0)
		return rc;
	member_item(&json, "plugin", plugin);
	member_item(&json, "node", node_json(environment, context, &workplace->wine));
	member_item(&json, "os", os_json(&context->node->system, &workplace->wine));
	member_item(&json, "drivers", drivers_json(environment, context->node));
	member_item(&json, "devices", devices_json(environment, context->node));
	member_item(&json, "images", images_json(&workplace->images));
	member_item(&json, "harness", harness_json(environment));
	*out = members_take(&json);
	return *out != NULL ? 0 : error_memory(err);
}
