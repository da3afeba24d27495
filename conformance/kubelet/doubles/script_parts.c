/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/doubles/script_parts.h"

#include "base/cleanup.h"
#include "rpc/message.h"
#include "rpc/rpc.h"

#include <string.h>

enum { COUNT_MAX = 1000000000, DEVICES_MAX = 1000000 };

int script_only_keys(const struct json_at *object, const char *const *keys, struct error *err)
{
	json_each (child, object->node) {
		struct json_at at = {.node = child, .parent = object, .key = child->string};
		if (keys[text_position(keys, child->string)] == NULL)
			return json_error(&at, err, "unknown member");
	}
	return 0;
}

int script_read_count(const struct json_at *at, const char *key, uint64_t *out, struct error *err)
{
	int64_t value = (int64_t)*out;
	int rc = json_have_int(at, key, 0, COUNT_MAX, &value, err);
	*out = (uint64_t)value;
	return rc;
}

/* U+2400 in a script stands for NUL, which JSON text cannot hold here. */
static char *copy_string(const char *string)
{
	static const char symbol[] = "\xe2\x90\x80";
	struct text text CLEANUP_TEXT = {0};
	text_append(&text, "", 0);
	while (*string != '\0') {
		bool hit = text_starts_with(string, symbol);
		text_append(&text, hit ? MESSAGE_NUL : string, hit ? sizeof(MESSAGE_NUL) - 1 : 1);
		string += hit ? sizeof(symbol) - 1 : 1;
	}
	return text_take(&text);
}

int script_read_string(const struct json_at *at, const char *key, char **out, struct error *err)
{
	const char *value = NULL;
	int rc = json_have_string(at, key, &value, err);
	if (rc != 0 || value == NULL)
		return rc;
	free(*out);
	*out = copy_string(value);
	return *out == NULL ? error_memory(err) : 0;
}

int script_read_strings(const struct json_at *at, const char *key, char ***out, size_t *count,
			struct error *err)
{
	struct json_at array = {0};
	int rc = json_have(at, key, JSON_ARRAY, &array, err);
	if (rc != 0 || array.node == NULL)
		return rc;
	size_t size = json_count(&array);
	*out = calloc(size + 1, sizeof(**out));
	if (*out == NULL)
		return error_memory(err);
	*count = size;
	for (size_t i = 0; rc == 0 && i < size; i++) {
		struct json_at item = {0};
		rc = json_element(&array, i, JSON_STRING, &item, err);
		if (rc == 0 && ((*out)[i] = copy_string(item.node->valuestring)) == NULL)
			rc = error_memory(err);
	}
	return rc;
}

void script_strings_free(char **strings, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(strings[i]);
	free(strings);
}

int script_read_code(const struct json_at *at, int *out, struct error *err)
{
	struct json_at code = {0};
	int rc = json_have(at, "code", JSON_ANY, &code, err);
	if (rc != 0 || code.node == NULL)
		return rc;
	for (int i = RPC_OK; cJSON_IsString(code.node) && i <= RPC_UNAUTHENTICATED; i++) {
		if (strcmp(code.node->valuestring, rpc_code_name(i)) == 0) {
			*out = i;
			return 0;
		}
	}
	if (cJSON_IsNumber(code.node) && code.node->valueint >= 0 && code.node->valueint <= 999) {
		*out = code.node->valueint;
		return 0;
	}
	return json_error(&code, err, "expected a gRPC status");
}

static int read_device(const struct json_at *at, struct kubelet_device *out, struct error *err)
{
	static const char *const keys[] = {"id", "health", "numa", NULL};
	struct json_at numa = {0};
	int rc = script_only_keys(at, keys, err);
	out->health = strdup("Healthy");
	if (rc == 0)
		rc = script_read_string(at, "id", &out->id, err);
	if (rc == 0 && out->id == NULL)
		rc = json_error(at, err, "expected an id");
	if (rc == 0)
		rc = script_read_string(at, "health", &out->health, err);
	if (rc == 0)
		rc = json_have(at, "numa", JSON_ARRAY, &numa, err);
	if (rc != 0 || numa.node == NULL)
		return rc;
	out->has_topology = true;
	out->numa = calloc(json_count(&numa) + 1, sizeof(*out->numa));
	if (out->numa == NULL)
		return error_memory(err);
	out->numa_count = json_count(&numa);
	for (size_t i = 0; rc == 0 && i < out->numa_count; i++) {
		struct json_at node = {0};
		rc = json_element(&numa, i, JSON_NUMBER, &node, err);
		if (rc == 0)
			out->numa[i] = (int64_t)node.node->valuedouble;
	}
	return rc;
}

/* json_element() for a walk through a long array. */
static int object_of(const struct json_at *array, const cJSON *child, size_t index,
		     struct json_at *out, struct error *err)
{
	*out = (struct json_at){.node = child, .parent = array, .index = index};
	return cJSON_IsObject(child) ? 0 : json_error(out, err, "expected an object");
}

