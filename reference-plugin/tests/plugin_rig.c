/* SPDX-License-Identifier: MIT */
#include "reference-plugin/tests/plugin_rig.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "rpc/loop.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { ARGUMENTS_MAX = 32 };

void rig_open(struct rig *rig)
{
	*rig = (struct rig){0};
	UNIT_INT(uv_loop_init(&rig->loop), 0);
	UNIT_INT(file_make_temporary("/tmp", "gpucert-plugin-", &rig->directory, NULL), 0);
	rig->node = path_join(rig->directory, "node.json");
	rig->program = "device-plugin-gpu";
	rig->registrar.loop = &rig->loop;
	rig->registrar.directory = rig->directory;
}

void rig_close(struct rig *rig)
{
	struct error err = {0};
	process_free(rig->process);
	registrar_close(&rig->registrar);
	UNIT_INT(loop_drain(&rig->loop, RIG_TIMEOUT_MS, &err), 0);
	UNIT_STRING(err.text, "");
	(void)file_remove_tree(rig->directory, NULL);
	free(rig->directory);
	free(rig->node);
	text_free(&rig->log);
}

void rig_kubelet(struct rig *rig)
{
	struct error err = {0};
	UNIT_INT(registrar_open(&rig->registrar, &err), 0);
	UNIT_STRING(err.text, "");
}

static bool is_windows(const struct rig *rig)
{
	return strcmp(rig->program, "device-plugin-gpu") != 0;
}

/* What gives access to a device. */
static void add_access(struct text *json, const char *word, size_t length, bool windows)
{
	if (!windows)
		text_addf(json,
			  "\"nodes\":[{\"path\":\"/dev/%.*s\",\"containerPath\":\"/dev/%.*s\","
			  "\"permissions\":\"rw\"}],",
			  (int)length, word, (int)length, word);
	else if (strstr(word, "/x") == NULL)
		text_addf(json, "\"nodes\":[],\"locationPath\":\"PCIROOT(0)#%.*s\",", (int)length,
			  word);
	else
		text_add(json, "\"nodes\":[],");
}

static void add_device(struct text *json, const char *word, bool windows)
{
	bool sick = text_ends_with(word, "!");
	bool compute = strstr(word, "/c") != NULL;
	bool numa = strstr(word, "/1") != NULL;
	bool old = strstr(word, "/d") != NULL;
	size_t length = strcspn(word, "/!");
	text_addf(json,
		  "{\"id\":\"%.*s\",\"kind\":\"%s\",\"vendor\":\"Example\",\"driver\":{},"
		  "\"integrated\":false,\"detachable\":false,\"display\":%s,\"compute\":%s,"
		  "\"health\":\"%s\",\"healthReason\":\"%s\",",
		  (int)length, word, compute ? "compute" : "display", compute ? "false" : "true",
		  old ? "false" : "true", sick ? "unhealthy" : "healthy",
		  sick ? "driver is unbound" : "");
	if (numa)
		text_add(json, "\"numaNode\":1,");
	add_access(json, word, length, windows);
	text_add(json, "\"apis\":[],\"files\":[],\"environment\":{}}");
}

/* Wine does not rename over a file that the plugin reads at this moment. */
void rig_write_text(const struct rig *rig, const struct text *json)
{
	enum { ATTEMPTS = 30000, PAUSE_MS = 10 };
	int result = ERROR_IO;
	for (int i = 0; result < 0 && i < ATTEMPTS; i++) {
		if (i > 0)
			uv_sleep(PAUSE_MS);
		result = file_write_atomic(rig->node, json->data, json->size, 0644, NULL);
	}
	UNIT_INT(result, 0);
}

void rig_write_node(const struct rig *rig, const char *devices)
{
	struct text json CLEANUP_TEXT = {0};
	struct text_list words CLEANUP_TEXT_LIST = {0};
	text_addf(&json,
		  "{\"schema\":\"gpucert-node/1\",\"system\":{\"os\":\"%s\",\"product\":\"\","
		  "\"build\":\"\",\"architecture\":\"\"},\"diagnostics\":[],\"devices\":[",
		  is_windows(rig) ? "windows" : "linux");
	if (devices[0] != '\0')
		text_list_split(&words, devices, ' ');
	for (size_t i = 0; i < words.count; i++) {
		text_add(&json, i > 0 ? "," : "");
		add_device(&json, words.items[i], is_windows(rig));
	}
	text_add(&json, "]}\n");
	rig_write_text(rig, &json);
}

