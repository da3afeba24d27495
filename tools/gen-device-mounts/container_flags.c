/* SPDX-License-Identifier: MIT */
#include "tools/gen-device-mounts/container_flags.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <string.h>

struct writer {
	struct text_list *flags;
	enum container_tool tool;
	bool windows;
	struct error *err;
};

const char *const container_tools[] = {"ctr", "nerdctl", "docker", "cdi", NULL};

/* A flag and its value, which is consumed. */
static int add(const struct writer *writer, const char *flag, char *value)
{
	char *owned CLEANUP_FREE = value;
	int rc = text_list_add(writer->flags, flag, writer->err);
	return rc == 0 ? text_list_take(writer->flags, STEAL(owned), writer->err) : rc;
}

/* --mount is read as a line of comma-separated values (RFC 4180) by all of them. */
static void add_field(struct text *out, const char *key, const char *value)
{
	bool quoted = strpbrk(value, ",\"\r\n") != NULL;
	text_addf(out, "%s%s%s=", out->size > 0 ? "," : "", quoted ? "\"" : "", key);
	for (; *value != '\0'; value++) {
		if (*value == '"')
			text_add(out, "\"");
		text_append(out, value, 1);
	}
	text_add(out, quoted ? "\"" : "");
}

static int add_mount(const struct writer *writer, const V1beta1__Mount *mount)
{
	struct text value CLEANUP_TEXT = {0};
	bool ctr = writer->tool == TOOL_CTR;
	if (writer->windows && writer->tool == TOOL_DOCKER)
		return 0;
	if (writer->windows && writer->tool == TOOL_NERDCTL)
		return add(writer, "--volume",
			   text_format("%s:%s:ro", mount->host_path, mount->container_path));
	text_add(&value, writer->windows ? "" : "type=bind");
	add_field(&value, ctr ? "src" : "source", mount->host_path);
	add_field(&value, ctr ? "dst" : "target", mount->container_path);
	text_add(&value, !ctr		   ? ",readonly"
			 : writer->windows ? ",options=ro"
					   : ",options=rbind:ro");
	return add(writer, "--mount", text_take(&value));
}

static int add_windows_device(const struct writer *writer, const V1beta1__DeviceSpec *device)
{
	static const char class[] = "class/";
	bool is_class = text_starts_with(device->host_path, class);
	if (writer->tool != TOOL_DOCKER && is_class)
		return add(writer, "--device",
			   text_format("class://%s", device->host_path + strlen(class)));
	if (writer->tool == TOOL_DOCKER && !is_class)
		return error_set(writer->err, ERROR_UNSUPPORTED,
				 "docker cannot assign '%s': it uses the first interface of the "
				 "Host Compute Service, which knows only classes of devices",
				 device->host_path);
	return add(writer, "--device", text_format("%s", device->host_path));
}

static int add_linux_device(const struct writer *writer, const V1beta1__DeviceSpec *device)
{
	if (writer->tool == TOOL_CTR) {
		if (strcmp(device->host_path, device->container_path) != 0)
			return error_set(writer->err, ERROR_UNSUPPORTED,
					 "ctr cannot give '%s' to a container as '%s'",
					 device->host_path, device->container_path);
		return add(writer, "--device", text_format("%s", device->host_path));
	}
	if (strchr(device->host_path, ':') != NULL || strchr(device->container_path, ':') != NULL)
		return error_set(writer->err, ERROR_UNSUPPORTED,
				 "%s cannot take '%s', because of the colon in it",
				 container_tools[writer->tool], device->host_path);
	return add(writer, "--device",
		   text_format("%s:%s:%s", device->host_path, device->container_path,
			       device->permissions));
}

int container_flags_add(struct text_list *flags, enum container_tool tool, bool windows,
			const V1beta1__ContainerAllocateResponse *answer, struct error *err)
{
	struct writer writer = {flags, tool, windows, err};
	int rc = 0;
	if (windows && tool != TOOL_CTR && answer->n_devices > 0)
		rc = add(&writer, "--isolation", text_format("process"));
	for (size_t i = 0; rc == 0 && i < answer->n_devices; i++)
		rc = windows ? add_windows_device(&writer, answer->devices[i])
			     : add_linux_device(&writer, answer->devices[i]);
	for (size_t i = 0; rc == 0 && i < answer->n_mounts; i++)
		rc = add_mount(&writer, answer->mounts[i]);
	for (size_t i = 0; rc == 0 && i < answer->n_envs; i++)
		rc = add(&writer, "--env",
			 text_format("%s=%s", answer->envs[i]->key, answer->envs[i]->value));
	return rc;
}

/* A new object at the end of an array, with two members; NULL when memory ran out. */
static cJSON *add_pair(cJSON *array, const char *first, const char *first_value, const char *second,
		       const char *second_value)
{
	cJSON *object = cJSON_CreateObject();
	if (!cJSON_AddItemToArray(array, object)) {
		cJSON_Delete(object);
		return NULL;
	}
	return json_add_string(object, first, first_value) &&
			       json_add_string(object, second, second_value)
		       ? object
		       : NULL;
}

cJSON *container_config(const V1beta1__ContainerAllocateResponse *answer)
{
	cJSON *config CLEANUP_JSON = cJSON_CreateObject();
	cJSON *devices = cJSON_AddArrayToObject(config, "devices");
	cJSON *mounts = cJSON_AddArrayToObject(config, "mounts");
	cJSON *variables = cJSON_AddArrayToObject(config, "envs");
	bool complete = devices != NULL && mounts != NULL && variables != NULL;
	for (size_t i = 0; complete && i < answer->n_devices; i++) {
		const V1beta1__DeviceSpec *device = answer->devices[i];
		cJSON *object = add_pair(devices, "container_path", device->container_path,
					 "host_path", device->host_path);
		complete = json_add_string(object, "permissions", device->permissions);
	}
	for (size_t i = 0; complete && i < answer->n_mounts; i++) {
		const V1beta1__Mount *mount = answer->mounts[i];
		cJSON *object = add_pair(mounts, "container_path", mount->container_path,
					 "host_path", mount->host_path);
		complete = cJSON_AddBoolToObject(object, "readonly", mount->read_only != 0) != NULL;
	}
	for (size_t i = 0; complete && i < answer->n_envs; i++)
		complete = add_pair(variables, "key", answer->envs[i]->key, "value",
				    answer->envs[i]->value) != NULL;
	return complete ? STEAL(config) : NULL;
}
