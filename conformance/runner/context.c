/* SPDX-License-Identifier: MIT */
#include "conformance/runner/context.h"

#include "base/file.h"
#include "base/json.h"
#include "base/path.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *key;
	size_t offset;
} context_strings[] = {
	{"runId", offsetof(struct context, run_id)},
	{"runDirectory", offsetof(struct context, run_directory)},
	{"outDirectory", offsetof(struct context, out_directory)},
	{"pluginCommand", offsetof(struct context, plugin_command)},
	{"attachDirectory", offsetof(struct context, attach_directory)},
	{"resource", offsetof(struct context, resource)},
	{"kubeletProfile", offsetof(struct context, kubelet_profile)},
	{"launcher", offsetof(struct context, launcher)},
	{"launcherMissing", offsetof(struct context, launcher_missing)},
	{"criAddress", offsetof(struct context, cri_address)},
	{"runtimeHandler", offsetof(struct context, runtime_handler)},
	{"cgroupParent", offsetof(struct context, cgroup_parent)},
	{"probeImage", offsetof(struct context, probe_image)},
	{"nodeFile", offsetof(struct context, node_file)},
	{"wineDirectory", offsetof(struct context, wine_directory)},
};

static const struct {
	const char *key;
	size_t offset;
} context_flags[] = {
	{"referencePlugin", offsetof(struct context, reference_plugin)},
	{"hiddenDirectory", offsetof(struct context, hidden_directory)},
	{"thorough", offsetof(struct context, thorough)},
};

static const char **context_string(struct context *context, size_t i)
{
	return (const char **)(void *)((char *)context + context_strings[i].offset);
}

static bool *context_flag(struct context *context, size_t i)
{
	return (bool *)(void *)((char *)context + context_flags[i].offset);
}

static int context_parse(struct context *context, const cJSON *json, struct error *err)
{
	struct json_at root = json_root(json);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(context_strings); i++)
		rc = json_have_string(&root, context_strings[i].key, context_string(context, i),
				      err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(context_flags); i++)
		rc = json_need_bool(&root, context_flags[i].key, context_flag(context, i), err);
	return rc == 0 ? json_need_int(&root, "timeoutPercent", 1, 100000,
				       &context->timeout_percent, err)
		       : rc;
}

static int context_read_node(const char *run_directory, struct context *context, struct error *err)
{
	char *path CLEANUP_FREE = path_join(run_directory, "node.json");
	struct discovery_options options = {
		.recorded_node = path,
		.filter = {.include_integrated = true, .include_detachable = true},
	};
	struct discovery_snapshot *snapshot = NULL;
	int rc = 0;

	if (path == NULL)
		return error_memory(err);
	rc = discovery_take(&options, &snapshot, err);
	context->node = snapshot;
	return rc;
}

static int context_read_image(const char *run_directory, struct context *context, struct error *err)
{
	char *path CLEANUP_FREE = path_join(run_directory, "image.json");

	return path != NULL ? image_manifest_read(path, &context->image, err) : error_memory(err);
}

int context_read(const char *run_directory, struct context *context, struct error *err)
{
	char *path CLEANUP_FREE = path_join(run_directory, "context.json");
	cJSON *json CLEANUP_JSON = NULL;
	int rc = 0;

	*context = (struct context){0};
	if (path == NULL)
		return error_memory(err);
	rc = json_read_file(path, &json, err);
	if (rc == 0)
		rc = context_parse(context, json, err);
	if (rc < 0)
		return error_wrap(err, rc, "context of the run");
	context->storage = STEAL(json);
	rc = context_read_node(run_directory, context, err);
	rc = rc == 0 ? context_read_image(run_directory, context, err) : rc;
	if (rc < 0) {
		context_free(context);
		return error_wrap(err, rc, "context of the run");
	}
	return 0;
}

static cJSON *context_to_json(const struct context *context)
{
	struct context copy = *context;
	cJSON *json CLEANUP_JSON = cJSON_CreateObject();
	bool added = json != NULL;

	for (size_t i = 0; added && i < ARRAY_SIZE(context_strings); i++) {
		const char *value = *context_string(&copy, i);

		if (value != NULL)
			added = cJSON_AddStringToObject(json, context_strings[i].key, value) !=
				NULL;
	}
	for (size_t i = 0; added && i < ARRAY_SIZE(context_flags); i++)
		added = cJSON_AddBoolToObject(json, context_flags[i].key,
					      *context_flag(&copy, i)) != NULL;
	if (!added || cJSON_AddNumberToObject(json, "timeoutPercent",
					      (double)context->timeout_percent) == NULL)
		return NULL;
	return STEAL(json);
}

int context_write(const struct context *context, struct error *err)
{
	cJSON *json CLEANUP_JSON = context_to_json(context);
	char *path CLEANUP_FREE = path_join(context->run_directory, "context.json");
	char *node_path CLEANUP_FREE = path_join(context->run_directory, "node.json");
	char *image_path CLEANUP_FREE = path_join(context->run_directory, "image.json");
	char *node = discovery_to_json(context->node);
	int rc = 0;

	if (json == NULL || path == NULL || node_path == NULL || image_path == NULL ||
	    node == NULL) {
		discovery_string_free(node);
		return error_memory(err);
	}
	rc = file_write_atomic(node_path, node, strlen(node), 0600, err);
	discovery_string_free(node);
	rc = rc == 0 ? image_manifest_write(&context->image, image_path, err) : rc;
	return rc == 0 ? json_write_file(path, json, err) : rc;
}

void context_free(struct context *context)
{
	cJSON_Delete(context->storage);
	/* A context that was read owns node and image; one that is being built borrows them. */
	if (context->storage != NULL) {
		discovery_free((struct discovery_snapshot *)(uintptr_t)context->node);
		image_manifest_free(&context->image);
	}
	*context = (struct context){0};
}

uint64_t context_limit_ms(const struct context *context, uint64_t limit_ms)
{
	return limit_ms * (uint64_t)context->timeout_percent / 100U;
}

uint64_t context_wait_ms(const struct context *context, uint64_t limit_ms)
{
	return context->timeout_percent > 100 ? context_limit_ms(context, limit_ms) : limit_ms;
}