static void on_line(bool is_stderr, const char *line, size_t size, void *user)
{
	struct rig *rig = user;
	if (!is_stderr)
		return;
	text_append(&rig->log, line, size);
	text_add(&rig->log, "\n");
}

void rig_start(struct rig *rig, const char *const *arguments)
{
	const char *argv[ARGUMENTS_MAX] = {NULL, "--plugin-dir", rig->directory, "--poll-interval",
					   "100ms"};
	struct process_spec spec = {.argv = argv, .on_line = on_line, .user = rig};
	char *relative CLEANUP_FREE = text_format("../bin/%s", rig->program);
	char *program CLEANUP_FREE = NULL;
	struct error err = {0};
	UNIT_INT(path_beside_program(relative, &program, &err), 0);
	argv[0] = program;
	for (size_t i = 0; arguments[i] != NULL; i++)
		argv[5 + i] = arguments[i];
	process_free(STEAL(rig->process));
	text_reset(&rig->log);
	UNIT_INT(process_start(&rig->loop, &spec, &rig->process, &err), 0);
	UNIT_STRING(err.text, "");
}

void rig_start_with_node(struct rig *rig, const char *devices, const char *more, const char *value)
{
	const char *const arguments[] = {"--node", rig->node, more, value, NULL};
	rig_write_node(rig, devices);
	rig_start(rig, arguments);
}

static bool process_is_over(void *user)
{
	const struct rig *rig = user;
	return process_has_ended(rig->process);
}

int rig_stop(struct rig *rig, int signal)
{
	const struct process_result *result = NULL;
	if (signal != 0)
		(void)process_signal(rig->process, signal, NULL);
	if (!rig_until(rig, process_is_over, rig, "the plugin ends"))
		return -1;
	result = process_result(rig->process);
	return signal == SIGKILL ? RIG_KILLED : result->end == PROCESS_EXITED ? result->code : -1;
}

void rig_remove_file(const char *path)
{
	uv_fs_t request;
	UNIT_INT(uv_fs_unlink(NULL, &request, path, NULL), 0);
}

bool rig_until(struct rig *rig, loop_condition *condition, void *user, const char *what)
{
	struct error err = {0};
	int result = loop_wait(&rig->loop, condition, user, RIG_TIMEOUT_MS, what, &err);
	UNIT_STRING(err.text, "");
	if (result < 0)
		(void)printf("the plugin's log:\n%s", text_string(&rig->log));
	return result == 0;
}

struct expected_registrations {
	const struct registrar *registrar;
	const char *resource;
	size_t count;
};

static bool are_registered(void *user)
{
	const struct expected_registrations *expected = user;
	return registrar_accepted(expected->registrar, expected->resource) >= expected->count;
}

void rig_await_registrations(struct rig *rig, const char *resource, size_t count)
{
	struct expected_registrations expected = {&rig->registrar, resource, count};
	(void)rig_until(rig, are_registered, &expected, resource);
	UNIT_INT(registrar_accepted(&rig->registrar, resource), count);
}

struct expected_log {
	const struct rig *rig;
	const char *part;
};

static bool log_has(void *user)
{
	const struct expected_log *expected = user;
	return strstr(text_string(&expected->rig->log), expected->part) != NULL;
}

void rig_await_log(struct rig *rig, const char *part)
{
	struct expected_log expected = {rig, part};
	(void)rig_until(rig, log_has, &expected, part);
}

char *rig_endpoint_path(const struct rig *rig, const char *resource)
{
	const struct registrar_entry *entry = registrar_find(&rig->registrar, resource);
	return path_join(rig->directory, entry != NULL ? entry->endpoint : "none");
}

struct rpc_channel *rig_dial(struct rig *rig, const char *resource)
{
	const struct registrar_entry *entry = registrar_find(&rig->registrar, resource);
	char *address CLEANUP_FREE = NULL;
	struct rpc_channel *channel = NULL;
	if (entry != NULL)
		address = text_format("unix:%s/%s", rig->directory, entry->endpoint);
	if (address == NULL || rpc_channel_open(&rig->loop, address, NULL, &channel, NULL) < 0)
		CU_FAIL_FATAL("nothing to dial");
	return channel;
}

int rig_call(struct rig *rig, const char *resource, const char *method,
	     const ProtobufCMessage *request, const ProtobufCMessageDescriptor *type,
	     ProtobufCMessage **reply, struct text *message)
{
	struct rpc_channel *channel = rig_dial(rig, resource);
	struct error err = {0};
	int result = rpc_unary_wait(channel, method, request, type, RIG_TIMEOUT_MS, reply, &err);
	rpc_channel_close(channel);
	if (result == 0)
		return RPC_OK;
	UNIT_INT(result, ERROR_REMOTE);
	if (message != NULL)
		text_add(message, err.text);
	return err.remote;
}

