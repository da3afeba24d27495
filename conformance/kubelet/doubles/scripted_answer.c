/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/doubles/scripted_answer.h"

#include "base/cleanup.h"
#include "rpc/message.h"

#include <string.h>
#include <unistd.h>
#include <uv.h>

int scripted_pack(const ProtobufCMessage *message, struct scripted_bytes *out, struct error *err)
{
	struct text bytes CLEANUP_TEXT = {0};
	int rc = message_pack(message, &bytes, err);
	if (rc != 0)
		return rc;
	out->size = bytes.size;
	out->data = (uint8_t *)text_take(&bytes);
	return 0;
}

/* The values of the placeholders of one answer. */
struct placeholders {
	const char *id; /* NULL outside "each" */
	const char *first, *ids, *sorted;
	char call[24], base[128], uuid[48], host[256];
};

/* Strings of an answer under construction: it is packed before they are freed. */
struct arena {
	struct text_list strings;
	struct text_list blocks; /* arrays, kept as raw memory */
	bool failed;
};

/* "{ids=PREFIX}": each id with the prefix. Returns the length of the placeholder. */
static size_t expand_prefixed(const char *string, const struct placeholders *places,
			      struct text *text)
{
	const char *prefix = string + strlen("{ids=");
	const char *end = text_starts_with(string, "{ids=") ? strchr(prefix, '}') : NULL;
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	if (end == NULL)
		return 0;
	text_list_split(&ids, places->ids, ',');
	for (size_t i = 0; i < ids.count; i++)
		text_addf(text, "%s%.*s%s", i != 0 ? "," : "", (int)(end - prefix), prefix,
			  ids.items[i]);
	return (size_t)(end - string) + 1;
}

/* "{env=NAME}": that variable of the plugin's environment. Returns the length of the placeholder. */
static size_t expand_variable(const char *string, struct text *text)
{
	const char *end = text_starts_with(string, "{env=") ? strchr(string, '}') : NULL;
	if (end == NULL)
		return 0;
	char *name CLEANUP_FREE =
		text_format("%.*s", (int)(end - string - 5), string + strlen("{env="));
	const char *value = getenv(name);
	text_add(text, value != NULL ? value : "");
	return (size_t)(end - string) + 1;
}

static char *expand(struct arena *arena, const char *string, const struct placeholders *places)
{
	const struct {
		const char *name, *value;
	} table[] = {
		{"{id}", places->id},	    {"{base}", places->id != NULL ? places->base : NULL},
		{"{first}", places->first}, {"{uuid}", places->uuid},
		{"{ids}", places->ids},	    {"{sorted}", places->sorted},
		{"{call}", places->call},   {"{host}", places->host}};
	struct text text CLEANUP_TEXT = {0};
	text_append(&text, "", 0);
	while (*string != '\0') {
		const size_t plain = strcspn(string, "{");
		text_append(&text, string, plain);
		string += plain;
		if (*string == '\0')
			break;

		size_t used = 0;
		for (size_t i = 0; i < ARRAY_SIZE(table) && used == 0; i++) {
			if (table[i].value == NULL || !text_starts_with(string, table[i].name))
				continue;
			text_add(&text, table[i].value);
			used = strlen(table[i].name);
		}
		if (used == 0)
			used = expand_prefixed(string, places, &text);
		if (used == 0)
			used = expand_variable(string, &text);
		if (used == 0)
			text_append(&text, string, used = 1);
		string += used;
	}
	text_list_add(&arena->strings, text_string(&text));
	if (text.failed || arena->strings.failed) {
		arena->failed = true;
		return NULL;
	}
	return arena->strings.items[arena->strings.count - 1];
}

/* Zeroed memory that lives as long as the arena. */
static void *take_block(struct arena *arena, size_t count, size_t size)
{
	void *block = calloc(count + 1, size);
	text_list_take(&arena->blocks, block);
	if (arena->blocks.failed) {
		arena->failed = true;
		return NULL;
	}
	return block;
}

static void *take_pointers(struct arena *arena, size_t count)
{
	return take_block(arena, count, sizeof(void *));
}

