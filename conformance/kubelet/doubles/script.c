/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/doubles/script.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "conformance/kubelet/doubles/script_parts.h"
#include "rpc/rpc.h"

#include <string.h>

static const char *const method_names[SCRIPT_METHOD_COUNT] = {
	[SCRIPT_OPTIONS] = "GetDevicePluginOptions",   [SCRIPT_LIST_AND_WATCH] = "ListAndWatch",
	[SCRIPT_PREFERRED] = "GetPreferredAllocation", [SCRIPT_ALLOCATE] = "Allocate",
	[SCRIPT_PRE_START] = "PreStartContainer",      [SCRIPT_GET_INFO] = "GetInfo",
	[SCRIPT_NOTIFY] = "NotifyRegistrationStatus",
};

const char *script_method_name(enum script_method method)
{
	return method_names[method];
}

static int read_options(const struct json_at *parent, const char *key,
			struct kubelet_plugin_options *out, struct error *err)
{
	static const char *const keys[] = {"pre_start_required",
					   "get_preferred_allocation_available", NULL};
	struct json_at at = {0};
	int rc = json_have(parent, key, JSON_OBJECT, &at, err);
	if (rc != 0 || at.node == NULL)
		return rc;
	rc = script_only_keys(&at, keys, err);
	if (rc == 0)
		rc = json_have_bool(&at, keys[0], &out->pre_start_required, err);
	if (rc == 0)
		rc = json_have_bool(&at, keys[1], &out->get_preferred_allocation_available, err);
	return rc;
}

/* Leaves *out alone when the member is absent. */
static int read_choice(const struct json_at *parent, const char *key, const char *const *names,
		       int *out, struct error *err)
{
	const char *name = NULL;
	struct json_at at = {0};
	int rc = json_have_string(parent, key, &name, err);
	if (rc != 0 || name == NULL)
		return rc;
	for (int i = 0; names[i] != NULL; i++) {
		if (strcmp(names[i], name) == 0) {
			*out = i;
			return 0;
		}
	}
	rc = json_need(parent, key, JSON_STRING, &at, err);
	return rc != 0 ? rc : json_error(&at, err, "\"%s\" is none of the choices", name);
}

static int read_register(const struct json_at *parent, struct script *script, struct error *err)
{
	static const char *const keys[] = {"via",	  "delay_ms", "retry_ms",  "retries",
					   "deadline_ms", "repeat",   "repeat_ms", "before_listen",
					   "type",	  "name",     "endpoint",  NULL};
	static const char *const ways[] = {"register", "watcher", "none", NULL};
	struct json_at at = {0};
	int via = SCRIPT_VIA_REGISTER;
	int rc = json_have(parent, "register", JSON_OBJECT, &at, err);
	if (rc != 0 || at.node == NULL)
		return rc;
	rc = script_only_keys(&at, keys, err);
	if (rc == 0)
		rc = read_choice(&at, "via", ways, &via, err);
	script->via = (enum script_via)via;
	if (rc == 0)
		rc = script_read_count(&at, "delay_ms", &script->register_delay_ms, err);
	if (rc == 0)
		rc = script_read_count(&at, "retry_ms", &script->register_retry_ms, err);
	if (rc == 0)
		rc = json_have_int(&at, "retries", -1, 1000000, &script->register_retries, err);
	if (rc == 0)
		rc = script_read_count(&at, "deadline_ms", &script->register_deadline_ms, err);
	if (rc == 0)
		rc = json_have_int(&at, "repeat", 0, 1000000, &script->register_repeat, err);
	if (rc == 0)
		rc = script_read_count(&at, "repeat_ms", &script->register_repeat_ms, err);
	if (rc == 0)
		rc = json_have_bool(&at, "before_listen", &script->register_before_listen, err);
	if (rc == 0)
		rc = script_read_string(&at, "type", &script->info_type, err);
	if (rc == 0)
		rc = script_read_string(&at, "name", &script->info_name, err);
	return rc == 0 ? script_read_string(&at, "endpoint", &script->info_endpoint, err) : rc;
}

