/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/json.h"
#include "discovery/recorded/format.h"

#include <string.h>

/* cJSON's adders return NULL when memory runs out; `ok` collects that. */
struct writer {
	bool ok;
};

static void write_string(struct writer *writer, cJSON *object, const char *key, const char *value)
{
	cJSON *string = json_new_string(value, strlen(value));

	if (string == NULL || !cJSON_AddItemToObject(object, key, string)) {
		cJSON_Delete(string);
		writer->ok = false;
	}
}

static void write_known_string(struct writer *writer, cJSON *object, const char *key,
			       const char *value)
{
	if (value[0] != '\0')
		write_string(writer, object, key, value);
}

static void write_number(struct writer *writer, cJSON *object, const char *key, int64_t value)
{
	if (cJSON_AddNumberToObject(object, key, (double)value) == NULL)
		writer->ok = false;
}

static void write_bool(struct writer *writer, cJSON *object, const char *key, bool value)
{
	if (cJSON_AddBoolToObject(object, key, value) == NULL)
		writer->ok = false;
}

static cJSON *write_object(struct writer *writer, cJSON *parent, const char *key)
{
	cJSON *object = cJSON_AddObjectToObject(parent, key);

	if (object == NULL)
		writer->ok = false;
	return object;
}

static cJSON *write_array(struct writer *writer, cJSON *parent, const char *key)
{
	cJSON *array = cJSON_AddArrayToObject(parent, key);

	if (array == NULL)
		writer->ok = false;
	return array;
}

/* A new element; NULL when memory ran out, which cJSON's adders accept as a target. */
static cJSON *write_element(struct writer *writer, cJSON *array)
{
	cJSON *object = cJSON_CreateObject();

	if (object != NULL && cJSON_AddItemToArray(array, object))
		return object;
	cJSON_Delete(object);
	writer->ok = false;
	return NULL;
}

static const char *member_string(const void *object, size_t offset)
{
	return *(const char *const *)(const void *)((const char *)object + offset);
}

static int32_t member_id(const struct discovery_device *device, size_t offset)
{
	return *(const int32_t *)(const void *)((const char *)device + offset);
}

static void write_strings(struct writer *writer, cJSON *object,
			  const struct recorded_string *strings, const void *from)
{
	for (size_t i = 0; strings[i].key != NULL; i++)
		write_known_string(writer, object, strings[i].key,
				   member_string(from, strings[i].offset));
}

static void write_pci(struct writer *writer, cJSON *object, const struct discovery_device *device)
{
	cJSON *pci = write_object(writer, object, "pci");

	write_known_string(writer, pci, "address", device->pci_address);
	for (size_t i = 0; recorded_pci_ids[i].key != NULL; i++) {
		int32_t id = member_id(device, recorded_pci_ids[i].offset);
		char text[16] = "";

		if (id == DISCOVERY_UNKNOWN)
			continue;
		(void)snprintf(text, sizeof(text), "0x%0*x", recorded_pci_ids[i].digits,
			       (unsigned)id);
		write_string(writer, pci, recorded_pci_ids[i].key, text);
	}
}

static void write_memory(struct writer *writer, cJSON *object,
			 const struct discovery_device *device)
{
	cJSON *memory = NULL;

	if (device->dedicated_memory < 0 && device->shared_memory < 0)
		return;
	memory = write_object(writer, object, "memory");
	if (device->dedicated_memory >= 0)
		write_number(writer, memory, "dedicated", device->dedicated_memory);
	if (device->shared_memory >= 0)
		write_number(writer, memory, "shared", device->shared_memory);
}

static void write_names(struct writer *writer, cJSON *object, const char *key,
			const char *const *names)
{
	cJSON *array = write_array(writer, object, key);

	for (; *names != NULL; names++) {
		cJSON *name = json_new_string(*names, strlen(*names));

		if (name == NULL || !cJSON_AddItemToArray(array, name)) {
			cJSON_Delete(name);
			writer->ok = false;
		}
	}
}

static void write_known_names(struct writer *writer, cJSON *object, const char *key,
			      const char *const *names)
{
	if (names[0] != NULL)
		write_names(writer, object, key, names);
}

