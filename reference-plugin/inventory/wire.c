/* SPDX-License-Identifier: MIT */
#include "reference-plugin/inventory/inventory.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "rpc/message.h"
#include "rpc/proto/deviceplugin_v1beta1.pb-c.h"

#include <stdio.h>
#include <string.h>

enum { REPLICA_DIGITS_MAX = 9 };

static const char separator[] = "::";

void replica_id_format(const char *device_id, uint32_t replica, char out[REPLICA_ID_SIZE])
{
	(void)snprintf(out, REPLICA_ID_SIZE, "%s%s%u", device_id, separator, replica);
}

int replica_id_parse(const char *id, char device[REPLICA_ID_SIZE], uint32_t *replica,
		     struct error *err)
{
	const char *split = NULL;
	for (const char *at = strstr(id, separator); at != NULL; at = strstr(at + 1, separator))
		split = at;
	if (split == NULL || split == id)
		return replica_id_error(err, ERROR_ARGUMENT, id,
					" is not of the form <device>::<replica>");
	const char *digits = split + strlen(separator);
	size_t count = strspn(digits, "0123456789");
	if (count == 0 || count > REPLICA_DIGITS_MAX || digits[count] != '\0' ||
	    (digits[0] == '0' && count > 1))
		return replica_id_error(err, ERROR_ARGUMENT, id, " has no valid replica number");
	(void)snprintf(device, REPLICA_ID_SIZE, "%.*s", (int)(split - id), id);
	*replica = (uint32_t)strtoul(digits, NULL, 10);
	return 0;
}

int replica_id_error(struct error *err, int code, const char *id, const char *format, ...)
{
	enum { SHOWN_MAX = 150 };
	struct text text CLEANUP_TEXT = {0};
	text_add_escaped(&text, id, strnlen(id, SHOWN_MAX + 1));
	bool cut = text.size > SHOWN_MAX;
	char *shown CLEANUP_FREE = text_take(&text);
	text_add_formatted(&text, format);
	return error_set(err, code, "device id \"%.*s%s\"%s", (int)SHOWN_MAX,
			 shown != NULL ? shown : "", cut ? "..." : "", text_string(&text));
}

/* One listed id, with everything its message points to. */
struct entry {
	V1beta1__Device device;
	V1beta1__TopologyInfo topology;
	V1beta1__NUMANode numa;
	V1beta1__NUMANode *numas[1];
	char id[REPLICA_ID_SIZE];
};

int device_list_pack(const struct inventory *inventory, enum inventory_resource resource,
		     uint8_t **data, size_t *size, struct error *err)
{
	size_t count = inventory->device_count * inventory->replicas;
	struct entry *entries CLEANUP_FREE = memory_allocate(count + 1, sizeof(*entries));
	V1beta1__Device **pointers CLEANUP_FREE =
		memory_allocate(count + 1, sizeof(V1beta1__Device *));
	V1beta1__ListAndWatchResponse list = V1BETA1__LIST_AND_WATCH_RESPONSE__INIT;
	if (entries == NULL || pointers == NULL)
		return error_memory(err);
	for (size_t i = 0; i < inventory->device_count; i++) {
		if (inventory->devices[i].resource != resource)
			continue;
		for (uint32_t replica = 0; replica < inventory->replicas; replica++) {
			const struct inventory_device *device = &inventory->devices[i];
			struct entry *entry = &entries[list.n_devices];
			pointers[list.n_devices++] = &entry->device;
			replica_id_format(device->id, replica, entry->id);
			v1beta1__device__init(&entry->device);
			entry->device.id = entry->id;
			entry->device.health =
				wire_string(device->healthy ? "Healthy" : "Unhealthy");
			if (device->numa_node == DISCOVERY_UNKNOWN)
				continue;
			v1beta1__numanode__init(&entry->numa);
			entry->numa.id = device->numa_node;
			entry->numas[0] = &entry->numa;
			v1beta1__topology_info__init(&entry->topology);
			entry->topology.n_nodes = 1;
			entry->topology.nodes = entry->numas;
			entry->device.topology = &entry->topology;
		}
	}
	list.devices = pointers;
	*size = v1beta1__list_and_watch_response__get_packed_size(&list);
	*data = memory_allocate(1, *size + 1);
	if (*data == NULL)
		return error_memory(err);
	(void)v1beta1__list_and_watch_response__pack(&list, *data);
	return 0;
}