static int read_lists(const struct json_at *at, struct script *script, struct error *err)
{
	static const char *const keys[] = {"after_ms", "devices", "device_count", "device_prefix",
					   NULL};
	struct json_at lists = {0};
	int rc = json_have(at, "lists", JSON_ARRAY, &lists, err);
	if (rc != 0)
		return rc;
	size_t count = json_count(&lists);
	script->lists = calloc(count + 1, sizeof(*script->lists));
	if (script->lists == NULL)
		return error_memory(err);
	script->list_count = count + 1;
	rc = script_read_devices(at, &script->lists[0].devices, err);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		struct json_at list = {0};
		rc = json_element(&lists, i, JSON_OBJECT, &list, err);
		if (rc == 0)
			rc = script_only_keys(&list, keys, err);
		if (rc == 0)
			rc = script_read_count(&list, "after_ms", &script->lists[i + 1].after_ms,
					       err);
		if (rc == 0)
			rc = script_read_devices(&list, &script->lists[i + 1].devices, err);
	}
	return rc;
}

static int read_end(const struct json_at *parent, struct script_end *end, struct error *err)
{
	static const char *const keys[] = {"after_ms", "code", "message", "cut", NULL};
	struct json_at at = {0};
	int rc = json_have(parent, "end", JSON_OBJECT, &at, err);
	if (rc != 0 || at.node == NULL)
		return rc;
	end->set = true;
	rc = script_only_keys(&at, keys, err);
	if (rc == 0)
		rc = script_read_count(&at, "after_ms", &end->after_ms, err);
	if (rc == 0)
		rc = script_read_code(&at, &end->code, err);
	if (rc == 0)
		rc = script_read_string(&at, "message", &end->message, err);
	return rc == 0 ? json_have_bool(&at, "cut", &end->cut, err) : rc;
}

static int read_preferred(const struct json_at *parent, struct script *script, struct error *err)
{
	struct json_at at = {0};
	int rc = json_have(parent, "preferred", JSON_ANY, &at, err);
	if (rc != 0 || at.node == NULL)
		return rc;
	if (cJSON_IsArray(at.node)) {
		script->preference = SCRIPT_PREFER_IDS;
		return script_read_strings(parent, "preferred", &script->preferred_ids,
					   &script->preferred_id_count, err);
	}
	static const char *const names[] = {"first", "last", "turns", NULL};
	int choice = SCRIPT_PREFER_FIRST;
	rc = read_choice(parent, "preferred", names, &choice, err);
	script->preference = (enum script_preference)choice;
	return rc;
}

static int read_allocate(const struct json_at *parent, struct script *script, struct error *err)
{
	static const char *const keys[] = {"once", "each", "ids", "later", NULL};
	static const char *const later_keys[] = {"skip", "once", "each", NULL};
	struct json_at at = {0};
	struct json_at later = {0};
	int rc = json_have(parent, "allocate", JSON_OBJECT, &at, err);
	if (rc != 0 || at.node == NULL)
		return rc;
	rc = script_only_keys(&at, keys, err);
	if (rc == 0)
		rc = script_read_template(&at, "once", &script->once, err);
	if (rc == 0)
		rc = script_read_template(&at, "each", &script->each, err);
	if (rc == 0)
		rc = script_read_own(&at, script, err);
	if (rc == 0)
		rc = json_have(&at, "later", JSON_OBJECT, &later, err);
	script->changes = later.node != NULL;
	if (rc != 0 || !script->changes)
		return rc;
	rc = script_only_keys(&later, later_keys, err);
	if (rc == 0)
		rc = script_read_count(&later, "skip", &script->later_skip, err);
	if (rc == 0)
		rc = script_read_template(&later, "once", &script->later_once, err);
	return rc == 0 ? script_read_template(&later, "each", &script->later_each, err) : rc;
}

static int read_method(const struct json_at *at, enum script_method *out, struct error *err)
{
	const char *names[SCRIPT_METHOD_COUNT + 1] = {NULL};
	int method = (int)*out;
	memcpy(names, method_names, sizeof(method_names));
	int rc = read_choice(at, "method", names, &method, err);
	*out = (enum script_method)method;
	return rc;
}

