/* SPDX-License-Identifier: MIT */
#include "workloads/common/api.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/library.h"
#include "base/memory.h"
#include "workloads/common/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const status_names[] = {
	[API_OK] = "ok",
	[API_UNSUPPORTED] = "unsupported",
	[API_FAILED] = "failed",
};

static int open_session(const struct api_driver *api, struct api_report *report, void **session,
			struct error *err)
{
	*session = memory_allocate(1, api->session_size);
	int rc = api->open(report, *session, err);
	if (rc != 0) {
		api_close(api, *session);
		*session = NULL;
	}
	return rc;
}

void api_close(const struct api_driver *api, void *session)
{
	if (session != NULL && api->close != NULL)
		api->close(session);
	free(session);
}

void api_open(const struct api_driver *api, struct api_report *report, void **session)
{
	struct error reason = {0};
	const uint64_t began_ns = clock_monotonic_ns();

	*report = (struct api_report){.api = api, .devices = cJSON_CreateArray()};
	int rc = open_session(api, report, session, &reason);
	report->open_ns = clock_monotonic_ns() - began_ns;

	if (rc == 0) {
		/* Errors of tries before the one that worked are not the API's. */
		reason.text[0] = '\0';
		report->missing = NULL;
	} else if (reason.code == ERROR_NOT_FOUND || reason.code == ERROR_UNSUPPORTED) {
		report->status = API_UNSUPPORTED;
		if (report->missing == NULL)
			report->missing = api->library;
	} else {
		report->status = API_FAILED;
		report->missing = NULL;
	}
	(void)snprintf(report->reason, sizeof(report->reason), "%s", reason.text);
}

int api_open_devices(const struct api_driver *list, struct api_report *report, void **session,
		     struct error *err)
{
	char version[sizeof(report->version)] = "";
	memcpy(version, report->version, sizeof(version));
	int rc = open_session(list, report, session, err);
	memcpy(report->version, version, sizeof(version));
	if (rc == ERROR_NOT_FOUND && report->missing == NULL)
		report->missing = list->library;
	return rc;
}

size_t api_preferred_device(const struct api_report *report)
{
	size_t index = 0;
	json_each (device, report->devices) {
		if (!json_pointer_true(device, "/software"))
			return index;
		index++;
	}
	return 0;
}

void api_work(const struct api_driver *api, void *session, size_t devices,
	      const struct work_request *request, struct work_report *report)
{
	struct error reason = {0};
	int rc = 0;

	report->request = request;
	report->device = request->device;
	report->elements = request->elements;
	report->seed = request->seed;
	work_stage_begin(report, WORK_STAGE_SELECT);
	if (devices == 0)
		rc = error_set(&reason, ERROR_UNSUPPORTED, "no device is visible");
	else if (request->device >= devices)
		rc = error_set(&reason, ERROR_UNSUPPORTED,
			       "there is no device %zu: the devices are 0 to %zu", request->device,
			       devices - 1);
	else
		rc = api->work(session, request, report, &reason);
	report->request = NULL;
	work_stage_end(report);
	if (rc != 0)
		work_report_failure(report, &reason);
}

void api_report_failed(const struct api_driver *api, const struct error *reason,
		       struct api_report *report)
{
	*report = (struct api_report){
		.api = api, .status = API_FAILED, .devices = cJSON_CreateArray()};
	(void)snprintf(report->reason, sizeof(report->reason), "%s", reason->text);
}

void api_report_free(struct api_report *report)
{
	text_list_free(&report->messages);
	cJSON_Delete(report->platforms);
	cJSON_Delete(report->devices);
	*report = (struct api_report){0};
}

int api_load(struct api_report *report, const char *library, const struct api_function *functions,
	     struct error *err)
{
	void *handle = NULL;
	int rc = library_open(library, &handle, err);
	if (rc != 0)
		return rc;
	if (report != NULL && report->path[0] == '\0') {
		library_path(handle, report->path, sizeof(report->path));
		library_version(handle, report->file_version, sizeof(report->file_version));
	}
	for (size_t i = 0; functions[i].name != NULL; i++) {
		if (library_function(handle, functions[i].name, functions[i].pointer, NULL) != 0)
			return error_set(err, ERROR_UNAVAILABLE, "%s has no function %s", library,
					 functions[i].name);
	}
	return 0;
}

