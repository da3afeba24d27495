/* SPDX-License-Identifier: MIT */
#include "conformance/runner/environment.h"

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "base/os_version.h"
#include "base/path.h"
#include "conformance/kubelet/plugin_process.h"

#include <string.h>

#ifdef _WIN32
enum { PATH_SEPARATOR = ';' };
#else
enum { PATH_SEPARATOR = ':' };
#endif

static void environment_add_text(cJSON *object, const char *key, const char *value)
{
	if (value != NULL && value[0] != '\0')
		(void)cJSON_AddItemToObject(object, key, json_new_string(value, strlen(value)));
}

static bool environment_is_wine(const struct wine_node *wine)
{
	return wine->directory != NULL;
}

/* The machine that stands in for the node. */
static cJSON *environment_machine(void)
{
	cJSON *machine = cJSON_CreateObject();
	struct os_version version = {0};

	if (os_version_read(&version, NULL) < 0)
		return machine;
	environment_add_text(machine, "product", version.product);
	environment_add_text(machine, "kernel", version.kernel);
	environment_add_text(machine, "kernelBuild", version.kernel_build);
	environment_add_text(machine, "architecture", version.architecture);
	return machine;
}

static void environment_add_digest(cJSON *object, const char *key, const char *path)
{
	char digest[DIGEST_SIZE] = "";

	if (path != NULL && digest_file(path, digest, NULL, NULL) == 0)
		environment_add_text(object, key, digest);
}

/* Whether what the other sections say of a node is true of this machine. */
static cJSON *environment_node(const struct context *context, const struct wine_node *wine)
{
	cJSON *node = cJSON_CreateObject();
	const char *kind = "live";

	if (environment_is_wine(wine))
		kind = "wine";
	else if (context->node->recorded)
		kind = "recorded";
	environment_add_text(node, "kind", kind);
	if (strcmp(kind, "live") == 0)
		return node;
	if (environment_is_wine(wine)) {
		char *packages CLEANUP_FREE = path_join(wine->root, WINE_NODE_PACKAGES);

		environment_add_digest(node, "digest", packages);
	} else {
		environment_add_text(node, "file", path_base(context->node_file));
		environment_add_digest(node, "digest", context->node_file);
		environment_add_text(node, "recorded", context->node->recorded_at);
	}
	(void)cJSON_AddItemToObject(node, "machine", environment_machine());
	return node;
}

/* Never just the Windows that Wine says it is. NULL: out of memory. */
static char *environment_wine_product(const struct discovery_system *system,
				      const struct wine_node *wine)
{
	char *version CLEANUP_FREE = NULL;

	if (wine->directory != NULL)
		(void)wine_node_version(wine, &version, NULL);
	else
		version = strdup(system->emulator);
	return text_format("%s, Windows build reported %s%s", version != NULL ? version : "Wine",
			   text_starts_with(system->build, "10.0.") ? "" : "10.0.", system->build);
}

/* "20348.1547" */
static void environment_add_build(cJSON *os, const char *build)
{
	const char *dot = strrchr(build, '.');
	char *number CLEANUP_FREE = dot != NULL ? strndup(build, (size_t)(dot - build)) : NULL;

	environment_add_text(os, "build", dot != NULL ? number : build);
	environment_add_text(os, "revision", dot != NULL ? dot + 1 : NULL);
}

static cJSON *environment_os(const struct discovery_system *system, const struct wine_node *wine)
{
	cJSON *os = cJSON_CreateObject();
	char *product CLEANUP_FREE = wine->directory != NULL || system->emulator[0] != '\0'
					     ? environment_wine_product(system, wine)
					     : strdup(system->product);

	environment_add_text(os, "name", system->os);
	environment_add_text(os, "product", product);
	environment_add_text(os, "version", system->version);
	if (strcmp(system->os, "windows") == 0) {
		environment_add_build(os, system->build);
	} else {
		environment_add_text(os, "kernel", system->build);
		environment_add_text(os, "kernelBuild", system->kernel_build);
	}
	environment_add_text(os, "architecture", system->architecture);
	return os;
}

static cJSON *environment_runtime(const struct workplace *workplace)
{
	const struct runtime_description *description = runtime_describe(workplace->runtime);
	cJSON *runtime = cJSON_CreateObject();

	environment_add_text(runtime, "name", description->name);
	environment_add_text(runtime, "version", description->version);
	environment_add_text(runtime, "apiVersion", description->api_version);
	environment_add_text(runtime, "snapshotter", description->snapshotter);
	(void)cJSON_AddBoolToObject(runtime, "private", description->is_private);
	return runtime;
}

