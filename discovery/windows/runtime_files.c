/* SPDX-License-Identifier: MIT */
#include "discovery/windows/runtime_files.h"

#include "base/cleanup.h"
#include "base/gpu_apis.h"
#include "base/text.h"
#include "discovery/windows/copy_to_vm.h"
#include "discovery/windows/store_path.h"

#include <string.h>
#include <strings.h>

static const struct discovery_file *runtime_files_claimed(const struct discovery_device *device,
							  const char *destination)
{
	for (size_t i = 0; i < device->file_count; i++) {
		if (strcasecmp(device->files[i].destination, destination) == 0)
			return &device->files[i];
	}
	return NULL;
}

static void runtime_files_add_one(struct builder *builder, struct discovery_device *device,
				  const struct copy_to_vm_key *key, const char *place,
				  const struct copy_to_vm_file *parsed)
{
	struct discovery_file file = {
		.source = builder_format(builder, "%s\\%s", device->driver_store_path,
					 parsed->source),
		.destination =
			builder_format(builder, "%s\\%s", key->directory, parsed->destination),
		.bits = key->bits,
		.origin = key->name,
	};
	const struct discovery_file *claimed = runtime_files_claimed(device, file.destination);
	if (claimed != NULL) {
		if (strcasecmp(claimed->source, file.source) != 0)
			builder_diagnose(builder, place, "%s is %s already; %s is left out",
					 file.destination, claimed->source, parsed->source);
		return;
	}
	builder_add_file(builder, device, &file);
	for (const struct gpu_api *api = gpu_apis; key->bits == 64 && api->name != NULL; api++) {
		if (api->driver_dll != NULL &&
		    strcasecmp(parsed->destination, api->driver_dll) == 0)
			builder_add_name(builder, &device->apis, api->offered);
	}
}

static void runtime_files_add_value(struct builder *builder, struct discovery_device *device,
				    const struct registry_value *value)
{
	const struct copy_to_vm_key *key = copy_to_vm_find_key(value->key);
	const char *place =
		builder_format(builder, "%s\\%s\\%s", device->driver_key, value->key, value->name);
	struct copy_to_vm_file file CLEANUP(copy_to_vm_file_free) = {0};
	struct error err = {0};
	if (key == NULL)
		return;
	if (copy_to_vm_parse(value->type, value->data, value->size, &file, &err) < 0)
		builder_diagnose(builder, place, "%s", err.text);
	else
		runtime_files_add_one(builder, device, key, place, &file);
}

void runtime_files_add(struct builder *builder, struct discovery_device *device,
		       const struct pnp_device *source, const char *windows)
{
	char *store CLEANUP_FREE = NULL;
	struct error err = {0};
	if (source->store_path[0] == '\0') {
		builder_diagnose(builder, source->instance_id, "driver store folder: %s",
				 source->store_path_error);
		return;
	}
	if (store_path_normalize(source->store_path, windows, &store, &err) < 0) {
		builder_diagnose(builder, source->instance_id, "%s", err.text);
		return;
	}
	device->driver_store_path = builder_string(builder, store);
	if (store_path_is_in_container(store))
		return;
	for (size_t k = 0; k < COPY_TO_VM_KEY_COUNT; k++) {
		for (size_t i = 0; i < source->value_count; i++) {
			if (text_equal(source->values[i].key, copy_to_vm_keys[k].name))
				runtime_files_add_value(builder, device, &source->values[i]);
		}
	}
}