int script_read_devices(const struct json_at *at, struct kubelet_device_list *out,
			struct error *err)
{
	struct json_at devices = {0};
	int64_t more = 0;
	const char *prefix = "device-";
	int rc = json_have(at, "devices", JSON_ARRAY, &devices, err);
	if (rc == 0)
		rc = json_have_int(at, "device_count", 0, DEVICES_MAX, &more, err);
	if (rc == 0)
		rc = json_have_string(at, "device_prefix", &prefix, err);
	if (rc != 0)
		return rc;
	size_t named = json_count(&devices);
	out->items = calloc(named + (size_t)more + 1, sizeof(*out->items));
	if (out->items == NULL)
		return error_memory(err);
	const cJSON *next = named > 0 ? devices.node->child : NULL;
	for (; rc == 0 && next != NULL; next = next->next, out->count++) {
		struct json_at item = {0};
		rc = object_of(&devices, next, out->count, &item, err);
		if (rc == 0)
			rc = read_device(&item, &out->items[out->count], err);
	}
	for (int64_t i = 0; rc == 0 && i < more; i++) {
		struct kubelet_device *device = &out->items[out->count++];
		device->id = text_format("%s%lld", prefix, (long long)i);
		device->health = strdup("Healthy");
		if (device->id == NULL || device->health == NULL)
			rc = error_memory(err);
	}
	return rc;
}

static int read_pairs(const struct json_at *parent, const char *key, struct script_pair **out,
		      size_t *count, struct error *err)
{
	struct json_at at = {0};
	int rc = json_have(parent, key, JSON_OBJECT, &at, err);
	if (rc != 0 || at.node == NULL)
		return rc;
	*out = calloc((size_t)cJSON_GetArraySize(at.node) + 1, sizeof(**out));
	if (*out == NULL)
		return error_memory(err);
	for (const cJSON *item = at.node->child; rc == 0 && item != NULL; item = item->next) {
		struct script_pair *pair = &(*out)[(*count)++];
		const char *value = NULL;
		rc = json_need_string(&at, item->string, &value, err);
		if (rc != 0)
			break;
		pair->name = copy_string(item->string);
		pair->value = copy_string(value);
		if (pair->name == NULL || pair->value == NULL)
			rc = error_memory(err);
	}
	return rc;
}

/* An empty string where a script says nothing. */
static int need_strings(char **first, char **second, char **third, struct error *err)
{
	char **const all[] = {first, second, third};
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (all[i] == NULL || *all[i] != NULL)
			continue;
		*all[i] = strdup("");
		if (*all[i] == NULL)
			return error_memory(err);
	}
	return 0;
}

static int read_mounts(const struct json_at *parent, struct script_template *out, struct error *err)
{
	static const char *const keys[] = {"container_path", "host_path", "read_only", NULL};
	struct json_at array = {0};
	int rc = json_have(parent, "mounts", JSON_ARRAY, &array, err);
	if (rc != 0)
		return rc;
	out->mounts = calloc(json_count(&array) + 1, sizeof(*out->mounts));
	if (out->mounts == NULL)
		return error_memory(err);
	const cJSON *next = array.node != NULL ? array.node->child : NULL;
	for (; rc == 0 && next != NULL; next = next->next) {
		struct script_mount *mount = &out->mounts[out->mount_count++];
		struct json_at at = {0};
		rc = object_of(&array, next, out->mount_count - 1, &at, err);
		if (rc == 0)
			rc = script_only_keys(&at, keys, err);
		if (rc == 0)
			rc = script_read_string(&at, keys[0], &mount->container_path, err);
		if (rc == 0)
			rc = script_read_string(&at, keys[1], &mount->host_path, err);
		if (rc == 0)
			rc = json_have_bool(&at, keys[2], &mount->read_only, err);
		if (rc == 0)
			rc = need_strings(&mount->container_path, &mount->host_path, NULL, err);
	}
	return rc;
}

static int read_nodes(const struct json_at *parent, struct script_template *out, struct error *err)
{
	static const char *const keys[] = {"container_path", "host_path", "permissions", NULL};
	struct json_at array = {0};
	int rc = json_have(parent, "devices", JSON_ARRAY, &array, err);
	if (rc != 0)
		return rc;
	out->devices = calloc(json_count(&array) + 1, sizeof(*out->devices));
	if (out->devices == NULL)
		return error_memory(err);
	const cJSON *next = array.node != NULL ? array.node->child : NULL;
	for (; rc == 0 && next != NULL; next = next->next) {
		struct script_device_node *node = &out->devices[out->device_count++];
		struct json_at at = {0};
		rc = object_of(&array, next, out->device_count - 1, &at, err);
		if (rc == 0)
			rc = script_only_keys(&at, keys, err);
		if (rc == 0)
			rc = script_read_string(&at, keys[0], &node->container_path, err);
		if (rc == 0)
			rc = script_read_string(&at, keys[1], &node->host_path, err);
		if (rc == 0)
			rc = script_read_string(&at, keys[2], &node->permissions, err);
		if (rc == 0)
			rc = need_strings(&node->container_path, &node->host_path,
					  &node->permissions, err);
	}
	return rc;
}