static int read_later_list(const struct json_at *parent, const char *key,
			   struct script_later_list *out, struct error *err)
{
	static const char *const keys[] = {"method",	   "skip",	    "devices",
					   "device_count", "device_prefix", NULL};
	struct json_at at = {0};
	int rc = json_have(parent, key, JSON_OBJECT, &at, err);
	out->set = at.node != NULL;
	if (rc != 0 || !out->set)
		return rc;
	rc = script_only_keys(&at, keys, err);
	if (rc == 0)
		rc = read_method(&at, &out->method, err);
	if (rc == 0)
		rc = script_read_count(&at, "skip", &out->skip, err);
	return rc == 0 ? script_read_devices(&at, &out->devices, err) : rc;
}

static int read_leak(const struct json_at *parent, struct script_leak *leak, struct error *err)
{
	static const char *const keys[] = {"method", "bytes", "descriptors", "threads", NULL};
	struct json_at at = {0};
	int rc = json_have(parent, "leak", JSON_OBJECT, &at, err);
	if (rc != 0 || at.node == NULL)
		return rc;
	rc = script_only_keys(&at, keys, err);
	if (rc == 0)
		rc = read_method(&at, &leak->method, err);
	if (rc == 0)
		rc = script_read_count(&at, "bytes", &leak->bytes, err);
	if (rc == 0)
		rc = script_read_count(&at, "descriptors", &leak->descriptors, err);
	return rc == 0 ? script_read_count(&at, "threads", &leak->threads, err) : rc;
}

static int read_faults(const struct json_at *parent, struct script *script, struct error *err)
{
	struct json_at at = {0};
	int rc = json_have(parent, "rpc", JSON_OBJECT, &at, err);
	if (rc != 0 || at.node == NULL)
		return rc;
	const char *keys[SCRIPT_METHOD_COUNT + 1] = {NULL};
	for (int i = 0; i < SCRIPT_METHOD_COUNT; i++)
		keys[i] = method_names[i];
	rc = script_only_keys(&at, keys, err);
	for (int i = 0; rc == 0 && i < SCRIPT_METHOD_COUNT; i++)
		rc = script_read_fault(&at, method_names[i], &script->faults[i], err);
	return rc;
}

static int read_reactions(const struct json_at *at, struct script *script, struct error *err)
{
	static const char *const names[] = {"register", "ignore", "exit", NULL};
	int kubelet_socket = SCRIPT_REACT_REGISTER;
	int socket_removed = SCRIPT_REACT_REGISTER;
	int rc = read_choice(at, "on_kubelet_socket", names, &kubelet_socket, err);
	if (rc == 0)
		rc = read_choice(at, "on_socket_removed", names, &socket_removed, err);
	script->on_kubelet_socket = (enum script_reaction)kubelet_socket;
	script->on_socket_removed = (enum script_reaction)socket_removed;
	return rc == 0 ? script_read_count(at, "reaction_delay_ms", &script->reaction_delay_ms, err)
		       : rc;
}

static int read_identity(const struct json_at *at, struct script *script, struct error *err)
{
	int rc = script_read_string(at, "resource", &script->resource, err);
	if (rc == 0)
		rc = script_read_string(at, "version", &script->version, err);
	if (rc == 0)
		rc = script_read_string(at, "socket", &script->socket, err);
	if (rc == 0)
		rc = script_read_string(at, "endpoint", &script->endpoint, err);
	if (rc == 0)
		rc = json_have_bool(at, "fresh_socket", &script->fresh_socket, err);
	if (rc == 0)
		rc = read_options(at, "options", &script->options, err);
	if (rc != 0)
		return rc;
	if (script->resource == NULL)
		script->resource = strdup("example.com/gpu");
	if (script->version == NULL)
		script->version = strdup("v1beta1");
	if (script->resource == NULL || script->version == NULL)
		return error_memory(err);
	const cJSON *sent = cJSON_GetObjectItemCaseSensitive(at->node, "sent_options");
	script->send_options = !cJSON_IsNull(sent);
	script->sent_options = script->options;
	return script->send_options ? read_options(at, "sent_options", &script->sent_options, err)
				    : 0;
}

