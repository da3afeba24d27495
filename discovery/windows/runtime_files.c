/* SPDX-License-Identifier: MIT */
#include "discovery/windows/runtime_files.h"

#include "base/cleanup.h"
#include "base/gpu_apis.h"
#include "base/memory.h"
#include "base/windows_path.h"
#include "discovery/windows/copy_to_vm.h"

#include <string.h>
#include <strings.h>

/* The path after `prefix`; NULL when it does not begin with it. */
static const char *store_path_after(const char *path, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncasecmp(path, prefix, length) == 0 ? path + length : NULL;
}

int store_path_normalize(const char *path, const char *windows, char **out, struct error *err)
{
	char *plain CLEANUP_FREE = memory_copy(path);
	char *full CLEANUP_FREE = NULL;

	if (plain == NULL)
		return error_memory(err);
	windows_path_use_backslashes(plain);
	const char *rest = store_path_after(plain, "\\SystemRoot\\");
	if (rest != NULL)
		full = text_format("%s\\%s", windows, rest);
	else
		full = memory_copy(store_path_after(plain, "\\??\\") != NULL ? plain + 4 : plain);
	if (full == NULL)
		return error_memory(err);
	for (size_t length = strlen(full); length > 3 && full[length - 1] == '\\'; length--)
		full[length - 1] = '\0';
	if (!windows_path_is_absolute(full))
		return error_set(err, ERROR_FORMAT, "'%s' is not the path of a driver store folder",
				 path);
	*out = STEAL(full);
	return 0;
}

bool store_path_is_in_container(const char *path)
{
	static const char name[] = "HostDriverStore";

	while (*path != '\0') {
		size_t length = strcspn(path, "\\/");

		if (length == sizeof(name) - 1 && strncasecmp(path, name, length) == 0)
			return true;
		path += length + (path[length] != '\0' ? 1 : 0);
	}
	return false;
}

/* Adds the file of a value of a CopyToVm key. */
static void add_value(struct builder *builder, struct discovery_device *device,
		      const struct copy_to_vm_key *key, const struct registry_value *value)
{
	const char *place = arena_format(&builder->arena, "%s\\%s\\%s", device->driver_key,
					 value->key, value->name);
	struct copy_to_vm_file parsed CLEANUP(copy_to_vm_file_free) = {0};
	struct error err = {0};

	if (copy_to_vm_parse(value->type, value->data, value->size, &parsed, &err) < 0) {
		builder_diagnose(builder, place, "%s", err.text);
		return;
	}
	struct discovery_file file = {
		.source = arena_format(&builder->arena, "%s\\%s", device->driver_store_path,
				       parsed.source),
		.destination =
			arena_format(&builder->arena, "%s\\%s", key->directory, parsed.destination),
		.bits = key->bits,
		.origin = key->name,
	};
	for (size_t i = 0; i < device->file_count; i++) {
		const struct discovery_file *other = &device->files[i];

		if (strcasecmp(other->destination, file.destination) != 0)
			continue;
		if (strcasecmp(other->source, file.source) != 0)
			builder_diagnose(builder, place, "%s is %s already; %s is left out",
					 file.destination, other->source, parsed.source);
		return;
	}
	builder_add_file(builder, device, &file);
	for (const struct gpu_api *api = gpu_apis; key->bits == 64 && api->name != NULL; api++) {
		if (api->driver_dll != NULL && strcasecmp(parsed.destination, api->driver_dll) == 0)
			builder_add_name(builder, &device->apis, api->offered);
	}
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
				add_value(builder, device, &copy_to_vm_keys[k], &source->values[i]);
		}
	}
}