int script_read_template(const struct json_at *parent, const char *key, struct script_template *out,
			 struct error *err)
{
	static const char *const keys[] = {"envs",	  "mounts",	 "devices",
					   "annotations", "cdi_devices", NULL};
	struct json_at at = {0};
	int rc = json_have(parent, key, JSON_OBJECT, &at, err);
	if (rc != 0 || at.node == NULL)
		return rc;
	rc = script_only_keys(&at, keys, err);
	if (rc == 0)
		rc = read_pairs(&at, "envs", &out->envs, &out->env_count, err);
	if (rc == 0)
		rc = read_pairs(&at, "annotations", &out->annotations, &out->annotation_count, err);
	if (rc == 0)
		rc = read_mounts(&at, out, err);
	if (rc == 0)
		rc = read_nodes(&at, out, err);
	return rc == 0 ? script_read_strings(&at, "cdi_devices", &out->cdi_devices,
					     &out->cdi_device_count, err)
		       : rc;
}

int script_read_own(const struct json_at *parent, struct script *script, struct error *err)
{
	struct json_at at = {0};
	int rc = json_have(parent, "ids", JSON_OBJECT, &at, err);
	if (rc != 0 || at.node == NULL)
		return rc;
	script->own = calloc((size_t)cJSON_GetArraySize(at.node) + 1, sizeof(*script->own));
	if (script->own == NULL)
		return error_memory(err);
	for (const cJSON *item = at.node->child; rc == 0 && item != NULL; item = item->next) {
		struct script_own *own = &script->own[script->own_count++];
		own->id = copy_string(item->string);
		rc = own->id != NULL ? script_read_template(&at, item->string, &own->part, err)
				     : error_memory(err);
	}
	return rc;
}

static void pairs_free(struct script_pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(pairs[i].name);
		free(pairs[i].value);
	}
	free(pairs);
}

void script_template_free(struct script_template *template)
{
	pairs_free(template->envs, template->env_count);
	pairs_free(template->annotations, template->annotation_count);
	for (size_t i = 0; i < template->mount_count; i++) {
		free(template->mounts[i].container_path);
		free(template->mounts[i].host_path);
	}
	for (size_t i = 0; i < template->device_count; i++) {
		free(template->devices[i].container_path);
		free(template->devices[i].host_path);
		free(template->devices[i].permissions);
	}
	free(template->mounts);
	free(template->devices);
	script_strings_free(template->cdi_devices, template->cdi_device_count);
}

int script_read_fault(const struct json_at *parent, const char *key, struct script_fault *out,
		      struct error *err)
{
	static const char *const keys[] = {"code",	"message", "delay_ms", "hang",	"exit",
					   "malformed", "empty",   "cut",      "extra", "padding",
					   "skip",	"times",   NULL};
	struct json_at at = {0};
	int64_t exit_code = -1;
	int rc = json_have(parent, key, JSON_OBJECT, &at, err);
	if (rc != 0 || at.node == NULL)
		return rc;
	out->set = true;
	rc = script_only_keys(&at, keys, err);
	if (rc == 0)
		rc = script_read_code(&at, &out->code, err);
	if (rc == 0)
		rc = script_read_string(&at, "message", &out->message, err);
	if (rc == 0)
		rc = script_read_count(&at, "delay_ms", &out->delay_ms, err);
	if (rc == 0)
		rc = json_have_bool(&at, "hang", &out->hang, err);
	if (rc == 0)
		rc = json_have_int(&at, "exit", 0, 255, &exit_code, err);
	if (rc == 0)
		rc = json_have_bool(&at, "malformed", &out->malformed, err);
	if (rc == 0)
		rc = json_have_bool(&at, "empty", &out->empty, err);
	if (rc == 0)
		rc = json_have_bool(&at, "cut", &out->cut, err);
	if (rc == 0)
		rc = script_read_count(&at, "extra", &out->extra, err);
	if (rc == 0)
		rc = script_read_count(&at, "padding", &out->padding, err);
	if (rc == 0)
		rc = script_read_count(&at, "skip", &out->skip, err);
	const cJSON *times = cJSON_GetObjectItemCaseSensitive(at.node, "times");
	out->exit_code = (int)exit_code;
	if (rc != 0 || times == NULL)
		return rc;
	out->times = 0;
	return script_read_count(&at, "times", &out->times, err);
}