/* Reads misbehaviour that comes later, or that no single answer shows. */
static int read_misdeeds(const struct json_at *at, struct script *script, struct error *err)
{
	const struct {
		const char *key;
		bool *flag;
	} flags[] = {
		{"repeat_lists", &script->repeat_lists},
		{"block_on_window", &script->block_on_window},
		{"accumulate", &script->accumulate},
		{"shared_state", &script->shared_state},
		{"log_ids", &script->log_ids},
	};
	int rc = read_later_list(at, "later_streams", &script->later_streams, err);
	if (rc == 0)
		rc = read_later_list(at, "after_call", &script->after_call, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(flags); i++)
		rc = json_have_bool(at, flags[i].key, flags[i].flag, err);
	if (rc == 0)
		rc = script_read_count(at, "socket_mode", &script->socket_mode, err);
	if (rc == 0)
		rc = script_read_count(at, "directory_mode", &script->directory_mode, err);
	if (rc == 0)
		rc = script_read_count(at, "answered_ids", &script->answered_ids, err);
	if (rc == 0)
		rc = script_read_string(at, "touch", &script->touch, err);
	return rc == 0 ? read_leak(at, &script->leak, err) : rc;
}

static int read_script(const struct json_at *at, struct script *script, struct error *err)
{
	static const char *const keys[] = {"resource",
					   "version",
					   "socket",
					   "endpoint",
					   "fresh_socket",
					   "options",
					   "sent_options",
					   "register",
					   "on_kubelet_socket",
					   "on_socket_removed",
					   "reaction_delay_ms",
					   "devices",
					   "device_count",
					   "device_prefix",
					   "lists",
					   "end",
					   "storm_ms",
					   "goaway_ms",
					   "accept_unknown",
					   "accept_unhealthy",
					   "needs_stream",
					   "remove_stale",
					   "one_instance",
					   "max_ids",
					   "pre_start_link",
					   "allocate_link",
					   "preferred",
					   "allocate",
					   "rpc",
					   "repeat_lists",
					   "block_on_window",
					   "accumulate",
					   "shared_state",
					   "log_ids",
					   "later_streams",
					   "after_call",
					   "socket_mode",
					   "directory_mode",
					   "answered_ids",
					   "touch",
					   "leak",
					   NULL};
	int rc = script_only_keys(at, keys, err);
	if (rc == 0)
		rc = read_identity(at, script, err);
	if (rc == 0)
		rc = read_register(at, script, err);
	if (rc == 0)
		rc = read_reactions(at, script, err);
	if (rc == 0)
		rc = read_lists(at, script, err);
	if (rc == 0)
		rc = read_end(at, &script->end, err);
	if (rc == 0)
		rc = script_read_count(at, "storm_ms", &script->storm_ms, err);
	if (rc == 0)
		rc = script_read_count(at, "goaway_ms", &script->goaway_ms, err);
	if (rc == 0)
		rc = json_have_bool(at, "accept_unknown", &script->accept_unknown, err);
	if (rc == 0)
		rc = json_have_bool(at, "accept_unhealthy", &script->accept_unhealthy, err);
	if (rc == 0)
		rc = json_have_bool(at, "needs_stream", &script->needs_stream, err);
	if (rc == 0)
		rc = json_have_bool(at, "remove_stale", &script->remove_stale, err);
	if (rc == 0)
		rc = json_have_bool(at, "one_instance", &script->one_instance, err);
	if (rc == 0)
		rc = script_read_count(at, "max_ids", &script->max_ids, err);
	if (rc == 0)
		rc = script_read_string(at, "pre_start_link", &script->pre_start_link, err);
	if (rc == 0)
		rc = script_read_string(at, "allocate_link", &script->allocate_link, err);
	if (rc == 0)
		rc = read_preferred(at, script, err);
	if (rc == 0)
		rc = read_allocate(at, script, err);
	if (rc == 0)
		rc = read_misdeeds(at, script, err);
	return rc == 0 ? read_faults(at, script, err) : rc;
}