/* A container response with room for everything that the templates can add. */
static bool response_init(struct arena *arena, const struct script *script, size_t ids,
			  V1beta1__ContainerAllocateResponse *response)
{
	struct script_template sum = {0};
	const struct script_template *all[] = {&script->once, &script->each, &script->later_once,
					       &script->later_each};
	for (size_t i = 0; i < ARRAY_SIZE(all) + script->own_count; i++) {
		const struct script_template *part =
			i < ARRAY_SIZE(all) ? all[i] : &script->own[i - ARRAY_SIZE(all)].part;
		sum.env_count += part->env_count;
		sum.annotation_count += part->annotation_count;
		sum.mount_count += part->mount_count;
		sum.device_count += part->device_count;
		sum.cdi_device_count += part->cdi_device_count;
	}
	v1beta1__container_allocate_response__init(response);
	response->envs = take_pointers(arena, (ids + 1) * sum.env_count + 1);
	response->annotations = take_pointers(arena, (ids + 1) * sum.annotation_count);
	response->mounts = take_pointers(arena, (ids + 1) * sum.mount_count);
	response->devices = take_pointers(arena, (ids + 1) * sum.device_count);
	response->cdi_devices = take_pointers(arena, (ids + 1) * sum.cdi_device_count);
	return !arena->failed;
}

static void add_pairs(struct arena *arena, const struct script_template *part,
		      const struct placeholders *places,
		      V1beta1__ContainerAllocateResponse *response)
{
	for (size_t i = 0; i < part->env_count; i++) {
		V1beta1__ContainerAllocateResponse__EnvsEntry *entry =
			take_block(arena, 1, sizeof(*entry));
		if (entry == NULL)
			return;
		v1beta1__container_allocate_response__envs_entry__init(entry);
		entry->key = expand(arena, part->envs[i].name, places);
		entry->value = expand(arena, part->envs[i].value, places);
		response->envs[response->n_envs++] = entry;
	}
	for (size_t i = 0; i < part->annotation_count; i++) {
		V1beta1__ContainerAllocateResponse__AnnotationsEntry *entry =
			take_block(arena, 1, sizeof(*entry));
		if (entry == NULL)
			return;
		v1beta1__container_allocate_response__annotations_entry__init(entry);
		entry->key = expand(arena, part->annotations[i].name, places);
		entry->value = expand(arena, part->annotations[i].value, places);
		response->annotations[response->n_annotations++] = entry;
	}
}

static void add_files(struct arena *arena, const struct script_template *part,
		      const struct placeholders *places,
		      V1beta1__ContainerAllocateResponse *response)
{
	for (size_t i = 0; i < part->mount_count; i++) {
		V1beta1__Mount *mount = take_block(arena, 1, sizeof(*mount));
		if (mount == NULL)
			return;
		v1beta1__mount__init(mount);
		mount->container_path = expand(arena, part->mounts[i].container_path, places);
		mount->host_path = expand(arena, part->mounts[i].host_path, places);
		mount->read_only = part->mounts[i].read_only;
		response->mounts[response->n_mounts++] = mount;
	}
	for (size_t i = 0; i < part->device_count; i++) {
		V1beta1__DeviceSpec *device = take_block(arena, 1, sizeof(*device));
		if (device == NULL)
			return;
		v1beta1__device_spec__init(device);
		device->container_path = expand(arena, part->devices[i].container_path, places);
		device->host_path = expand(arena, part->devices[i].host_path, places);
		device->permissions = expand(arena, part->devices[i].permissions, places);
		response->devices[response->n_devices++] = device;
	}
}

static void add_cdi_devices(struct arena *arena, const struct script_template *part,
			    const struct placeholders *places,
			    V1beta1__ContainerAllocateResponse *response)
{
	for (size_t i = 0; i < part->cdi_device_count; i++) {
		V1beta1__CDIDevice *device = take_block(arena, 1, sizeof(*device));
		if (device == NULL)
			return;
		v1beta1__cdidevice__init(device);
		device->name = expand(arena, part->cdi_devices[i], places);
		response->cdi_devices[response->n_cdi_devices++] = device;
	}
}

static void add_part(struct arena *arena, const struct script_template *part,
		     const struct placeholders *places,
		     V1beta1__ContainerAllocateResponse *response)
{
	add_pairs(arena, part, places, response);
	add_files(arena, part, places, response);
	add_cdi_devices(arena, part, places, response);
}

