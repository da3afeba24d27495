/* SPDX-License-Identifier: MIT */
#include "tools/gen-device-mounts/cdi.h"

#include "base/cleanup.h"
#include "base/members.h"
#include "containers/cdi/registry.h"

#include <string.h>

/* The newest version that is written; a Spec declares the oldest one that has its fields. */
#define NEWEST "1.1.0"

static int add_device(struct members *devices, const char *name,
		      const struct answer_request *request, struct error *err)
{
	static const char *const options[] = {"ro", "nosuid", "nodev", "bind", NULL};
	struct answer answer CLEANUP(answer_free) = {0};
	const V1beta1__ContainerAllocateResponse *message = &answer.message;
	int rc = answer_build(request, &answer, err);
	if (rc < 0)
		return rc;
	struct members device = member_object(devices, NULL);
	member_string(&device, "name", name);
	struct members edits = member_object(&device, "containerEdits");

	if (message->n_envs > 0) {
		struct members variables = member_array(&edits, "env");
		for (size_t i = 0; i < message->n_envs; i++)
			member_format(&variables, NULL, "%s=%s", message->envs[i]->key,
				      message->envs[i]->value);
	}
	if (message->n_devices > 0) {
		struct members nodes = member_array(&edits, "deviceNodes");
		for (size_t i = 0; i < message->n_devices; i++) {
			const V1beta1__DeviceSpec *from = message->devices[i];
			struct members node = member_object(&nodes, NULL);
			member_string(&node, "path", from->container_path);
			if (strcmp(from->host_path, from->container_path) != 0)
				member_string(&node, "hostPath", from->host_path);
			member_string(&node, "permissions", from->permissions);
		}
	}
	if (message->n_mounts > 0) {
		struct members mounts = member_array(&edits, "mounts");
		for (size_t i = 0; i < message->n_mounts; i++) {
			struct members mount = member_object(&mounts, NULL);
			member_string(&mount, "hostPath", message->mounts[i]->host_path);
			member_string(&mount, "containerPath", message->mounts[i]->container_path);
			member_strings(&mount, "options", options);
		}
	}
	return 0;
}

int cdi_write(const struct answer_request *request, struct text_list *notes, cJSON **out,
	      struct error *err)
{
	struct members document CLEANUP_MEMBERS = members_new();
	struct cdi_spec spec CLEANUP(cdi_spec_free) = {0};
	struct error why = {0};
	int rc = 0;

	if (request->windows)
		return error_set(err, ERROR_UNSUPPORTED,
				 "CDI has no devices of Windows; use --for ctr or nerdctl");
	member_string(&document, "cdiVersion", NEWEST);
	member_string(&document, "kind", CDI_KIND);
	struct members devices = member_array(&document, "devices");
	for (size_t i = 0; i < request->count; i++) {
		struct answer_request one = *request;
		one.devices = &request->devices[i];
		one.count = 1;
		rc = add_device(&devices, request->devices[i]->id, &one, err);
		if (rc < 0)
			return rc;
	}
	rc = add_device(&devices, "all", request, &why);
	if (rc == ERROR_UNSUPPORTED)
		text_list_addf(notes, "the Spec has no device 'all': %s", why.text);
	else if (rc < 0)
		return error_set(err, rc, "%s", why.text);

	/* The Spec is checked as others are, which also finds the version that it needs. */
	cJSON *json CLEANUP_JSON = members_take(&document);
	rc = cdi_spec_check(json, &spec, err);
	if (rc < 0)
		return error_wrap(err, rc, "these devices do not make a Spec");
	(void)cJSON_ReplaceItemInObjectCaseSensitive(json, "cdiVersion",
						     cJSON_CreateString(spec.needed));
	*out = STEAL(json);
	return 0;
}

static void add_escaped(struct text *report, const char *string)
{
	text_add_escaped(report, string, strlen(string));
}

int cdi_check(const struct text_list *places, bool *usable, struct text *report, struct error *err)
{
	struct cdi_registry registry CLEANUP(cdi_registry_free) = {0};
	int rc = cdi_registry_read(places, &registry, err);
	if (rc < 0)
		return rc;

	*usable = registry.conflicts.count == 0;
	for (size_t i = 0; i < registry.count; i++) {
		const struct cdi_file *file = &registry.files[i];
		const struct cdi_spec *spec = &file->spec;
		*usable = *usable && file->why == NULL;
		add_escaped(report, file->path);
		text_addf(report, ": %s: ", cdi_defect_name(spec->defect));
		if (file->why != NULL)
			add_escaped(report, file->why);
		else
			text_addf(report, "%s, %zu %s, cdiVersion %s (needs %s)", spec->kind,
				  spec->devices.count,
				  spec->devices.count == 1 ? "device" : "devices", spec->version,
				  spec->needed);
		text_add(report, "\n");
	}
	text_each (conflict, &registry.conflicts) {
		text_add(report, "conflict: ");
		add_escaped(report, conflict);
		text_add(report, "\n");
	}
	if (registry.count == 0)
		text_add(report, "no file named *.json or *.yaml\n");
	return 0;
}