static int read_plugins(const struct json_at *root, struct script_file *file, struct error *err)
{
	struct json_at plugins = {0};
	int rc = json_have(root, "plugins", JSON_ARRAY, &plugins, err);
	if (rc != 0)
		return rc;
	size_t count = json_count(&plugins);
	file->plugins = calloc(count + 1, sizeof(*file->plugins));
	if (file->plugins == NULL)
		return error_memory(err);
	file->plugin_count = count;
	for (size_t i = 0; rc == 0 && i < count; i++) {
		struct script *script = &file->plugins[i];
		struct json_at at = {0};
		script->fresh_socket = true;
		script->register_retry_ms = 1000;
		script->register_retries = -1;
		for (int method = 0; method < SCRIPT_METHOD_COUNT; method++)
			script->faults[method] = (struct script_fault){
				.code = -1, .exit_code = -1, .times = UINT64_MAX};
		rc = json_element(&plugins, i, JSON_OBJECT, &at, err);
		if (rc == 0)
			rc = read_script(&at, script, err);
	}
	return rc;
}

static int read_process(const struct json_at *root, struct script_file *file, struct error *err)
{
	static const char *const signals[] = {"stop", "ignore", "leave-socket", "die", NULL};
	int on_sigterm = SCRIPT_SIGNAL_STOP;
	int64_t exit_code = 0;
	file->exit_after_ms = -1;
	int rc = read_choice(root, "on_sigterm", signals, &on_sigterm, err);
	if (rc == 0)
		rc = json_have_int(root, "exit_after_ms", -1, 86400000, &file->exit_after_ms, err);
	if (rc == 0)
		rc = json_have_int(root, "exit_code", 0, 255, &exit_code, err);
	if (rc == 0)
		rc = script_read_string(root, "output", &file->output, err);
	if (rc == 0)
		rc = script_read_count(root, "binary_output", &file->binary_output, err);
	if (rc == 0)
		rc = script_read_count(root, "log_lines", &file->log_lines, err);
	if (rc == 0)
		rc = json_have_bool(root, "spin", &file->spin, err);
	file->on_sigterm = (enum script_signal)on_sigterm;
	file->exit_code = (int)exit_code;
	return rc;
}

int script_file_read(const cJSON *json, struct script_file *out, struct error *err)
{
	static const char *const keys[] = {"plugins",	"on_sigterm", "exit_after_ms",
					   "exit_code", "output",     "binary_output",
					   "log_lines", "spin",	      NULL};
	struct json_at root = json_root(json);
	*out = (struct script_file){0};
	int rc = script_only_keys(&root, keys, err);
	if (rc == 0)
		rc = read_plugins(&root, out, err);
	if (rc == 0)
		rc = read_process(&root, out, err);
	if (rc != 0)
		script_file_free(out);
	return rc;
}

static void script_free(struct script *script)
{
	free(script->resource);
	free(script->version);
	free(script->socket);
	free(script->pre_start_link);
	free(script->allocate_link);
	free(script->endpoint);
	free(script->info_type);
	free(script->info_name);
	free(script->info_endpoint);
	free(script->touch);
	kubelet_device_list_free(&script->later_streams.devices);
	kubelet_device_list_free(&script->after_call.devices);
	for (size_t i = 0; i < script->list_count; i++)
		kubelet_device_list_free(&script->lists[i].devices);
	free(script->lists);
	free(script->end.message);
	script_strings_free(script->preferred_ids, script->preferred_id_count);
	script_template_free(&script->once);
	script_template_free(&script->each);
	script_template_free(&script->later_once);
	script_template_free(&script->later_each);
	for (size_t j = 0; j < script->own_count; j++) {
		free(script->own[j].id);
		script_template_free(&script->own[j].part);
	}
	free(script->own);
	for (int i = 0; i < SCRIPT_METHOD_COUNT; i++)
		free(script->faults[i].message);
}

void script_file_free(struct script_file *file)
{
	for (size_t i = 0; i < file->plugin_count; i++)
		script_free(&file->plugins[i]);
	free(file->plugins);
	free(file->output);
	*file = (struct script_file){0};
}
