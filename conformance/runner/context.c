/* SPDX-License-Identifier: MIT */
#include "conformance/runner/context.h"

#include "base/file.h"
#include "base/members.h"
#include "base/path.h"

#include <stddef.h>
#include <string.h>

struct place {
	const char *key;
	size_t offset;
};

static const struct place strings[] = {
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
	{"cgroupParent", offsetof(struct context, cgroup_parent)},
	{"probeImage", offsetof(struct context, probe_image)},
	{"nodeFile", offsetof(struct context, node_file)},
	{"wineDirectory", offsetof(struct context, wine_directory)},
};

static const struct place flags[] = {
	{"referencePlugin", offsetof(struct context, reference_plugin)},
	{"hiddenDirectory", offsetof(struct context, hidden_directory)},
	{"immutable", offsetof(struct context, immutable)},
	{"launchAnyway", offsetof(struct context, launch_anyway)},
	{"keep", offsetof(struct context, keep)},
	{"thorough", offsetof(struct context, thorough)},
};

static void *at(struct context *context, const struct place *place)
{
	return (char *)context + place->offset;
}

static int read_files(const char *directory, struct context *context, struct error *err)
{
	char *path CLEANUP_FREE = path_join(directory, "context.json");
	char *node_path CLEANUP_FREE = path_join(directory, "node.json");
	char *image_path CLEANUP_FREE = path_join(directory, "image.json");
	struct discovery_options options = {
		.recorded_node = node_path,
		.filter = {.include_integrated = true, .include_detachable = true},
	};
	struct discovery_snapshot *node = NULL;
	struct redactor *redactor = NULL;
	struct json_at directories = {0};
	cJSON *json = NULL;

	int rc = json_read_file(path, &json, err);
	context->storage = json;
	struct json_at root = json_root(json);
	if (rc == 0)
		rc = json_need(&root, "cdiDirectories", JSON_ARRAY, &directories, err);
	for (size_t i = 0; rc == 0 && i < json_count(&directories); i++) {
		struct json_at item = {0};
		rc = json_element(&directories, i, JSON_STRING, &item, err);
		if (rc == 0)
			(void)text_list_add(&context->cdi_directories, item.node->valuestring,
					    NULL);
	}
	json_each (handler, json_pointer(json, "/runtimeHandlers")) {
		if (cJSON_IsString(handler))
			(void)text_list_add(&context->runtime_handlers, handler->valuestring, NULL);
	}
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(strings); i++)
		rc = json_have_string(&root, strings[i].key, at(context, &strings[i]), err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(flags); i++)
		rc = json_need_bool(&root, flags[i].key, at(context, &flags[i]), err);
	if (rc == 0)
		rc = json_need_int(&root, "timeoutPercent", 1, 100000, &context->timeout_percent,
				   err);

	if (rc == 0)
		rc = discovery_take(&options, &node, err);
	if (rc < 0)
		return rc;
	/* node.json is the harness' own record, also of a live node. */
	node->recorded = context->node_file != NULL || context->wine_directory != NULL;
	context->node = node;

	rc = redactor_from_json(json_pointer(json, "/redaction"), true, &redactor, err);
	context->redactor = redactor;
	return rc == 0 ? image_manifest_load(image_path, &context->image, err) : rc;
}

int context_read(const char *run_directory, struct context *context, struct error *err)
{
	*context = (struct context){0};
	int rc = read_files(run_directory, context, err);
	if (rc == 0)
		return 0;
	context_free(context);
	return error_wrap(err, rc, "context of the run");
}

int context_write(const struct context *context, struct error *err)
{
	char *path CLEANUP_FREE = path_join(context->run_directory, "context.json");
	char *node_path CLEANUP_FREE = path_join(context->run_directory, "node.json");
	char *image_path CLEANUP_FREE = path_join(context->run_directory, "image.json");
	struct context copy = *context;
	struct members members CLEANUP_MEMBERS = members_new();

	char *node = discovery_to_json(context->node);
	int rc = node != NULL ? file_write_atomic(node_path, node, strlen(node), 0600, err)
			      : error_memory(err);
	discovery_string_free(node);
	if (rc == 0)
		rc = image_manifest_write(&context->image, image_path, err);
	if (rc < 0)
		return rc;

	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		member_string(&members, strings[i].key, *(const char **)at(&copy, &strings[i]));
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		member_bool(&members, flags[i].key, *(bool *)at(&copy, &flags[i]));
	member_item(&members, "runtimeHandlers", json_new_strings(&context->runtime_handlers));
	member_int(&members, "timeoutPercent", context->timeout_percent);
	member_item(&members, "cdiDirectories", json_new_strings(&context->cdi_directories));
	member_item(&members, "redaction", redactor_to_json(context->redactor, true));

	/* Private: it holds the key of redaction. */
	cJSON *json CLEANUP_JSON = members_take(&members);
	char *text CLEANUP_FREE = json_print(json);
	return file_write_atomic(path, text, strlen(text), 0600, err);
}

void context_free(struct context *context)
{
	cJSON_Delete(context->storage);
	/* A context that was read owns lists, node and image; one that is being built borrows them.
	 */
	if (context->storage != NULL) {
		struct redactor *redactor = (struct redactor *)(uintptr_t)context->redactor;
		redactor_free(&redactor);
		text_list_free(&context->cdi_directories);
		discovery_free((struct discovery_snapshot *)(uintptr_t)context->node);
		image_manifest_free(&context->image);
		text_list_free(&context->runtime_handlers);
	}
	*context = (struct context){0};
}

const char *context_handler(const struct context *context, size_t index)
{
	return index < context->runtime_handlers.count ? context->runtime_handlers.items[index]
						       : NULL;
}

uint64_t context_limit_ms(const struct context *context, uint64_t limit_ms)
{
	return limit_ms * (uint64_t)context->timeout_percent / 100U;
}

uint64_t context_wait_ms(const struct context *context, uint64_t limit_ms)
{
	return context->timeout_percent > 100 ? context_limit_ms(context, limit_ms) : limit_ms;
}