int api_load_one(struct api_report *report, const char *library, const char *name, void *pointer,
		 struct error *err)
{
	const struct api_function functions[] = {{name, pointer}, {NULL, NULL}};
	return api_load(report, library, functions, err);
}

bool api_find(const char *library, const char *name, void *pointer)
{
	return api_load_one(NULL, library, name, pointer, NULL) == 0;
}

void api_report_message(struct api_report *report, const char *message)
{
	char cut[API_MESSAGE_SIZE_MAX + 1] = "";

	if (report->messages.count >= API_MESSAGES_MAX)
		return;
	(void)snprintf(cut, sizeof(cut), "%s", message);
	text_list_add(&report->messages, cut);
}

void api_add_pci_address(struct members *device, unsigned domain, unsigned bus, unsigned slot,
			 unsigned function)
{
	const unsigned unknown = (unsigned)API_PCI_UNKNOWN;
	if (bus == unknown || slot == unknown || function == unknown)
		return;
	if (domain == unknown)
		member_format(device, "pciAddress", "%02x:%02x.%x", bus, slot, function);
	else
		member_format(device, "pciAddress", "%04x:%02x:%02x.%x", domain, bus, slot,
			      function);
}

static void add_node(struct members *drm, const char *key, struct api_node node)
{
	if (node.known)
		member_format(drm, key, "%lld:%lld", (long long)node.major, (long long)node.minor);
	else
		member_null(drm, key);
}

void api_add_drm(struct members *device, struct api_node primary, struct api_node render)
{
	struct members drm = member_object(device, "drm");
	add_node(&drm, "primary", primary);
	add_node(&drm, "render", render);
}

struct members api_device_new(size_t index)
{
	struct members device = members_new();
	member_number(&device, "index", (double)index);
	return device;
}

void api_add_ids(struct members *device, unsigned vendor_id, unsigned device_id)
{
	member_hex(device, "vendorId", vendor_id, 4);
	member_hex(device, "deviceId", device_id, 4);
}

void api_add_driver(struct members *device, const char *version)
{
	struct members driver = member_object(device, "driver");
	member_string(&driver, "version", version);
}

void api_add_windows_driver(struct members *device, bool known, uint64_t version)
{
	char text[32] = "";
	(void)snprintf(text, sizeof(text), "%u.%u.%u.%u", (unsigned)(version >> 48),
		       (unsigned)(version >> 32) & 0xFFFFu, (unsigned)(version >> 16) & 0xFFFFu,
		       (unsigned)version & 0xFFFFu);
	api_add_driver(device, known ? text : NULL);
}

void api_report_device(struct api_report *report, cJSON *device)
{
	static const char *const keys[] = {"type", "deviceUuid", "pciAddress", "memoryBytes"};
	struct members members CLEANUP_MEMBERS = {.object = device};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!cJSON_HasObjectItem(device, keys[i]))
			member_null(&members, keys[i]);
	if (!cJSON_HasObjectItem(device, "driver"))
		api_add_driver(&members, NULL);
	array_add(report->devices, members_take(&members));
}

void api_report_members(struct api_report *report, struct members *members)
{
	struct members api = member_object(members, "api");
	member_string(&api, "name", report->api->name);
	member_string(&api, "status", status_names[report->status]);
	member_optional(&api, "reason", report->reason);
	member_string(&api, "missing", report->missing);
	struct members loader = member_object(&api, "loader");
	member_string(&loader, "library", report->api->library);
	member_optional(&loader, "path", report->path);
	member_optional(&loader, "version", report->version);
	member_optional(&loader, "fileVersion", report->file_version);
	member_item(&api, "messages", json_new_strings(&report->messages));
	if (report->emulator[0] != '\0')
		member_string(&api, "emulator", report->emulator);
	member_milliseconds(&api, "openMs", report->open_ns);
	if (report->platforms != NULL)
		member_item(members, "platforms", STEAL(report->platforms));
	member_item(members, "devices", STEAL(report->devices));
}
