/* SPDX-License-Identifier: MIT */
/* The device strings of Windows: which adapter a container gets, and in the class way the variables
 * that say which of all adapters it should use. */
#include "base/windows_device.h"
#include "reference-plugin/answer/answer_internal.h"
#include "reference-plugin/inventory/wire.h"

#include <stdlib.h>
#include <string.h>

static int check_count(const struct answer_request *request, struct error *err)
{
	struct text ids CLEANUP_TEXT = {0};

	if (request->count <= 1 || request->rules->allow_several)
		return 0;
	for (size_t i = 0; i < request->count; i++)
		text_addf(&ids, "%s'%s'", i == 0 ? "" : ", ", request->devices[i]->id);
	return error_set(err, ERROR_UNSUPPORTED,
			 "one container cannot have %zu devices (%s): a kubelet up to 1.36 passes "
			 "only the first device on to a container of Windows; ask for ids of one "
			 "device, or allow it by severalDevices: allow",
			 request->count, text_string(&ids));
}

static int take_string(struct answer *answer, char *string, char **out, struct error *err)
{
	int rc = text_list_take(&answer->strings, string, err);

	if (rc == 0)
		*out = answer->strings.items[answer->strings.count - 1];
	return rc;
}

/* Container path and permissions must be empty (containerd, internal/cri/opts/
 * spec_windows_opts.go). */
static void add_string(struct answer *answer, const struct discovery_device *device,
		       char *host_path)
{
	struct answer_node *node = &answer->nodes[answer->message.n_devices];

	v1beta1__device_spec__init(&node->spec);
	node->spec.host_path = host_path;
	node->device = device->id;
	answer->message.devices[answer->message.n_devices++] = &node->spec;
}

static bool has_string(const struct answer *answer, const char *host_path)
{
	for (size_t i = 0; i < answer->message.n_devices; i++) {
		if (strcmp(answer->message.devices[i]->host_path, host_path) == 0)
			return true;
	}
	return false;
}

static int add_location_path(struct answer *answer, const struct discovery_device *device,
			     struct error *err)
{
	char *host_path = NULL;
	int rc = 0;

	if (device->location_path[0] == '\0')
		return error_set(err, ERROR_UNSUPPORTED,
				 "device '%s' has no location path to assign it by", device->id);
	rc = take_string(answer, text_format("vpci-location-path://%s", device->location_path),
			 &host_path, err);
	if (rc == 0 && !has_string(answer, host_path))
		add_string(answer, device, host_path);
	return rc;
}

static void add_variable(struct answer *answer, const struct discovery_device *device,
			 const char *name, const char *value)
{
	struct answer_variable *variable = &answer->variables[answer->message.n_envs];

	v1beta1__container_allocate_response__envs_entry__init(&variable->entry);
	variable->entry.key = wire_string(name);
	variable->entry.value = wire_string(value);
	variable->device = device->id;
	answer->message.envs[answer->message.n_envs++] = &variable->entry;
}

/* The variables of aarnaud/k8s-directx-device-plugin. */
static int add_class(struct answer *answer, const struct answer_request *request, struct error *err)
{
	enum { VARIABLES = 3 };
	const struct discovery_device *device = request->devices[0];
	struct text warning CLEANUP_TEXT = {0};

	answer->variables = calloc(VARIABLES, sizeof(*answer->variables));
	answer->message.envs =
		calloc(VARIABLES, sizeof(V1beta1__ContainerAllocateResponse__EnvsEntry *));
	if (answer->variables == NULL || answer->message.envs == NULL)
		return error_memory(err);
	add_string(answer, device, wire_string("class/" WINDOWS_DISPLAY_CLASS));
	add_variable(answer, device, "DIRECTX_GPU_DriverVersion", device->driver_version);
	add_variable(answer, device, "DIRECTX_GPU_Name", device->description);
	add_variable(answer, device, "DIRECTX_GPU_PNPDeviceID", device->pnp_instance_id);
	if (request->count == 1)
		return 0;
	text_addf(&warning, "the variables DIRECTX_GPU_* name '%s' alone of %zu devices",
		  device->id, request->count);
	return text_list_take(&answer->warnings, text_take(&warning), err);
}

int answer_add_device_strings(struct answer *answer, const struct answer_request *request,
			      struct error *err)
{
	int rc = check_count(request, err);

	if (rc < 0)
		return rc;
	answer->nodes = calloc(request->count + 1, sizeof(*answer->nodes));
	answer->message.devices = calloc(request->count + 1, sizeof(V1beta1__DeviceSpec *));
	if (answer->nodes == NULL || answer->message.devices == NULL)
		return error_memory(err);
	if (request->rules->allocation == ANSWER_CLASS)
		return request->count > 0 ? add_class(answer, request, err) : 0;
	for (size_t i = 0; rc == 0 && i < request->count; i++)
		rc = add_location_path(answer, request->devices[i], err);
	return rc;
}
