/* SPDX-License-Identifier: MIT */
#include "bench/plugin.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "rpc/loop.h"
#include "rpc/proto/deviceplugin_v1beta1.pb-c.h"

#include <signal.h>
#include <string.h>

enum { REGISTER_TIMEOUT_MS = 10000, CALL_TIMEOUT_MS = 10000, GRPC_PREFIX_SIZE = 5 };

static void bench_register(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	struct bench_plugin *plugin = user;
	V1beta1__Empty empty = V1BETA1__EMPTY__INIT;
	V1beta1__RegisterRequest *message = (V1beta1__RegisterRequest *)rpc_stream_unpack(
		stream, request, &v1beta1__register_request__descriptor);
	if (message == NULL)
		return;
	if (plugin->endpoint == NULL) {
		plugin->registered_ns = clock_monotonic_ns();
		plugin->endpoint = strdup(message->endpoint);
	}
	v1beta1__register_request__free_unpacked(message, NULL);
	rpc_stream_reply(stream, &empty.base);
}

static bool bench_is_registered(void *user)
{
	const struct bench_plugin *plugin = user;
	return plugin->endpoint != NULL || process_has_ended(plugin->process);
}

static int bench_kubelet_start(struct bench_plugin *plugin, struct error *err)
{
	char *address CLEANUP_FREE = text_format("unix:%s/kubelet.sock", plugin->directory);
	int rc = rpc_server_new(plugin->loop, NULL, &plugin->kubelet, err);
	if (rc == 0)
		rc = rpc_server_add(plugin->kubelet, "/v1beta1.Registration/Register",
				    bench_register, plugin, err);
	if (rc == 0 && address == NULL)
		rc = error_memory(err);
	return rc == 0 ? rpc_server_listen(plugin->kubelet, address, err) : rc;
}

static int bench_process_start(struct bench_plugin *plugin, const char *node_file,
			       unsigned replicas, struct error *err)
{
	char *program CLEANUP_FREE = NULL;
	char *count CLEANUP_FREE = text_format("%u", replicas);
	int rc = path_beside_program("../bin/device-plugin-gpu", &program, err);
	const char *const argv[] = {
		program,	  "--plugin-dir", plugin->directory, "--node", node_file,
		"--multitenancy", count,	  "--log-level",     "error",  NULL,
	};
	struct process_spec spec = {.argv = argv};
	if (rc < 0)
		return rc;
	plugin->started_ns = clock_monotonic_ns();
	return process_start(plugin->loop, &spec, &plugin->process, err);
}

int bench_plugin_start(uv_loop_t *loop, const char *node_file, unsigned replicas,
		       struct bench_plugin *plugin, struct error *err)
{
	int rc = 0;
	*plugin = (struct bench_plugin){.loop = loop};
	rc = file_make_temporary("/tmp", "gpucert-bench-", &plugin->directory, err);
	if (rc == 0)
		rc = bench_kubelet_start(plugin, err);
	if (rc == 0)
		rc = bench_process_start(plugin, node_file, replicas, err);
	if (rc == 0)
		rc = loop_wait(loop, bench_is_registered, plugin, REGISTER_TIMEOUT_MS,
			       "the plugin's Register", err);
	if (rc == 0 && plugin->endpoint == NULL)
		rc = error_set(err, ERROR_UNAVAILABLE, "the plugin ended: %s",
			       text_string(&process_result(plugin->process)->err));
	if (rc < 0)
		bench_plugin_stop(plugin);
	return rc;
}

static void bench_take_list(struct rpc_call *call, struct rpc_slice message, void *user)
{
	struct bench_plugin *plugin = user;
	V1beta1__ListAndWatchResponse *list =
		v1beta1__list_and_watch_response__unpack(NULL, message.size, message.data);
	(void)call;
	if (list == NULL)
		return;
	plugin->device_count = list->n_devices;
	if (list->n_devices != 0 && plugin->device_id == NULL)
		plugin->device_id = strdup(list->devices[0]->id);
	v1beta1__list_and_watch_response__free_unpacked(list, NULL);
}

