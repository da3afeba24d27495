/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/members.h"
#include "base/memory.h"
#include "conformance/kubelet/pods.h"
#include "conformance/kubelet/resources.h"

#include <sodium.h>
#include <string.h>

/*
 * The checkpoint file has the shape of the kubelet's (checkpoint/checkpoint.go), Data with
 * PodDeviceEntries and RegisteredDevices, but no Checksum, which is computed from a dump of Go
 * structures. A real kubelet therefore never mistakes it for its own. All device ids are under NUMA
 * node -1.
 */

enum { CHECKPOINT_MODE = 0600 };

static void add_entry(struct members *entries, const struct allocation *allocation)
{
	const V1beta1__ContainerAllocateResponse *response = allocation->response;
	struct members entry = member_object(entries, NULL);
	size_t size = v1beta1__container_allocate_response__get_packed_size(response);
	size_t text_size = sodium_base64_ENCODED_LEN(size, sodium_base64_VARIANT_ORIGINAL);
	uint8_t *bytes CLEANUP_FREE = memory_allocate(size + 1, 1);
	char *text CLEANUP_FREE = memory_allocate(text_size, 1);
	(void)v1beta1__container_allocate_response__pack(response, bytes);
	(void)sodium_bin2base64(text, text_size, bytes, size, sodium_base64_VARIANT_ORIGINAL);

	member_string(&entry, "PodUID", allocation->pod);
	member_string(&entry, "ContainerName", allocation->container);
	member_string(&entry, "ResourceName", allocation->resource);
	member_string(&entry, "AllocResp", text);
	struct members ids = member_object(&entry, "DeviceIDs");
	member_item(&ids, "-1", json_new_strings(&allocation->ids.list));
}

void checkpoint_write(struct kubelet *kubelet)
{
	struct error err = {0};
	if (!kubelet->running)
		return;

	struct members json CLEANUP_MEMBERS = members_new();
	struct members data = member_object(&json, "Data");
	struct members entries = member_array(&data, "PodDeviceEntries");
	chain_each (each, kubelet->allocations)
		add_entry(&entries, each);
	struct members registered = member_object(&data, "RegisteredDevices");
	chain_each (each, kubelet->resources)
		member_item(&registered, each->name, json_new_strings(&each->healthy.list));

	char *text CLEANUP_FREE = json_print_compact(json.object);
	if (file_write_atomic(kubelet->checkpoint, text, strlen(text), CHECKPOINT_MODE, &err) < 0)
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
	if (!cJSON_IsObject(nodes))
		return false;
	json_each (node, nodes) {
		if (!cJSON_IsArray(node))
			return false;
		json_each (id, node) {
			if (!cJSON_IsString(id))
				return false;
			id_set_add_strings(ids, (const char *[]){id->valuestring}, 1);
		}
	}
	return true;
}

static int read_entry(struct kubelet *kubelet, const cJSON *entry, struct error *err)
{
	const char *pod = string_in(entry, "PodUID");
	const char *container = string_in(entry, "ContainerName");
	const char *resource = string_in(entry, "ResourceName");
	const char *encoded = string_in(entry, "AllocResp");
	struct id_set ids CLEANUP_ID_SET = {0};
	V1beta1__ContainerAllocateResponse *response = NULL;

	if (pod != NULL && container != NULL && resource != NULL && encoded != NULL &&
	    read_ids(cJSON_GetObjectItemCaseSensitive(entry, "DeviceIDs"), &ids)) {
		size_t length = strlen(encoded);
		size_t size = 0;
		uint8_t *bytes CLEANUP_FREE = memory_allocate(length + 1, 1);
		if (sodium_base642bin(bytes, length + 1, encoded, length, NULL, &size, NULL,
				      sodium_base64_VARIANT_ORIGINAL) == 0)
			response = v1beta1__container_allocate_response__unpack(NULL, size, bytes);
	}
	if (response == NULL)
		return error_set(err, ERROR_FORMAT, "an entry of PodDeviceEntries is corrupt");
	allocation_add(kubelet, pod, container, resource, &ids, response);
	return 0;
}

/* A corrupt checkpoint is reported, and the kubelet starts without any. */
void checkpoint_read(struct kubelet *kubelet)
{
	cJSON *json CLEANUP_JSON = NULL;
	struct error err = {0};
	resources_free(kubelet);
	allocations_free(kubelet);
	if (!file_exists(kubelet->checkpoint))
		return;

	int rc = json_read_file(kubelet->checkpoint, &json, &err);
	const cJSON *entries = json_pointer(json, "/Data/PodDeviceEntries");
	const cJSON *registered = json_pointer(json, "/Data/RegisteredDevices");
	if (rc == 0 && (!cJSON_IsArray(entries) || !cJSON_IsObject(registered)))
		rc = error_set(&err, ERROR_FORMAT,
			       "PodDeviceEntries or RegisteredDevices is missing");
	json_each (entry, entries) {
		if (rc == 0)
			rc = read_entry(kubelet, entry, &err);
	}
	if (rc == 0) {
		json_each (each, registered)
			resource_recall(kubelet, each->string);
		resources_report(kubelet);
		return;
	}
	resources_free(kubelet);
	allocations_free(kubelet);
	(void)error_wrap(&err, rc, "%s", kubelet->checkpoint);
	kubelet_report_problem(kubelet, &err);
}
