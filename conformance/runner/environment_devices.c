/* SPDX-License-Identifier: MIT */
/* The sections `drivers` and `devices`. */
#include "conformance/runner/environment_internal.h"

#include "base/path.h"
#include "containers/offers.h"

#include <string.h>

/* The files are those of this machine only where the node is. */
int environment_begin_device(struct environment *environment, size_t index,
			     const struct discovery_snapshot *node, const struct wine_node *wine,
			     struct error *err)
{
	const struct discovery_device *device = &node->devices[index];
	struct digest_set *files = &environment->device_files[index];
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
		rc = digest_set_add(&environment->driver_stores[index], environment->digests,
				    path_base(device->driver_store_path), device->driver_store_path,
				    err);
	return rc;
}

/* What drives a device that Windows programs see under Wine. */
#define WINE_DRIVER "wine"

static bool environment_same_driver(const struct discovery_device *a,
				    const struct discovery_device *b)
{
	return strcmp(a->driver_name, b->driver_name) == 0 &&
	       strcmp(a->driver_version, b->driver_version) == 0 &&
	       strcmp(a->driver_store_path, b->driver_store_path) == 0;
}

/* The first device that has the driver. */
static size_t environment_driver_of(const struct discovery_snapshot *node, size_t index)
{
	size_t first = 0;

	while (!environment_same_driver(&node->devices[first], &node->devices[index]))
		first++;
	return first;
}

/* "amdgpu"; "amdgpu#2" for another driver of that name. NULL: out of memory, or no driver. */
static char *environment_driver_key(const struct discovery_snapshot *node, size_t index)
{
	const char *name = node->devices[index].driver_name;
	size_t first = environment_driver_of(node, index);
	size_t others = 0;

	if (name[0] == '\0')
		return NULL;
	for (size_t i = 0; i < first; i++)
		others += strcmp(node->devices[i].driver_name, name) == 0 &&
					  environment_driver_of(node, i) == i
				  ? 1
				  : 0;
	return others == 0 ? strdup(name) : text_format("%s#%zu", name, others + 1);
}

static void environment_add_set(cJSON *object, const char *key, const struct digest_set *set)
{
	char digest[DIGEST_SIZE] = "";

	if (digest_set_result(set, digest))
		environment_add_text(object, key, digest);
}

/* Who made it, and what it is called. */
static char *environment_driver_name(const struct discovery_device *device)
{
	const char *maker = device->manufacturer[0] != '\0' ? device->manufacturer : device->vendor;

	if (device->kind == DISCOVERY_SOFTWARE)
		return strdup(device->description);
	return text_format("%s%s%s", maker, maker[0] != '\0' ? " " : "", device->driver_name);
}

static const char *environment_driver_model(const struct discovery_snapshot *node,
					    const struct discovery_device *device)
{
	if (device->kind == DISCOVERY_SOFTWARE || node->system.emulator[0] != '\0')
		return "software";
	if (strcmp(node->system.os, "windows") != 0)
		return "kernel";
	return device->display ? "wddm" : "mcdm";
}

static cJSON *environment_driver(const struct environment *environment,
				 const struct discovery_snapshot *node, size_t index)
{
	const struct discovery_device *device = &node->devices[index];
	const char *model = environment_driver_model(node, device);
	cJSON *driver = cJSON_CreateObject();
	char *key CLEANUP_FREE = environment_driver_key(node, index);
	char *name CLEANUP_FREE = environment_driver_name(device);

	environment_add_text(driver, "key", key);
	environment_add_text(driver, "name", name);
	environment_add_text(driver, "version", device->driver_version);
	environment_add_text(driver, "userMode", device->user_mode_driver);
	environment_add_text(driver, "date", device->driver_date);
	environment_add_text(driver, "inf", device->driver_inf);
	environment_add_text(driver, "model", model);
	(void)cJSON_AddBoolToObject(driver, "software", strcmp(model, "software") == 0);
	environment_add_set(driver, "storeDigest", &environment->driver_stores[index]);
	return driver;
}

