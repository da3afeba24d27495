/* SPDX-License-Identifier: MIT */
#include "conformance/runner/context.h"

#include "base/file.h"
#include "base/json_members.h"
#include "base/path.h"

#include <string.h>

#define STRING(key, member) JSON_TEXT(struct context, key, member, JSON_OR_NULL, NULL)
#define FLAG(key_, member)                                                                         \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_BOOL, .presence = JSON_REQUIRED,                \
		JSON_AT(struct context, member)                                                    \
	}
#define LIST(key_, list)                                                                           \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_STRINGS, .presence = JSON_REQUIRED,             \
		JSON_COUNTED(struct context, list.items, list.count), .max = INT32_MAX             \
	}

static const struct json_member context_members[] = {
	STRING("runId", run_id),
	STRING("runDirectory", run_directory),
	STRING("outDirectory", out_directory),
	STRING("pluginCommand", plugin_command),
	STRING("attachDirectory", attach_directory),
	STRING("resource", resource),
	STRING("failDevice", fail_device),
	STRING("restoreDevice", restore_device),
	STRING("kubeletProfile", kubelet_profile),
	STRING("launcher", launcher),
	STRING("launcherMissing", launcher_missing),
	STRING("criAddress", cri_address),
	STRING("cgroupParent", cgroup_parent),
	STRING("probeImage", probe_image),
	STRING("nodeFile", node_file),
	STRING("wineDirectory", wine_directory),
	FLAG("referencePlugin", reference_plugin),
	FLAG("hiddenDirectory", hidden_directory),
	FLAG("immutable", immutable),
	FLAG("launchAnyway", launch_anyway),
	FLAG("keep", keep),
	FLAG("thorough", thorough),
	JSON_NUMBER(struct context, "timeoutPercent", timeout_percent, JSON_REQUIRED, 1, 100000),
	LIST("optionalCalls", optional_calls),
	LIST("runtimeHandlers", runtime_handlers),
	LIST("cdiDirectories", cdi_directories),
	JSON_LIST(struct context, "held", held, held_count, JSON_REQUIRED, POD_RESOURCES_HELD_MAX,
		  held_device_members),
	JSON_END_OTHERS, /* redaction */
};

int context_read(const char *run_directory, struct context *context, struct error *err)
{
	char *path CLEANUP_FREE = path_join(run_directory, "context.json");
	char *node_path CLEANUP_FREE = path_join(run_directory, "node.json");
	char *image_path CLEANUP_FREE = path_join(run_directory, "image.json");
	struct discovery_options options = {
		.recorded_node = node_path,
		.filter = {.include_integrated = true, .include_detachable = true},
	};
	struct discovery_snapshot *node = NULL;
	struct redactor *redactor = NULL;
	cJSON *json CLEANUP_JSON = NULL;

	*context = (struct context){0};
	int rc = json_read_file(path, &json, err);
	struct json_at root = json_root(json);
	if (rc == 0)
		rc = json_members_read(&root, context_members, context, &context->arena, err);
	if (rc == 0)
		rc = discovery_take(&options, &node, err);
	if (rc == 0) {
		/* node.json is the harness' own record, also of a live node. */
		node->recorded = context->node_file != NULL || context->wine_directory != NULL;
		context->node = node;

		rc = redactor_from_json(json_pointer(json, "/redaction"), true, &redactor, err);
		context->redactor = redactor;
	}
	if (rc == 0)
		rc = image_manifest_load(image_path, &context->image, err);
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

	char *node = discovery_to_json(context->node);
	int rc = node != NULL ? file_write_atomic(node_path, node, strlen(node), 0600, err)
			      : error_memory(err);
	discovery_string_free(node);
	if (rc == 0)
		rc = image_manifest_write(&context->image, image_path, err);
	if (rc < 0)
		return rc;

	struct members members CLEANUP_MEMBERS = {
		.object = json_members_write(context_members, context)};
	member_item(&members, "redaction", redactor_to_json(context->redactor, true));

	/* Private: it holds the key of redaction. */
	cJSON *json CLEANUP_JSON = members_take(&members);
	char *text CLEANUP_FREE = json_print(json);
	return file_write_atomic(path, text, strlen(text), 0600, err);
}

void context_free(struct context *context)
{
	/* A context that was read owns lists, node and image; one that is being built borrows them.
	 */
	if (context->arena.chunks != NULL) {
		struct redactor *redactor = (struct redactor *)(uintptr_t)context->redactor;
		redactor_free(&redactor);
		discovery_free((struct discovery_snapshot *)(uintptr_t)context->node);
		image_manifest_free(&context->image);
	}
	arena_free(&context->arena);
	*context = (struct context){0};
}

const char *context_handler(const struct context *context, size_t index)
{
	return index < context->runtime_handlers.count ? context->runtime_handlers.items[index]
						       : NULL;
}

bool context_uses_registry(const struct context *context)
{
	return context->hidden_directory ||
	       (context->plugin_command != NULL &&
		strstr(context->plugin_command, "{registry-dir}") != NULL);
}

uint64_t context_limit_ms(const struct context *context, uint64_t limit_ms)
{
	return limit_ms * (uint64_t)context->timeout_percent / 100U;
}

uint64_t context_wait_ms(const struct context *context, uint64_t limit_ms)
{
	return context->timeout_percent > 100 ? context_limit_ms(context, limit_ms) : limit_ms;
}
