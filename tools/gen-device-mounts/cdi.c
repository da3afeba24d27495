/* SPDX-License-Identifier: MIT */
#include "tools/gen-device-mounts/cdi.h"

#include "base/cleanup.h"
#include "base/members.h"
#include "containers/cdi/registry.h"

#include <string.h>

/* The newest version that is written; what a Spec declares is the least with its fields. */
#define NEWEST "1.1.0"

static cJSON *device_nodes(const V1beta1__ContainerAllocateResponse *answer)
{
	struct members list CLEANUP_MEMBERS = members_new_array();
	for (size_t i = 0; i < answer->n_devices; i++) {
		const V1beta1__DeviceSpec *device = answer->devices[i];
		struct members node CLEANUP_MEMBERS = members_new();
		member_string(&node, "path", device->container_path);
		if (strcmp(device->host_path, device->container_path) != 0)
			member_string(&node, "hostPath", device->host_path);
		member_string(&node, "permissions", device->permissions);
		member_item(&list, NULL, members_take(&node));
	}
	return members_take(&list);
}

static cJSON *mounts(const V1beta1__ContainerAllocateResponse *answer)
{
	static const char *const options[] = {"ro", "nosuid", "nodev", "bind", NULL};
	struct members list CLEANUP_MEMBERS = members_new_array();
	for (size_t i = 0; i < answer->n_mounts; i++) {
		struct members mount CLEANUP_MEMBERS = members_new();
		member_string(&mount, "hostPath", answer->mounts[i]->host_path);
		member_string(&mount, "containerPath", answer->mounts[i]->container_path);
		member_strings(&mount, "options", options);
		member_item(&list, NULL, members_take(&mount));
	}
	return members_take(&list);
}

static cJSON *variables(const V1beta1__ContainerAllocateResponse *answer)
{
	struct members list CLEANUP_MEMBERS = members_new_array();
	for (size_t i = 0; i < answer->n_envs; i++)
		member_format(&list, NULL, "%s=%s", answer->envs[i]->key, answer->envs[i]->value);
	return members_take(&list);
}

static cJSON *edits(const V1beta1__ContainerAllocateResponse *answer)
{
	struct members json CLEANUP_MEMBERS = members_new();
	if (answer->n_envs > 0)
		member_item(&json, "env", variables(answer));
	if (answer->n_devices > 0)
		member_item(&json, "deviceNodes", device_nodes(answer));
	if (answer->n_mounts > 0)
		member_item(&json, "mounts", mounts(answer));
	return members_take(&json);
}

static int add_device(struct members *devices, const char *name,
		      const struct answer_request *request, struct error *err)
{
	struct answer answer CLEANUP(answer_free) = {0};
	struct members device CLEANUP_MEMBERS = members_new();
	int rc = answer_build(request, &answer, err);
	if (rc < 0)
		return rc;
	member_string(&device, "name", name);
	member_item(&device, "containerEdits", edits(&answer.message));
	member_item(devices, NULL, members_take(&device));
	return devices->failed ? error_memory(err) : 0;
}

static int add_devices(struct members *devices, const struct answer_request *request,
		       struct text_list *notes, struct error *err)
{
	struct error why = {0};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < request->count; i++) {
		struct answer_request one = *request;
		one.devices = &request->devices[i];
		one.count = 1;
		rc = add_device(devices, request->devices[i]->id, &one, err);
	}
	if (rc < 0)
		return rc;
	rc = add_device(devices, "all", request, &why);
	if (rc == ERROR_UNSUPPORTED)
		return text_list_addf(notes, err, "the Spec has no device 'all': %s", why.text);
	return rc < 0 ? error_set(err, rc, "%s", why.text) : 0;
}

/* The Spec is checked as others' are, which also tells what it needs. */
static int declare_least(cJSON *document, struct error *err)
{
	struct cdi_spec spec CLEANUP(cdi_spec_free) = {0};
	int rc = cdi_spec_check(document, &spec, err);
	if (rc < 0)
		return error_wrap(err, rc, "these devices do not make a Spec");
	return cJSON_ReplaceItemInObjectCaseSensitive(document, "cdiVersion",
						      cJSON_CreateString(spec.needed))
		       ? 0
		       : error_memory(err);
}

int cdi_write(const struct answer_request *request, struct text_list *notes, cJSON **out,
	      struct error *err)
{
	struct members document CLEANUP_MEMBERS = members_new();
	struct members devices CLEANUP_MEMBERS = members_new_array();
	if (request->windows)
		return error_set(err, ERROR_UNSUPPORTED,
				 "CDI has no devices of Windows; use --for ctr or nerdctl");
	int rc = add_devices(&devices, request, notes, err);
	if (rc < 0)
		return rc;
	member_string(&document, "cdiVersion", NEWEST);
	member_string(&document, "kind", CDI_KIND);
	member_item(&document, "devices", members_take(&devices));
	cJSON *json CLEANUP_JSON = members_take(&document);
	rc = json != NULL ? declare_least(json, err) : error_memory(err);
	if (rc == 0)
		*out = STEAL(json);
	return rc;
}

static void add_escaped(struct text *report, const char *string)
{
	text_add_escaped(report, string, strlen(string));
}

static void report_file(const struct cdi_file *file, struct text *report)
{
	const struct cdi_spec *spec = &file->spec;
	add_escaped(report, file->path);
	text_addf(report, ": %s: ", cdi_defect_name(spec->defect));
	if (file->why != NULL)
		add_escaped(report, file->why);
	else
		text_addf(report, "%s, %zu %s, cdiVersion %s (needs %s)", spec->kind,
			  spec->devices.count, spec->devices.count == 1 ? "device" : "devices",
			  spec->version, spec->needed);
	text_add(report, "\n");
}

int cdi_check(const struct text_list *places, bool *usable, struct text *report, struct error *err)
{
	struct cdi_registry registry CLEANUP(cdi_registry_free) = {0};
	int rc = cdi_registry_read(places, &registry, err);
	if (rc < 0)
		return rc;
	*usable = registry.conflicts.count == 0;
	for (size_t i = 0; i < registry.count; i++) {
		*usable = *usable && registry.files[i].why == NULL;
		report_file(&registry.files[i], report);
	}
	text_each (conflict, &registry.conflicts) {
		text_add(report, "conflict: ");
		add_escaped(report, conflict);
		text_add(report, "\n");
	}
	if (registry.count == 0)
		text_add(report, "no file named *.json or *.yaml\n");
	return report->failed ? error_memory(err) : 0;
}
