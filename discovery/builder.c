/* SPDX-License-Identifier: MIT */
#include "discovery/builder.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/text.h"
#include "discovery/filter.h"
#include "discovery/members.h"

#include <stdlib.h>
#include <string.h>

struct owner {
	struct discovery_snapshot snapshot;
	struct arena arena;
};

struct discovery_device *builder_add(struct builder *builder)
{
	struct discovery_device **devices = arena_grow(&builder->arena, builder->devices,
						       builder->device_count, sizeof(*devices));
	struct discovery_device *device = arena_allocate(&builder->arena, sizeof(*device));

	if (devices == NULL || device == NULL)
		return NULL;
	json_members_reset(discovery_device_members, device);
	builder->devices = devices;
	builder->devices[builder->device_count++] = device;
	return device;
}

struct discovery_device *builder_add_partition(struct builder *builder,
					       const struct discovery_device *gpu, const char *id)
{
	const char *own_id = builder_new_id(builder, id);
	struct discovery_device *device = builder_add(builder);

	if (device == NULL)
		return NULL;
	const struct discovery_device empty = *device;
	*device = *gpu;
	device->id = own_id;
	device->uuid = "";
	device->kind = DISCOVERY_COMPUTE;
	device->display = false;
	device->compute = true;
	device->dedicated_memory = device->shared_memory = DISCOVERY_UNKNOWN;
	device->apis = empty.apis;
	device->nodes = empty.nodes;
	device->node_count = 0;
	device->files = empty.files;
	device->file_count = 0;
	return device;
}

const char *builder_string(struct builder *builder, const char *string)
{
	return arena_string(&builder->arena, string);
}

const char *builder_path(struct builder *builder, const char *directory, const char *name)
{
	char *path CLEANUP_FREE = path_join(directory, name);

	return builder_string(builder, path);
}

/* Makes room for another element of a device's array, which only the builder writes. */
static void *grow(struct builder *builder, const void *items, size_t count, size_t size)
{
	return arena_grow(&builder->arena, (void *)(uintptr_t)items, count, size);
}

void builder_add_file(struct builder *builder, struct discovery_device *device,
		      const struct discovery_file *file)
{
	struct discovery_file *files =
		grow(builder, device->files, device->file_count, sizeof(*files));

	if (files == NULL)
		return;
	device->files = files;
	files[device->file_count++] = (struct discovery_file){
		.source = builder_string(builder, file->source),
		.destination = builder_string(builder, file->destination),
		.bits = file->bits,
		.directory = file->directory,
		.origin = builder_string(builder, file->origin),
	};
}

void builder_add_node(struct builder *builder, struct discovery_device *device, const char *path)
{
	struct discovery_node *nodes =
		grow(builder, device->nodes, device->node_count, sizeof(*nodes));
	const char *copy = builder_string(builder, path);

	if (nodes == NULL)
		return;
	device->nodes = nodes;
	nodes[device->node_count++] = (struct discovery_node){copy, copy, "rw"};
}

void builder_add_variable(struct builder *builder, struct discovery_device *device,
			  const char *name, const char *value)
{
	struct discovery_variable *variables =
		grow(builder, device->environment, device->variable_count, sizeof(*variables));

	if (variables == NULL)
		return;
	device->environment = variables;
	variables[device->variable_count++] = (struct discovery_variable){
		builder_string(builder, name), builder_string(builder, value)};
}

void builder_add_path(struct builder *builder, struct discovery_device *device, const char *name,
		      const char *path)
{
	struct discovery_variable *variables =
		grow(builder, device->environment, device->variable_count, sizeof(*variables));
	size_t i = 0;

	if (variables == NULL)
		return;
	device->environment = variables;
	while (i < device->variable_count && !text_equal(variables[i].name, name))
		i++;
	if (i < device->variable_count)
		variables[i].value =
			arena_format(&builder->arena, "%s:%s", variables[i].value, path);
	else
		builder_add_variable(builder, device, name, path);
}

void builder_add_name(struct builder *builder, const char *const **names, const char *name)
{
	size_t count = text_position(*names, name);

	if ((*names)[count] != NULL)
		return;
	const char **grown = grow(builder, *names, count, sizeof(*grown));
	if (grown == NULL)
		return;
	*names = grown;
	grown[count] = builder_string(builder, name);
}

void builder_diagnose(struct builder *builder, const char *place, const char *format, ...)
{
	struct discovery_snapshot *snapshot = &builder->snapshot;
	struct discovery_diagnostic *diagnostics = grow(
		builder, snapshot->diagnostics, snapshot->diagnostic_count, sizeof(*diagnostics));
	va_list args;

	if (diagnostics == NULL)
		return;
	if (builder->place_prefix != NULL && text_starts_with(place, builder->place_prefix))
		place += strlen(builder->place_prefix);
	snapshot->diagnostics = diagnostics;
	va_start(args, format);
	diagnostics[snapshot->diagnostic_count++] = (struct discovery_diagnostic){
		.place = builder_string(builder, place),
		.message = arena_vformat(&builder->arena, format, args),
	};
	va_end(args);
}

