/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/members.h"
#include "conformance/kubelet/pods.h"
#include "conformance/kubelet/resources.h"

#include <sodium.h>
#include <string.h>

/*
 * The checkpoint file has the shape of the kubelet's (checkpoint/checkpoint.go), Data with
 * PodDeviceEntries and RegisteredDevices, but no Checksum: that one is taken over a dump of Go
 * structures. A real kubelet therefore never mistakes it for its own. Device ids are all under NUMA
 * node -1.
 */

enum { CHECKPOINT_MODE = 0600 };

static char *encode_response(const V1beta1__ContainerAllocateResponse *response)
{
	size_t size = v1beta1__container_allocate_response__get_packed_size(response);
	size_t text_size = sodium_base64_ENCODED_LEN(size, sodium_base64_VARIANT_ORIGINAL);
	uint8_t *bytes CLEANUP_FREE = malloc(size + 1);
	char *text = malloc(text_size);
	if (bytes == NULL || text == NULL) {
		free(text);
		return NULL;
	}
	(void)v1beta1__container_allocate_response__pack(response, bytes);
	return sodium_bin2base64(text, text_size, bytes, size, sodium_base64_VARIANT_ORIGINAL);
}

static V1beta1__ContainerAllocateResponse *decode_response(const char *text)
{
	size_t capacity = strlen(text) + 1;
	size_t size = 0;
	uint8_t *bytes CLEANUP_FREE = malloc(capacity);
	if (bytes == NULL || sodium_base642bin(bytes, capacity, text, strlen(text), NULL, &size,
					       NULL, sodium_base64_VARIANT_ORIGINAL) != 0)
		return NULL;
	return v1beta1__container_allocate_response__unpack(NULL, size, bytes);
}

static cJSON *entry_json(const struct allocation *allocation)
{
	struct members entry CLEANUP_MEMBERS = members_new();
	struct members ids CLEANUP_MEMBERS = members_new();
	member_item(&ids, "-1", json_new_strings(&allocation->ids.list));
	member_string(&entry, "PodUID", allocation->pod);
	member_string(&entry, "ContainerName", allocation->container);
	member_string(&entry, "ResourceName", allocation->resource);
	member_taken(&entry, "AllocResp", encode_response(allocation->response));
	member_item(&entry, "DeviceIDs", members_take(&ids));
	return members_take(&entry);
}

static cJSON *checkpoint_json(const struct kubelet *kubelet)
{
	struct members json CLEANUP_MEMBERS = members_new();
	struct members data CLEANUP_MEMBERS = members_new();
	struct members registered CLEANUP_MEMBERS = members_new();
	cJSON *entries CLEANUP_JSON = cJSON_CreateArray();
	for (const struct allocation *each = kubelet->allocations; each != NULL; each = each->next)
		if (!array_add(entries, entry_json(each)))
			return NULL;
	for (const struct resource *each = kubelet->resources; each != NULL; each = each->next)
		member_item(&registered, each->name, json_new_strings(&each->healthy.list));
	member_item(&data, "PodDeviceEntries", STEAL(entries));
	member_item(&data, "RegisteredDevices", members_take(&registered));
	member_item(&json, "Data", members_take(&data));
	return members_take(&json);
}

void checkpoint_write(struct kubelet *kubelet)
{
	struct error err = {0};
	cJSON *json CLEANUP_JSON = checkpoint_json(kubelet);
	char *text CLEANUP_FREE = json == NULL ? NULL : json_print_compact(json);
	if (!kubelet->running)
		return;
	int rc = text == NULL ? error_memory(&err)
			      : file_write_atomic(kubelet->checkpoint, text, strlen(text),
						  CHECKPOINT_MODE, &err);
	if (rc != 0)
		kubelet_report_problem(kubelet, &err);
	else
		kubelet->checkpoint_written = true;
}

static const char *string_in(const cJSON *entry, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, key));
}

/* False: a member is missing or of another type. */
static bool read_ids(const cJSON *nodes, struct id_set *ids)
{
	bool good = cJSON_IsObject(nodes);
	for (const cJSON *node = good ? nodes->child : NULL; good && node != NULL;
	     node = node->next) {
		good = cJSON_IsArray(node);
		for (const cJSON *id = good ? node->child : NULL; good && id != NULL; id = id->next)
			if ((good = cJSON_IsString(id)))
				id_set_add_strings(ids, (const char *[]){id->valuestring}, 1);
	}
	return good;
}

static int read_entry(struct kubelet *kubelet, const cJSON *entry, struct error *err)
{
	const char *pod = string_in(entry, "PodUID");
	const char *container = string_in(entry, "ContainerName");
	const char *resource = string_in(entry, "ResourceName");
	const char *encoded = string_in(entry, "AllocResp");
	struct id_set ids CLEANUP_ID_SET = {0};
	V1beta1__ContainerAllocateResponse *response =
		encoded == NULL ? NULL : decode_response(encoded);
	bool good = pod != NULL && container != NULL && resource != NULL && response != NULL &&
		    read_ids(cJSON_GetObjectItemCaseSensitive(entry, "DeviceIDs"), &ids);
	if (good)
		return allocation_add(kubelet, pod, container, resource, &ids, response, err);
	if (response != NULL)
		v1beta1__container_allocate_response__free_unpacked(response, NULL);
	return error_set(err, ERROR_FORMAT, "an entry of PodDeviceEntries is corrupt");
}

static int read_document(struct kubelet *kubelet, const cJSON *json, struct error *err)
{
	const cJSON *entries = json_pointer(json, "/Data/PodDeviceEntries");
	const cJSON *registered = json_pointer(json, "/Data/RegisteredDevices");
	int rc = 0;
	if (!cJSON_IsArray(entries) || !cJSON_IsObject(registered))
		return error_set(err, ERROR_FORMAT,
				 "PodDeviceEntries or RegisteredDevices is missing");
	for (const cJSON *entry = entries->child; rc == 0 && entry != NULL; entry = entry->next)
		rc = read_entry(kubelet, entry, err);
	for (const cJSON *each = registered->child; rc == 0 && each != NULL; each = each->next)
		rc = resource_recall(kubelet, each->string, err);
	return rc;
}

/* A corrupt checkpoint is told, and the kubelet starts with nothing. */
void checkpoint_read(struct kubelet *kubelet)
{
	cJSON *json CLEANUP_JSON = NULL;
	struct error err = {0};
	resources_free(kubelet);
	allocations_free(kubelet);
	if (!file_exists(kubelet->checkpoint))
		return;
	int rc = json_read_file(kubelet->checkpoint, &json, &err);
	if (rc == 0)
		rc = read_document(kubelet, json, &err);
	if (rc == 0) {
		resources_tell(kubelet);
		return;
	}
	resources_free(kubelet);
	allocations_free(kubelet);
	(void)error_wrap(&err, rc, "%s", kubelet->checkpoint);
	kubelet_report_problem(kubelet, &err);
}