int rig_allocate(struct rig *rig, const char *resource, const char *ids, struct text *answer)
{
	struct text_list list CLEANUP_TEXT_LIST = {0};
	V1beta1__ContainerAllocateRequest container = V1BETA1__CONTAINER_ALLOCATE_REQUEST__INIT;
	V1beta1__ContainerAllocateRequest *containers[] = {&container};
	V1beta1__AllocateRequest request = V1BETA1__ALLOCATE_REQUEST__INIT;
	ProtobufCMessage *reply = NULL;
	V1beta1__AllocateResponse *response = NULL;
	int code = 0;
	text_list_split(&list, ids, ' ');
	container.n_devices_ids = list.count;
	container.devices_ids = list.items;
	request.n_container_requests = 1;
	request.container_requests = containers;
	code = rig_call(rig, resource, "/v1beta1.DevicePlugin/Allocate", &request.base,
			&v1beta1__allocate_response__descriptor, &reply, answer);
	if (reply == NULL)
		return code;
	response = (V1beta1__AllocateResponse *)reply;
	UNIT_INT(response->n_container_responses, 1);
	for (size_t i = 0; i < response->container_responses[0]->n_devices; i++)
		text_addf(answer, "%s;", response->container_responses[0]->devices[i]->host_path);
	for (size_t i = 0; i < response->container_responses[0]->n_mounts; i++)
		text_addf(answer, "%s;", response->container_responses[0]->mounts[i]->host_path);
	for (size_t i = 0; i < response->container_responses[0]->n_cdi_devices; i++)
		text_addf(answer, "%s;", response->container_responses[0]->cdi_devices[i]->name);
	protobuf_c_message_free_unpacked(reply, NULL);
	return code;
}

static void on_list(struct rpc_call *call, struct rpc_slice message, void *user)
{
	struct listing *listing = user;
	V1beta1__ListAndWatchResponse *list =
		v1beta1__list_and_watch_response__unpack(NULL, message.size, message.data);
	(void)call;
	listing->messages++;
	text_reset(&listing->devices);
	CU_ASSERT_PTR_NOT_NULL(list);
	if (list == NULL)
		return;
	for (size_t i = 0; i < list->n_devices; i++)
		text_addf(&listing->devices, "%s%s%s", i > 0 ? " " : "", list->devices[i]->id,
			  strcmp(list->devices[i]->health, "Healthy") == 0 ? "" : "!");
	v1beta1__list_and_watch_response__free_unpacked(list, NULL);
}

static void on_list_end(const struct rpc_status *status, void *user)
{
	struct listing *listing = user;
	listing->ended = true;
	listing->call = NULL;
	listing->code = status->code;
	(void)snprintf(listing->message, sizeof(listing->message), "%s", status->message);
}

void listing_open(struct rig *rig, const char *resource, struct listing *out)
{
	static const struct rpc_call_events events = {on_list, on_list_end};
	struct rpc_call_request request = {.method = "/v1beta1.DevicePlugin/ListAndWatch"};
	*out = (struct listing){.channel = rig_dial(rig, resource)};
	UNIT_INT(rpc_call_start(out->channel, &request, &events, out, &out->call, NULL), 0);
}

void listing_close(struct listing *listing)
{
	rpc_channel_close(listing->channel);
	text_free(&listing->devices);
}

struct expected_list {
	const struct listing *listing;
	const char *devices;
};

static bool list_is(void *user)
{
	const struct expected_list *expected = user;
	return expected->listing->messages > 0 &&
	       strcmp(text_string(&expected->listing->devices), expected->devices) == 0;
}

void listing_await(struct rig *rig, struct listing *listing, const char *devices)
{
	struct expected_list expected = {listing, devices};
	(void)rig_until(rig, list_is, &expected, devices);
	UNIT_STRING(text_string(&listing->devices), devices);
}

void rig_begin(struct rig *rig, const char *devices, const char *more, const char *value)
{
	rig_open(rig);
	rig_kubelet(rig);
	rig_start_with_node(rig, devices, more, value);
	rig_await_registrations(rig, DISPLAY, 1);
	if (value == NULL || strcmp(value, "display") != 0)
		rig_await_registrations(rig, COMPUTE, 1);
}

void rig_end(struct rig *rig)
{
	UNIT_INT(rig_stop(rig, SIGTERM), 0);
	rig_close(rig);
}
