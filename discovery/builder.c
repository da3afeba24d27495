/* SPDX-License-Identifier: MIT */
#include "discovery/builder.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "discovery/filter.h"

#include <stdlib.h>
#include <string.h>

struct owner {
	struct discovery_snapshot snapshot;
	struct arena arena;
};

static const struct discovery_device nothing_known = {
	.id = "",
	.vendor = "",
	.manufacturer = "",
	.description = "",
	.pci_vendor = DISCOVERY_UNKNOWN,
	.pci_device = DISCOVERY_UNKNOWN,
	.pci_subsystem_vendor = DISCOVERY_UNKNOWN,
	.pci_subsystem_device = DISCOVERY_UNKNOWN,
	.pci_revision = DISCOVERY_UNKNOWN,
	.pci_address = "",
	.location_path = "",
	.pnp_instance_id = "",
	.driver_name = "",
	.driver_version = "",
	.driver_key = "",
	.user_mode_driver = "",
	.driver_date = "",
	.driver_inf = "",
	.driver_store_path = "",
	.dedicated_memory = DISCOVERY_UNKNOWN,
	.shared_memory = DISCOVERY_UNKNOWN,
	.numa_node = DISCOVERY_UNKNOWN,
	.allocatable = true,
	.not_allocatable_reason = "",
	.health = DISCOVERY_HEALTHY,
	.health_reason = "",
};

struct draft *builder_add(struct builder *builder)
{
	struct draft **drafts = arena_grow(&builder->arena, builder->drafts, builder->draft_count,
					   sizeof(struct draft *));
	struct draft *draft = arena_allocate(&builder->arena, sizeof(*draft));

	if (drafts == NULL || draft == NULL)
		return NULL;
	draft->device = nothing_known;
	builder->drafts = drafts;
	builder->drafts[builder->draft_count++] = draft;
	return draft;
}

const char *builder_string(struct builder *builder, const char *string)
{
	return arena_string(&builder->arena, string);
}

const char *builder_format(struct builder *builder, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	const char *text = arena_vformat(&builder->arena, format, args);
	va_end(args);
	return text;
}

void builder_add_file(struct builder *builder, struct draft *draft,
		      const struct discovery_file *file)
{
	struct discovery_file *files =
		arena_grow(&builder->arena, draft->files, draft->file_count, sizeof(*files));

	if (files == NULL)
		return;
	draft->files = files;
	files[draft->file_count++] = (struct discovery_file){
		.source = builder_string(builder, file->source),
		.destination = builder_string(builder, file->destination),
		.bits = file->bits,
		.directory = file->directory,
		.origin = builder_string(builder, file->origin),
	};
}

void builder_add_node(struct builder *builder, struct draft *draft,
		      const struct discovery_node *node)
{
	struct discovery_node *nodes =
		arena_grow(&builder->arena, draft->nodes, draft->node_count, sizeof(*nodes));

	if (nodes == NULL)
		return;
	draft->nodes = nodes;
	nodes[draft->node_count++] = (struct discovery_node){
		.path = builder_string(builder, node->path),
		.container_path = builder_string(builder, node->container_path),
		.permissions = builder_string(builder, node->permissions),
	};
}

void builder_add_variable(struct builder *builder, struct draft *draft, const char *name,
			  const char *value)
{
	struct discovery_variable *variables = arena_grow(
		&builder->arena, draft->variables, draft->variable_count, sizeof(*variables));

	if (variables == NULL)
		return;
	draft->variables = variables;
	variables[draft->variable_count++] = (struct discovery_variable){
		.name = builder_string(builder, name),
		.value = builder_string(builder, value),
	};
}

/* Adds to an array of names that holds each once. */
static void builder_add_name(struct builder *builder, const char ***names, size_t *count,
			     const char *name)
{
	const char **grown = NULL;

	for (size_t i = 0; i < *count; i++) {
		if (text_equal((*names)[i], name))
			return;
	}
	grown = arena_grow(&builder->arena, *names, *count, sizeof(const char *));
	if (grown == NULL)
		return;
	*names = grown;
	grown[(*count)++] = builder_string(builder, name);
}

void builder_add_api(struct builder *builder, struct draft *draft, const char *api)
{
	builder_add_name(builder, &draft->apis, &draft->api_count, api);
}