static void add_padding(struct arena *arena, uint64_t size,
			V1beta1__ContainerAllocateResponse *response)
{
	V1beta1__ContainerAllocateResponse__EnvsEntry *entry = take_block(arena, 1, sizeof(*entry));
	char *value = take_block(arena, (size_t)size, 1);
	char *name = take_block(arena, sizeof("PADDING"), 1);
	if (entry == NULL || value == NULL || name == NULL)
		return;
	memset(value, 'x', (size_t)size);
	memcpy(name, "PADDING", sizeof("PADDING"));
	v1beta1__container_allocate_response__envs_entry__init(entry);
	entry->key = name;
	entry->value = value;
	response->envs[response->n_envs++] = entry;
}

static char *join(const struct text_list *ids)
{
	struct text text CLEANUP_TEXT = {0};
	text_append(&text, "", 0);
	for (size_t i = 0; i < ids->count; i++)
		text_addf(&text, "%s%s", i == 0 ? "" : ",", ids->items[i]);
	return text_take(&text);
}

static V1beta1__ContainerAllocateResponse *
answer_container(struct arena *arena, const struct script *script, const struct script_fault *fault,
		 const V1beta1__ContainerAllocateRequest *request, size_t call)
{
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	for (size_t i = 0; i < request->n_devices_ids; i++)
		text_list_add(&ids, request->devices_ids[i]);
	char *joined CLEANUP_FREE = join(&ids);
	text_list_sort(&ids);
	char *sorted CLEANUP_FREE = join(&ids);
	struct placeholders places = {.ids = joined, .sorted = sorted};
	places.first = request->n_devices_ids != 0 ? request->devices_ids[0] : "";
	(void)snprintf(places.call, sizeof(places.call), "%zu", call);
	(void)snprintf(places.uuid, sizeof(places.uuid), "%08x-0000-4000-8000-%012zx",
		       (unsigned)getpid(), call);
	size_t host_size = sizeof(places.host);
	(void)uv_os_gethostname(places.host, &host_size);
	bool later = script->changes && call >= script->later_skip;
	V1beta1__ContainerAllocateResponse *response = take_block(arena, 1, sizeof(*response));
	if (response == NULL || !response_init(arena, script, request->n_devices_ids, response))
		return response;
	add_part(arena, later ? &script->later_once : &script->once, &places, response);
	for (size_t i = 0; i < request->n_devices_ids; i++) {
		const char *end = strstr(request->devices_ids[i], "::");
		places.id = request->devices_ids[i];
		(void)snprintf(places.base, sizeof(places.base), "%.*s",
			       (int)(end != NULL ? (size_t)(end - places.id) : strlen(places.id)),
			       places.id);
		add_part(arena, later ? &script->later_each : &script->each, &places, response);
		for (size_t j = 0; j < script->own_count; j++) {
			if (strcmp(script->own[j].id, places.id) == 0)
				add_part(arena, &script->own[j].part, &places, response);
		}
	}
	if (fault != NULL && fault->padding > 0)
		add_padding(arena, fault->padding, response);
	return response;
}

int scripted_allocate(const struct script *script, const struct script_fault *fault,
		      const V1beta1__AllocateRequest *request, size_t call,
		      struct scripted_bytes *out, struct error *err)
{
	struct arena arena = {0};
	V1beta1__AllocateResponse response = V1BETA1__ALLOCATE_RESPONSE__INIT;
	size_t extra = fault == NULL ? 0 : (size_t)fault->extra;
	response.container_responses = take_pointers(&arena, request->n_container_requests + extra);
	for (size_t i = 0; !arena.failed && i < request->n_container_requests; i++)
		response.container_responses[response.n_container_responses++] = answer_container(
			&arena, script, fault, request->container_requests[i], call);
	for (size_t i = 0; !arena.failed && i < extra && request->n_container_requests > 0; i++)
		response.container_responses[response.n_container_responses++] =
			response.container_responses[0];
	int rc = arena.failed ? error_memory(err) : scripted_pack(&response.base, out, err);
	text_list_free(&arena.strings);
	text_list_free(&arena.blocks);
	return rc;
}