const char *builder_vendor(struct builder *builder, int64_t id)
{
	/* The usual names of the vendors to whom the PCI-SIG assigned these numbers. */
	static const struct {
		int64_t id;
		const char *name;
	} vendors[] = {
		{0x1002, "AMD"},       {0x106b, "Apple"},	  {0x10de, "NVIDIA"},
		{0x1414, "Microsoft"}, {0x15ad, "VMware"},	  {0x1ae0, "Google"},
		{0x1af4, "Red Hat"},   {0x1ed5, "Moore Threads"}, {0x5143, "Qualcomm"},
		{0x8086, "Intel"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(vendors); i++) {
		if (vendors[i].id == id)
			return vendors[i].name;
	}
	return id != DISCOVERY_UNKNOWN ? arena_format(&builder->arena, "0x%04x", (unsigned)id) : "";
}

static bool device_id_allows(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == ':' || c == '-';
}

bool device_id_is_valid(const char *id)
{
	size_t length = strlen(id);

	if (length == 0 || length > DEVICE_ID_MAX)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (!device_id_allows(id[i]))
			return false;
	}
	return true;
}

static bool has_id(const struct builder *builder, const char *id)
{
	for (size_t i = 0; i < builder->device_count; i++) {
		if (text_equal(builder->devices[i]->id, id))
			return true;
	}
	return false;
}

const char *builder_new_id(struct builder *builder, const char *text)
{
	char id[DEVICE_ID_MAX + 1] = "";
	size_t length = 0;

	for (; length < DEVICE_ID_MAX && text[length] != '\0'; length++)
		id[length] = '-';
	for (size_t i = 0; i < length; i++) {
		if (device_id_allows(text[i]))
			id[i] = text[i];
	}
	if (length == 0)
		id[length++] = '-';
	for (unsigned n = 2; has_id(builder, id); n++) {
		char suffix[16] = "";
		size_t size = (size_t)snprintf(suffix, sizeof(suffix), "-%u", n);
		size_t at = length + size > DEVICE_ID_MAX ? DEVICE_ID_MAX - size : length;
		memcpy(id + at, suffix, size + 1);
	}
	return builder_string(builder, id);
}

struct discovery_device *builder_find_pci(const struct builder *builder, const char *address)
{
	for (size_t i = 0; i < builder->device_count; i++) {
		if (text_equal(builder->devices[i]->pci_address, address))
			return builder->devices[i];
	}
	return NULL;
}

static int order(const void *left, const void *right)
{
	const struct discovery_device *a = *(const struct discovery_device *const *)left;
	const struct discovery_device *b = *(const struct discovery_device *const *)right;
	bool a_software = a->kind == DISCOVERY_SOFTWARE;
	bool b_software = b->kind == DISCOVERY_SOFTWARE;

	if (a_software != b_software)
		return a_software ? 1 : -1;
	return strcmp(a->id, b->id);
}

int builder_finish(struct builder *builder, const struct discovery_filter *filter,
		   struct discovery_snapshot **out, struct error *err)
{
	struct owner *owner CLEANUP_FREE = memory_allocate(1, sizeof(*owner));
	struct discovery_device *devices =
		arena_allocate(&builder->arena, (builder->device_count + 1) * sizeof(*devices));

	if (owner == NULL || devices == NULL)
		return error_memory(err);
	if (builder->device_count > 1)
		qsort(builder->devices, builder->device_count, sizeof(*builder->devices), order);
	owner->snapshot = builder->snapshot;
	if (owner->snapshot.recorded_at == NULL)
		owner->snapshot.recorded_at = "";
	owner->snapshot.devices = devices;
	for (size_t i = 0; i < builder->device_count; i++) {
		if (!filter_admits(filter, builder->devices[i]))
			continue;
		builder->devices[i]->index = owner->snapshot.device_count;
		devices[owner->snapshot.device_count++] = *builder->devices[i];
	}
	owner->arena = builder->arena;
	*builder = (struct builder){0};
	*out = &STEAL(owner)->snapshot;
	return 0;
}

void builder_free(struct builder *builder)
{
	arena_free(&builder->arena);
	*builder = (struct builder){0};
}

void discovery_free(struct discovery_snapshot *snapshot)
{
	/* The snapshot is the first member of its owner. */
	struct owner *owner = (struct owner *)snapshot;

	if (owner == NULL)
		return;
	arena_free(&owner->arena);
	free(owner);
}