/* The absolute path of the program that a plugin command runs; NULL when it cannot be told. */
static char *environment_program(const char *command)
{
	struct text_list words CLEANUP_TEXT_LIST = {0};
	struct text_list directories CLEANUP_TEXT_LIST = {0};
	const char *path = getenv("PATH");

	if (command_line_split(command, &words, NULL) < 0 || words.count == 0)
		return NULL;
	if (strcmp(path_base(words.items[0]), words.items[0]) != 0)
		return strdup(words.items[0]);
	if (path == NULL || text_list_split(&directories, path, PATH_SEPARATOR, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < directories.count; i++) {
		char *candidate CLEANUP_FREE = path_join(directories.items[i], words.items[0]);

		if (candidate != NULL && file_exists(candidate))
			return STEAL(candidate);
	}
	return NULL;
}

/* The program that is the plugin: on the Wine node, what the relay runs. NULL: not to be told. */
static char *environment_plugin_program(const struct context *context, const struct wine_node *wine)
{
	char *program = NULL;

	if (context->reference_plugin && wine->directory != NULL)
		return wine_node_program(wine, WINE_NODE_PLUGIN, &program, NULL) == 0 ? program
										      : NULL;
	return environment_program(context->plugin_command);
}

static cJSON *environment_plugin(const struct context *context, const struct wine_node *wine)
{
	cJSON *plugin = cJSON_CreateObject();
	char *program CLEANUP_FREE = NULL;
	char digest[DIGEST_SIZE] = "";

	environment_add_text(plugin, "api", "v1beta1");
	if (context->resource != NULL)
		(void)cJSON_AddItemToArray(
			cJSON_AddArrayToObject(plugin, "resources"),
			json_new_string(context->resource, strlen(context->resource)));
	if (context->plugin_command == NULL) {
		environment_add_text(plugin, "name", "attached");
		return plugin;
	}
	program = environment_plugin_program(context, wine);
	if (program == NULL)
		return plugin;
	environment_add_text(plugin, "name", path_base(program));
	if (digest_file(program, digest, NULL, NULL) == 0)
		environment_add_text(plugin, "binaryDigest", digest);
	if (context->reference_plugin)
		environment_add_text(plugin, "version", GPUCERT_VERSION);
	return plugin;
}

static bool environment_has_driver(const cJSON *drivers, const char *name, const char *version)
{
	const cJSON *driver = NULL;

	cJSON_ArrayForEach (driver, drivers) {
		const cJSON *known_version = cJSON_GetObjectItemCaseSensitive(driver, "version");

		if (text_equal(
			    cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(driver, "key")),
			    name) &&
		    text_equal(cJSON_IsString(known_version) ? known_version->valuestring : "",
			       version))
			return true;
	}
	return false;
}

static cJSON *environment_drivers(const struct discovery_snapshot *node)
{
	cJSON *drivers = cJSON_CreateArray();
	bool emulated = node->system.emulator[0] != '\0'; /* software stands in for every driver */

	for (size_t i = 0; i < node->device_count; i++) {
		const struct discovery_device *device = &node->devices[i];
		cJSON *driver = NULL;

		if (device->driver_name[0] == '\0' ||
		    environment_has_driver(drivers, device->driver_name, device->driver_version))
			continue;
		driver = cJSON_CreateObject();
		environment_add_text(driver, "key", device->driver_name);
		environment_add_text(driver, "version", device->driver_version);
		(void)cJSON_AddBoolToObject(driver, "software",
					    device->kind == DISCOVERY_SOFTWARE || emulated);
		(void)cJSON_AddItemToArray(drivers, driver);
	}
	return drivers;
}

static cJSON *environment_device(const struct discovery_device *device)
{
	cJSON *json = cJSON_CreateObject();
	char *hardware CLEANUP_FREE = NULL;
	cJSON *apis = cJSON_CreateArray();

	environment_add_text(json, "ref", device->id);
	environment_add_text(json, "driver", device->driver_name);
	environment_add_text(json, "name", device->description);
	environment_add_text(json, "vendor", device->vendor);
	environment_add_text(json, "kind", discovery_kind_name(device->kind));
	if (device->pci_vendor != DISCOVERY_UNKNOWN)
		hardware = text_format("PCI\\VEN_%04X&DEV_%04X", (unsigned)device->pci_vendor,
				       (unsigned)device->pci_device);
	environment_add_text(json, "hardwareId", hardware);
	for (const char *const *api = device->apis; api != NULL && *api != NULL; api++)
		(void)cJSON_AddItemToArray(apis, cJSON_CreateString(*api));
	(void)cJSON_AddItemToObject(json, "apis", apis);
	return json;
}

static cJSON *environment_images(const struct images *images)
{
	cJSON *array = cJSON_CreateArray();
	cJSON *image = NULL;

	if (images->probe.reference == NULL)
		return array;
	image = cJSON_CreateObject();
	environment_add_text(image, "ref", images->probe.reference);
	environment_add_text(image, "digest", images->probe.digest);
	(void)cJSON_AddItemToArray(array, image);
	return array;
}

static cJSON *environment_harness(void)
{
	cJSON *harness = cJSON_CreateObject();
	char *program CLEANUP_FREE = NULL;

	environment_add_text(harness, "version", GPUCERT_VERSION);
	if (path_of_program(&program, NULL) == 0)
		environment_add_digest(harness, "binaryDigest", program);
	return harness;
}

int environment_describe(const struct context *context, const struct workplace *workplace,
			 cJSON **out, struct error *err)
{
	cJSON *environment CLEANUP_JSON = cJSON_CreateObject();
	cJSON *devices = cJSON_CreateArray();
	bool added = environment != NULL && devices != NULL;

	for (size_t i = 0; added && i < context->node->device_count; i++)
		added = cJSON_AddItemToArray(devices,
					     environment_device(&context->node->devices[i]));
	added = added &&
		cJSON_AddItemToObject(environment, "node",
				      environment_node(context, &workplace->wine)) &&
		cJSON_AddItemToObject(environment, "os",
				      environment_os(&context->node->system, &workplace->wine)) &&
		cJSON_AddItemToObject(environment, "harness", environment_harness());
	added = added &&
		cJSON_AddItemToObject(environment, "plugin",
				      environment_plugin(context, &workplace->wine)) &&
		cJSON_AddItemToObject(environment, "drivers", environment_drivers(context->node)) &&
		cJSON_AddItemToObject(environment, "devices", devices) &&
		cJSON_AddItemToObject(environment, "images",
				      environment_images(&workplace->images));
	if (added && workplace->runtime != NULL)
		added = cJSON_AddItemToObject(environment, "runtime",
					      environment_runtime(workplace));
	if (!added)
		return error_memory(err);
	*out = STEAL(environment);
	return 0;
}