static void write_nodes(struct writer *writer, cJSON *object, const struct discovery_device *device)
{
	cJSON *nodes = write_array(writer, object, "nodes");

	for (size_t i = 0; i < device->node_count; i++) {
		cJSON *node = write_element(writer, nodes);

		write_string(writer, node, "path", device->nodes[i].path);
		write_string(writer, node, "containerPath", device->nodes[i].container_path);
		write_string(writer, node, "permissions", device->nodes[i].permissions);
	}
}

static void write_files(struct writer *writer, cJSON *object, const struct discovery_device *device)
{
	cJSON *files = write_array(writer, object, "files");

	for (size_t i = 0; i < device->file_count; i++) {
		const struct discovery_file *file = &device->files[i];
		cJSON *element = write_element(writer, files);

		write_string(writer, element, "source", file->source);
		write_string(writer, element, "destination", file->destination);
		if (file->bits != 0)
			write_number(writer, element, "bits", file->bits);
		if (file->directory)
			write_bool(writer, element, "directory", true);
		write_string(writer, element, "origin", file->origin);
	}
}

static void write_environment(struct writer *writer, cJSON *object,
			      const struct discovery_device *device)
{
	cJSON *environment = write_object(writer, object, "environment");

	for (size_t i = 0; i < device->variable_count; i++)
		write_string(writer, environment, device->environment[i].name,
			     device->environment[i].value);
}

/* The member locationPath says it all then. */
static bool write_is_only_location_path(const struct discovery_device *device)
{
	return device->location_paths[0] != NULL && device->location_paths[1] == NULL &&
	       strcmp(device->location_paths[0], device->location_path) == 0;
}

static void write_device(struct writer *writer, cJSON *devices,
			 const struct discovery_device *device)
{
	cJSON *object = write_element(writer, devices);

	write_string(writer, object, "id", device->id);
	write_string(writer, object, "kind", discovery_kind_name(device->kind));
	write_strings(writer, object, recorded_device_strings, device);
	if (device->pci_vendor != DISCOVERY_UNKNOWN || device->pci_address[0] != '\0')
		write_pci(writer, object, device);
	if (!write_is_only_location_path(device))
		write_known_names(writer, object, "locationPaths", device->location_paths);
	write_known_names(writer, object, "attributes", device->attributes);
	if (!device->allocatable) {
		write_bool(writer, object, "allocatable", false);
		write_string(writer, object, "notAllocatableReason",
			     device->not_allocatable_reason);
	}
	if (device->luid != 0)
		write_number(writer, object, "luid", device->luid);
	write_strings(writer, write_object(writer, object, "driver"), recorded_driver_strings,
		      device);
	write_memory(writer, object, device);
	write_bool(writer, object, "integrated", device->integrated);
	write_bool(writer, object, "detachable", device->detachable);
	write_bool(writer, object, "display", device->display);
	write_bool(writer, object, "compute", device->compute);
	if (device->numa_node != DISCOVERY_UNKNOWN)
		write_number(writer, object, "numaNode", device->numa_node);
	write_string(writer, object, "health", discovery_health_name(device->health));
	write_known_string(writer, object, "healthReason", device->health_reason);
	write_names(writer, object, "apis", device->apis);
	write_nodes(writer, object, device);
	write_files(writer, object, device);
	write_environment(writer, object, device);
}

static void write_system(struct writer *writer, cJSON *root, const struct discovery_system *system)
{
	cJSON *object = write_object(writer, root, "system");

	write_strings(writer, object, recorded_system_strings, system);
}

char *discovery_to_json(const struct discovery_snapshot *snapshot)
{
	struct writer writer = {.ok = true};
	cJSON *root CLEANUP_JSON = cJSON_CreateObject();

	write_string(&writer, root, "schema", RECORDED_SCHEMA);
	write_known_string(&writer, root, "recorded", snapshot->recorded_at);
	write_system(&writer, root, &snapshot->system);
	cJSON *devices = write_array(&writer, root, "devices");
	for (size_t i = 0; i < snapshot->device_count; i++)
		write_device(&writer, devices, &snapshot->devices[i]);
	cJSON *diagnostics = write_array(&writer, root, "diagnostics");
	for (size_t i = 0; i < snapshot->diagnostic_count; i++) {
		cJSON *element = write_element(&writer, diagnostics);

		write_string(&writer, element, "place", snapshot->diagnostics[i].place);
		write_string(&writer, element, "message", snapshot->diagnostics[i].message);
	}
	return writer.ok ? json_print(root) : NULL;
}
