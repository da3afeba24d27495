/* SPDX-License-Identifier: MIT */
#include "tools/gen-device-mounts/container_flags.h"

#include "base/members.h"
#include "base/memory.h"

#include <string.h>

const char *const container_tools[] = {"ctr", "nerdctl", "docker", "cdi", NULL};

/* A flag and its value, which is consumed. */
static void add(struct text_list *flags, const char *flag, char *value)
{
	text_list_add(flags, flag);
	text_list_take(flags, value);
}

/* All tools read --mount as a line of comma-separated values (RFC 4180). */
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

static void add_mount(struct text_list *flags, enum container_tool tool, bool windows,
		      const V1beta1__Mount *mount)
{
	struct text value CLEANUP_TEXT = {0};
	const bool ctr = tool == TOOL_CTR;

	if (windows && tool == TOOL_DOCKER)
		return;
	if (windows && tool == TOOL_NERDCTL) {
		add(flags, "--volume",
		    text_format("%s:%s:ro", mount->host_path, mount->container_path));
		return;
	}
	text_add(&value, windows ? "" : "type=bind");
	add_field(&value, ctr ? "src" : "source", mount->host_path);
	add_field(&value, ctr ? "dst" : "target", mount->container_path);
	if (!ctr)
		text_add(&value, ",readonly");
	else
		text_add(&value, windows ? ",options=ro" : ",options=rbind:ro");
	add(flags, "--mount", text_take(&value));
}

static int add_windows_device(struct text_list *flags, enum container_tool tool,
			      const V1beta1__DeviceSpec *device, struct error *err)
{
	static const char class[] = "class/";
	const bool is_class = text_starts_with(device->host_path, class);

	if (tool == TOOL_DOCKER && !is_class)
		return error_set(err, ERROR_UNSUPPORTED,
				 "docker cannot assign '%s': it uses the first interface of the "
				 "Host Compute Service, which knows only classes of devices",
				 device->host_path);
	if (tool != TOOL_DOCKER && is_class)
		add(flags, "--device",
		    text_format("class://%s", device->host_path + strlen(class)));
	else
		add(flags, "--device", memory_copy(device->host_path));
	return 0;
}

static int add_linux_device(struct text_list *flags, enum container_tool tool,
			    const V1beta1__DeviceSpec *device, struct error *err)
{
	if (tool == TOOL_CTR) {
		if (strcmp(device->host_path, device->container_path) != 0)
			return error_set(err, ERROR_UNSUPPORTED,
					 "ctr cannot give '%s' to a container as '%s'",
					 device->host_path, device->container_path);
		add(flags, "--device", memory_copy(device->host_path));
		return 0;
	}
	if (strchr(device->host_path, ':') != NULL || strchr(device->container_path, ':') != NULL)
		return error_set(err, ERROR_UNSUPPORTED,
				 "%s cannot take '%s', because of the colon in it",
				 container_tools[tool], device->host_path);
	add(flags, "--device",
	    text_format("%s:%s:%s", device->host_path, device->container_path,
			device->permissions));
	return 0;
}

int container_flags_add(struct text_list *flags, enum container_tool tool, bool windows,
			const V1beta1__ContainerAllocateResponse *answer, struct error *err)
{
	int rc = 0;

	if (windows && tool != TOOL_CTR && answer->n_devices > 0)
		add(flags, "--isolation", memory_copy("process"));
	for (size_t i = 0; rc == 0 && i < answer->n_devices; i++)
		rc = windows ? add_windows_device(flags, tool, answer->devices[i], err)
			     : add_linux_device(flags, tool, answer->devices[i], err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < answer->n_mounts; i++)
		add_mount(flags, tool, windows, answer->mounts[i]);
	for (size_t i = 0; i < answer->n_envs; i++)
		add(flags, "--env",
		    text_format("%s=%s", answer->envs[i]->key, answer->envs[i]->value));
	return 0;
}

cJSON *container_config(const V1beta1__ContainerAllocateResponse *answer)
{
	cJSON *config = cJSON_CreateObject();
	cJSON *devices = cJSON_AddArrayToObject(config, "devices");
	cJSON *mounts = cJSON_AddArrayToObject(config, "mounts");
	cJSON *variables = cJSON_AddArrayToObject(config, "envs");

	for (size_t i = 0; i < answer->n_devices; i++) {
		const V1beta1__DeviceSpec *device = answer->devices[i];
		cJSON *object = cJSON_CreateObject();
		json_add_string(object, "container_path", device->container_path);
		json_add_string(object, "host_path", device->host_path);
		json_add_string(object, "permissions", device->permissions);
		array_add(devices, object);
	}
	for (size_t i = 0; i < answer->n_mounts; i++) {
		const V1beta1__Mount *mount = answer->mounts[i];
		cJSON *object = cJSON_CreateObject();
		json_add_string(object, "container_path", mount->container_path);
		json_add_string(object, "host_path", mount->host_path);
		(void)cJSON_AddBoolToObject(object, "readonly", mount->read_only != 0);
		array_add(mounts, object);
	}
	for (size_t i = 0; i < answer->n_envs; i++) {
		cJSON *object = cJSON_CreateObject();
		json_add_string(object, "key", answer->envs[i]->key);
		json_add_string(object, "value", answer->envs[i]->value);
		array_add(variables, object);
	}
	return config;
}
