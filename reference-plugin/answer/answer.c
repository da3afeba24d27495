/* SPDX-License-Identifier: MIT */
#include "reference-plugin/answer/answer.h"

#include "reference-plugin/answer/answer_internal.h"
#include "rpc/message.h"

#include <stdlib.h>
#include <string.h>

struct answer_item *answer_add(struct answer *answer, enum answer_kind kind,
			       const struct discovery_device *device, const char *place,
			       const char *source)
{
	struct answer_item *item = &answer->items[answer->count++];
	*item = (struct answer_item){.kind = kind,
				     .place = place,
				     .source = source,
				     .permissions = "",
				     .device = device->id};
	return item;
}

void answer_warn(struct answer *answer, const char *format, ...)
{
	const char **items = arena_grow(&answer->arena, answer->warnings.items,
					answer->warnings.count, sizeof(*items));
	if (items == NULL)
		return;
	va_list args;
	va_start(args, format);
	items[answer->warnings.count++] = arena_vformat(&answer->arena, format, args);
	va_end(args);
	answer->warnings.items = items;
}

static int by_place(const void *a, const void *b)
{
	const struct answer_item *left = a;
	const struct answer_item *right = b;
	int order = (int)left->kind - (int)right->kind;
	if (order == 0)
		order = left->compare(left->place, right->place);
	if (order == 0)
		order = (left->rank > right->rank) - (left->rank < right->rank);
	if (order == 0)
		order = strcmp(left->source, right->source);
	if (order == 0)
		order = strcmp(left->permissions, right->permissions);
	return order != 0 ? order : strcmp(left->device, right->device);
}

int answer_settle(struct answer *answer, answer_compare *compare, answer_join *join,
		  struct error *err)
{
	struct answer_item *items = answer->items;
	size_t kept = 0;
	for (size_t i = 0; i < answer->count; i++)
		items[i].compare = compare;
	qsort(items, answer->count, sizeof(*items), by_place);
	for (size_t i = 0; i < answer->count; i++) {
		struct answer_item *last = kept > 0 ? &items[kept - 1] : NULL;
		int rc = 0;
		if (last != NULL && last->kind == items[i].kind &&
		    compare(last->place, items[i].place) == 0)
			rc = join(answer, last, &items[i], err);
		else
			items[kept++] = items[i];
		if (rc < 0)
			return rc;
	}
	answer->count = kept;
	return 0;
}

static void fill_message(struct answer *answer, bool windows)
{
	V1beta1__ContainerAllocateResponse *message = &answer->message;
	for (size_t i = 0; i < answer->count; i++) {
		struct answer_item *item = &answer->items[i];
		switch (item->kind) {
		case ANSWER_NODE:
			v1beta1__device_spec__init(&item->wire.node);
			item->wire.node.host_path = wire_string(item->source);
			/* containerd wants it empty on Windows (internal/cri/opts,
			 * spec_windows_opts.go), as the permissions. */
			item->wire.node.container_path = wire_string(windows ? "" : item->place);
			item->wire.node.permissions = wire_string(item->permissions);
			message->devices[message->n_devices++] = &item->wire.node;
			break;
		case ANSWER_MOUNT:
			v1beta1__mount__init(&item->wire.mount);
			item->wire.mount.host_path = wire_string(item->source);
			item->wire.mount.container_path = wire_string(item->place);
			item->wire.mount.read_only = 1;
			message->mounts[message->n_mounts++] = &item->wire.mount;
			break;
		case ANSWER_VARIABLE:
			v1beta1__container_allocate_response__envs_entry__init(
				&item->wire.variable);
			item->wire.variable.key = wire_string(item->place);
			item->wire.variable.value = wire_string(item->source);
			message->envs[message->n_envs++] = &item->wire.variable;
			break;
		}
	}
}

int answer_build(const struct answer_request *request, struct answer *out, struct error *err)
{
	const struct additional_mounts *additional = request->rules->additional;
	V1beta1__ContainerAllocateResponse *message = &out->message;
	struct arena *arena = &out->arena;
	v1beta1__container_allocate_response__init(message);
	if (request->windows && request->rules->cdi)
		return error_set(err, ERROR_UNSUPPORTED, "CDI has no devices of Windows");

	size_t room = 1;
	for (size_t i = 0; i < request->count; i++) {
		const struct discovery_device *device = request->devices[i];
		room += device->node_count + device->file_count + device->variable_count +
			(additional != NULL ? additional->count : 0) + ANSWER_EXTRA_ITEMS;
	}
	out->items = arena_allocate(arena, room * sizeof(*out->items));
	message->devices = arena_allocate(arena, room * sizeof(V1beta1__DeviceSpec *));
	message->mounts = arena_allocate(arena, room * sizeof(V1beta1__Mount *));
	message->envs = arena_allocate(
		arena, room * sizeof(V1beta1__ContainerAllocateResponse__EnvsEntry *));
	if (arena->failed)
		return error_memory(err);
	int rc = request->windows ? answer_build_windows(out, request, err)
				  : answer_build_linux(out, request, err);
	if (rc < 0)
		return rc;

	if (request->rules->cdi) {
		V1beta1__CDIDevice *devices =
			arena_allocate(arena, request->count * sizeof(*devices));
		message->cdi_devices =
			arena_allocate(arena, request->count * sizeof(V1beta1__CDIDevice *));
		for (size_t i = 0; !arena->failed && i < request->count; i++) {
			v1beta1__cdidevice__init(&devices[i]);
			devices[i].name = wire_string(arena_format(arena, "%s=%s", ANSWER_CDI_KIND,
								   request->devices[i]->id));
			message->cdi_devices[message->n_cdi_devices++] = &devices[i];
		}
	}
	if (arena->failed)
		return error_memory(err);
	fill_message(out, request->windows);
	return 0;
}

void answer_free(struct answer *answer)
{
	arena_free(&answer->arena);
	*answer = (struct answer){0};
}