static void fill_device(const struct kubelet_device *from, V1beta1__Device *device,
			V1beta1__TopologyInfo *topology, V1beta1__NUMANode *nodes,
			V1beta1__NUMANode **node_list)
{
	v1beta1__device__init(device);
	device->id = from->id;
	device->health = from->health;
	if (!from->has_topology)
		return;
	v1beta1__topology_info__init(topology);
	for (size_t i = 0; i < from->numa_count; i++) {
		v1beta1__numanode__init(&nodes[i]);
		nodes[i].id = from->numa[i];
		node_list[i] = &nodes[i];
	}
	topology->nodes = node_list;
	topology->n_nodes = from->numa_count;
	device->topology = topology;
}

int scripted_list(const struct kubelet_device_list *devices, struct scripted_bytes *out,
		  struct error *err)
{
	struct arena arena = {0};
	size_t count = devices->count;
	V1beta1__ListAndWatchResponse response = V1BETA1__LIST_AND_WATCH_RESPONSE__INIT;
	V1beta1__Device *items = take_block(&arena, count, sizeof(*items));
	V1beta1__TopologyInfo *topologies = take_block(&arena, count, sizeof(*topologies));
	response.devices = take_pointers(&arena, count);
	for (size_t i = 0; !arena.failed && i < count; i++) {
		const struct kubelet_device *from = &devices->items[i];
		V1beta1__NUMANode *nodes = take_block(&arena, from->numa_count, sizeof(*nodes));
		V1beta1__NUMANode **list = take_pointers(&arena, from->numa_count);
		if (!arena.failed)
			fill_device(from, &items[i], &topologies[i], nodes, list);
		response.devices[response.n_devices++] = &items[i];
	}
	int rc = arena.failed ? error_memory(err) : scripted_pack(&response.base, out, err);
	text_list_free(&arena.blocks);
	return rc;
}

static size_t prefer(bool last, const V1beta1__ContainerPreferredAllocationRequest *request,
		     char **ids)
{
	size_t count = 0;
	size_t wanted = request->allocation_size < 0 ? 0 : (size_t)request->allocation_size;
	for (size_t i = 0; i < request->n_must_include_deviceids; i++)
		ids[count++] = request->must_include_deviceids[i];
	for (size_t i = 0; i < request->n_available_deviceids && count < wanted; i++) {
		size_t from = last ? request->n_available_deviceids - 1 - i : i;
		char *id = request->available_deviceids[from];
		bool included = false;
		for (size_t m = 0; m < request->n_must_include_deviceids; m++)
			included = included || strcmp(request->must_include_deviceids[m], id) == 0;
		if (!included)
			ids[count++] = id;
	}
	return count;
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int scripted_preferred(const struct script *script,
		       const V1beta1__PreferredAllocationRequest *request, size_t call,
		       struct scripted_bytes *out, struct error *err)
{
	struct arena arena = {0};
	size_t count = request->n_container_requests;
	const bool last = script->preference == SCRIPT_PREFER_LAST ||
			  (script->preference == SCRIPT_PREFER_TURNS && call % 2 == 1);
	V1beta1__PreferredAllocationResponse response =
		V1BETA1__PREFERRED_ALLOCATION_RESPONSE__INIT;
	V1beta1__ContainerPreferredAllocationResponse *items =
		take_block(&arena, count, sizeof(*items));
	response.container_responses = take_pointers(&arena, count);
	for (size_t i = 0; !arena.failed && i < count; i++) {
		const V1beta1__ContainerPreferredAllocationRequest *asked =
			request->container_requests[i];
		v1beta1__container_preferred_allocation_response__init(&items[i]);
		response.container_responses[response.n_container_responses++] = &items[i];
		if (script->preference == SCRIPT_PREFER_IDS) {
			items[i].deviceids = script->preferred_ids;
			items[i].n_deviceids = script->preferred_id_count;
			continue;
		}
		/* The same set always gets the same answer, in whatever order it is sent. */
		if (asked->n_available_deviceids > 0)
			qsort(asked->available_deviceids, asked->n_available_deviceids,
			      sizeof(*asked->available_deviceids), compare_strings);
		items[i].deviceids = take_pointers(&arena, asked->n_available_deviceids +
								   asked->n_must_include_deviceids);
		if (!arena.failed)
			items[i].n_deviceids = prefer(last, asked, items[i].deviceids);
	}
	int rc = arena.failed ? error_memory(err) : scripted_pack(&response.base, out, err);
	text_list_free(&arena.blocks);
	return rc;
}