static void bench_list_done(const struct rpc_status *status, void *user)
{
	(void)status;
	(void)user;
}

static bool bench_has_list(void *user)
{
	const struct bench_plugin *plugin = user;
	return plugin->device_id != NULL;
}

int bench_plugin_connect(struct bench_plugin *plugin, struct error *err)
{
	static const struct rpc_call_events events = {bench_take_list, bench_list_done};
	struct rpc_call_request request = {.method = "/v1beta1.DevicePlugin/ListAndWatch"};
	char *address CLEANUP_FREE = text_format("unix:%s/%s", plugin->directory, plugin->endpoint);
	int rc = address != NULL ? 0 : error_memory(err);
	if (rc == 0)
		rc = rpc_channel_open(plugin->loop, address, NULL, &plugin->channel, err);
	if (rc == 0)
		rc = rpc_call_start(plugin->channel, &request, &events, plugin, NULL, err);
	if (rc == 0)
		rc = loop_wait(plugin->loop, bench_has_list, plugin, CALL_TIMEOUT_MS,
			       "the first device list", err);
	return rc;
}

int bench_plugin_memory(const struct bench_plugin *plugin, double *kib, struct error *err)
{
	char *path CLEANUP_FREE = text_format("/proc/%d/status", process_id(plugin->process));
	char *status CLEANUP_FREE = NULL;
	const char *field = NULL;
	int rc = path != NULL ? file_read(path, 65536, &status, NULL, err) : error_memory(err);
	if (rc < 0)
		return rc;
	field = strstr(status, "VmRSS:");
	if (field == NULL)
		return error_set(err, ERROR_FORMAT, "%s: no VmRSS", path);
	*kib = strtod(field + strlen("VmRSS:"), NULL);
	return 0;
}

void bench_plugin_stop(struct bench_plugin *plugin)
{
	if (plugin->loop == NULL)
		return;
	rpc_channel_close(plugin->channel);
	process_free(plugin->process);
	rpc_server_close(plugin->kubelet);
	(void)uv_run(plugin->loop, UV_RUN_NOWAIT);
	if (plugin->directory != NULL)
		(void)file_remove_tree(plugin->directory, NULL);
	free(plugin->directory);
	free(plugin->endpoint);
	free(plugin->device_id);
	*plugin = (struct bench_plugin){0};
}

int bench_allocate(struct rpc_channel *channel, const char *id, size_t calls, struct samples *out,
		   size_t *request_size, size_t *reply_size, struct error *err)
{
	char *ids[] = {strdup(id)};
	V1beta1__ContainerAllocateRequest container = V1BETA1__CONTAINER_ALLOCATE_REQUEST__INIT;
	V1beta1__ContainerAllocateRequest *containers[] = {&container};
	V1beta1__AllocateRequest request = V1BETA1__ALLOCATE_REQUEST__INIT;
	int rc = ids[0] != NULL ? 0 : error_memory(err);
	container.n_devices_ids = 1;
	container.devices_ids = ids;
	request.n_container_requests = 1;
	request.container_requests = containers;
	for (size_t i = 0; rc == 0 && i < calls + calls / 10; i++) {
		ProtobufCMessage *reply = NULL;
		uint64_t start = clock_monotonic_ns();
		rc = rpc_unary_wait(channel, "/v1beta1.DevicePlugin/Allocate", &request.base,
				    &v1beta1__allocate_response__descriptor, CALL_TIMEOUT_MS,
				    &reply, err);
		if (rc == 0 && i >= calls / 10)
			samples_add(out, clock_monotonic_ns() - start);
		if (rc == 0 && i == 0 && request_size != NULL)
			*request_size = protobuf_c_message_get_packed_size(&request.base) +
					GRPC_PREFIX_SIZE;
		if (rc == 0 && i == 0 && reply_size != NULL)
			*reply_size = protobuf_c_message_get_packed_size(reply) + GRPC_PREFIX_SIZE;
		if (reply != NULL)
			protobuf_c_message_free_unpacked(reply, NULL);
	}
	free(ids[0]);
	return rc;
}