void builder_add_location_path(struct builder *builder, struct draft *draft, const char *path)
{
	builder_add_name(builder, &draft->location_paths, &draft->location_path_count, path);
}

void builder_add_attribute(struct builder *builder, struct draft *draft, const char *attribute)
{
	builder_add_name(builder, &draft->attributes, &draft->attribute_count, attribute);
}

void builder_diagnose(struct builder *builder, const char *place, const char *format, ...)
{
	struct discovery_diagnostic *diagnostics =
		arena_grow(&builder->arena, builder->diagnostics, builder->diagnostic_count,
			   sizeof(*diagnostics));
	va_list args;

	if (diagnostics == NULL)
		return;
	if (builder->place_prefix != NULL && text_starts_with(place, builder->place_prefix))
		place += strlen(builder->place_prefix);
	builder->diagnostics = diagnostics;
	va_start(args, format);
	diagnostics[builder->diagnostic_count++] = (struct discovery_diagnostic){
		.place = builder_string(builder, place),
		.message = arena_vformat(&builder->arena, format, args),
	};
	va_end(args);
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

static bool builder_has_id(const struct builder *builder, const char *id)
{
	for (size_t i = 0; i < builder->draft_count; i++) {
		if (text_equal(builder->drafts[i]->device.id, id))
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
	for (unsigned n = 2; builder_has_id(builder, id); n++) {
		char suffix[16] = "";
		size_t size = (size_t)snprintf(suffix, sizeof(suffix), "-%u", n);
		size_t at = length + size > DEVICE_ID_MAX ? DEVICE_ID_MAX - size : length;

		memcpy(id + at, suffix, size + 1);
	}
	return builder_string(builder, id);
}

struct draft *builder_find_pci(const struct builder *builder, const char *address)
{
	for (size_t i = 0; i < builder->draft_count; i++) {
		if (text_equal(builder->drafts[i]->device.pci_address, address))
			return builder->drafts[i];
	}
	return NULL;
}

static int builder_order(const void *left, const void *right)
{
	const struct draft *a = *(const struct draft *const *)left;
	const struct draft *b = *(const struct draft *const *)right;
	bool a_software = a->device.kind == DISCOVERY_SOFTWARE;
	bool b_software = b->device.kind == DISCOVERY_SOFTWARE;

	if (a_software != b_software)
		return a_software ? 1 : -1;
	return strcmp(a->device.id, b->device.id);
}

static struct discovery_device builder_freeze(const struct draft *draft)
{
	static const char *const no_names[] = {NULL};
	struct discovery_device device = draft->device;

	device.apis = draft->api_count > 0 ? draft->apis : no_names;
	device.location_paths = draft->location_path_count > 0 ? draft->location_paths : no_names;
	device.attributes = draft->attribute_count > 0 ? draft->attributes : no_names;
	device.files = draft->files;
	device.file_count = draft->file_count;
	device.nodes = draft->nodes;
	device.node_count = draft->node_count;
	device.environment = draft->variables;
	device.variable_count = draft->variable_count;
	return device;
}

int builder_finish(struct builder *builder, const struct discovery_filter *filter,
		   struct discovery_snapshot **out, struct error *err)
{
	struct owner *owner CLEANUP_FREE = calloc(1, sizeof(*owner));
	struct discovery_device *devices = arena_allocate(
		&builder->arena, (builder->draft_count + 1) * sizeof(struct discovery_device));

	if (owner == NULL || devices == NULL || builder->arena.failed)
		return error_memory(err);
	if (builder->draft_count > 1)
		qsort(builder->drafts, builder->draft_count, sizeof(struct draft *), builder_order);
	for (size_t i = 0; i < builder->draft_count; i++) {
		struct discovery_device device = builder_freeze(builder->drafts[i]);

		if (!filter_admits(filter, &device))
			continue;
		device.index = owner->snapshot.device_count;
		devices[owner->snapshot.device_count++] = device;
	}
	owner->snapshot.system = builder->system;
	owner->snapshot.recorded = builder->recorded;
	owner->snapshot.recorded_at = builder->recorded_at != NULL ? builder->recorded_at : "";
	owner->snapshot.devices = devices;
	owner->snapshot.diagnostics = builder->diagnostics;
	owner->snapshot.diagnostic_count = builder->diagnostic_count;
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