static void environment_add_component(cJSON *drivers, const char *key, const char *name,
				      const char *version)
{
	cJSON *driver = cJSON_CreateObject();

	environment_add_text(driver, "key", key);
	environment_add_text(driver, "name", name);
	environment_add_text(driver, "version", version);
	environment_add_text(driver, "model", "software");
	(void)cJSON_AddBoolToObject(driver, "software", true);
	(void)cJSON_AddItemToArray(drivers, driver);
}

/* On the Wine node no device has a driver of Windows: what does its work is named. */
static void environment_add_wine(cJSON *drivers, const struct wine_identity *wine)
{
	if (wine->wine == NULL)
		return;
	environment_add_component(drivers, WINE_DRIVER, "Wine", wine->wine);
	environment_add_component(drivers, "vkd3d", "vkd3d (Wine's Direct3D 12)", wine->vkd3d);
	for (size_t i = 0; i < wine->drivers->device_count; i++) {
		const struct discovery_device *device = &wine->drivers->devices[i];

		environment_add_component(drivers, device->driver_name, device->description,
					  device->driver_version);
	}
}

cJSON *environment_drivers(const struct environment *environment,
			   const struct discovery_snapshot *node)
{
	cJSON *drivers = cJSON_CreateArray();

	environment_add_wine(drivers, &environment->wine);

	for (size_t i = 0; i < node->device_count; i++) {
		if (node->devices[i].driver_name[0] != '\0' && environment_driver_of(node, i) == i)
			(void)cJSON_AddItemToArray(drivers,
						   environment_driver(environment, node, i));
	}
	return drivers;
}

static cJSON *environment_device(const struct environment *environment,
				 const struct discovery_snapshot *node, size_t index)
{
	const struct discovery_device *device = &node->devices[index];
	cJSON *json = cJSON_CreateObject();
	char *driver CLEANUP_FREE = environment_driver_key(node, index);
	char *hardware CLEANUP_FREE = NULL;
	cJSON *apis = cJSON_CreateArray();
	cJSON *files = NULL;

	environment_add_text(json, "ref", device->id);
	environment_add_text(json, "driver",
			     driver == NULL && environment->wine.wine != NULL ? WINE_DRIVER
									      : driver);
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
	files = cJSON_AddObjectToObject(json, "runtimeFiles");
	(void)cJSON_AddNumberToObject(files, "count", (double)device->file_count);
	environment_add_set(files, "digest", &environment->device_files[index]);
	return json;
}

/* The devices in the node's own words (discovery/schema/node.schema.json). NULL: out of memory. */
static cJSON *environment_recorded_devices(const struct discovery_snapshot *node)
{
	char *text = discovery_to_json(node);
	cJSON *document CLEANUP_JSON = NULL;

	if (text != NULL)
		(void)json_parse(text, strlen(text), &document, NULL);
	discovery_string_free(text);
	return cJSON_DetachItemFromObject(document, "devices");
}

/* Without what a container is given: that is long, and digested. */
static void environment_add_words(cJSON *device, cJSON *recorded)
{
	static const char *const given[] = {"files", "nodes", "environment"};
	cJSON *words = cJSON_DetachItemFromArray(recorded, 0);

	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		cJSON_DeleteItemFromObjectCaseSensitive(words, given[i]);
	if (words != NULL && !cJSON_AddItemToObject(device, "node", words))
		cJSON_Delete(words);
}

cJSON *environment_devices(const struct environment *environment,
			   const struct discovery_snapshot *node)
{
	cJSON *devices = cJSON_CreateArray();
	cJSON *recorded CLEANUP_JSON = environment_recorded_devices(node);

	for (size_t i = 0; i < node->device_count; i++) {
		cJSON *device = environment_device(environment, node, i);

		environment_add_words(device, recorded);
		(void)cJSON_AddItemToArray(devices, device);
	}
	return devices;
}
