/* SPDX-License-Identifier: MIT */
#include "bench/plugin.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "rpc/client.h"

#include <string.h>

enum { START_TIMEOUT_MS = 10000, CALL_TIMEOUT_MS = 10000, GRPC_PREFIX_SIZE = 5 };

static void on_event(const struct kubelet_event *event, void *user)
{
	struct bench_plugin *plugin = user;
	if (event->type == KUBELET_EVENT_REGISTER && plugin->registered_ns == 0)
		plugin->registered_ns = clock_monotonic_ns();
}

static void on_end(struct process *process, const struct process_result *result, void *user)
{
	const struct bench_plugin *plugin = user;
	(void)process;
	kubelet_interrupt(plugin->kubelet, text_string(&result->err));
}

int bench_plugin_start(uv_loop_t *loop, unsigned replicas, struct bench_plugin *plugin,
		       struct error *err)
{
	static const char resource[] = "gpucert.internal/display";
	char *program CLEANUP_FREE = NULL;
	char *count CLEANUP_FREE = text_format("%u", replicas);

	*plugin = (struct bench_plugin){0};
	int rc = file_make_temporary("/tmp", "gpucert-bench-", &plugin->directory, err);
	if (rc == 0)
		rc = path_beside_program("../bin/device-plugin-gpu", &program, err);
	if (rc < 0)
		return rc;
	const struct kubelet_options options = {
		.plugin_dir = plugin->directory, .on_event = on_event, .user = plugin};
	const char *const argv[] = {
		program,
		"--plugin-dir",
		plugin->directory,
		"--node",
		GPUCERT_SOURCE_DIR "/bench/node.json",
		"--multitenancy",
		count,
		"--log-level",
		"error",
		NULL,
	};
	const struct process_spec spec = {.argv = argv, .on_end = on_end, .user = plugin};

	rc = kubelet_new(loop, &options, &plugin->kubelet, err);
	if (rc == 0)
		rc = kubelet_start(plugin->kubelet, err);
	plugin->started_ns = clock_monotonic_ns();
	if (rc == 0)
		rc = process_start(loop, &spec, &plugin->process, err);
	if (rc == 0)
		rc = kubelet_wait_listed(plugin->kubelet, resource, START_TIMEOUT_MS, err);
	if (rc < 0)
		return rc;
	plugin->device_count = kubelet_resource_devices(plugin->kubelet, resource)->count;
	plugin->channel =
		kubelet_plugin_channel(kubelet_resource_plugin(plugin->kubelet, resource));
	return 0;
}

void bench_plugin_stop(uv_loop_t *loop, struct bench_plugin *plugin)
{
	process_free(plugin->process);
	kubelet_free(plugin->kubelet);
	(void)uv_run(loop, UV_RUN_NOWAIT);
	if (plugin->directory != NULL)
		(void)file_remove_tree(plugin->directory, NULL);
	free(plugin->directory);
	*plugin = (struct bench_plugin){0};
}

int bench_plugin_memory(const struct bench_plugin *plugin, double *kib, struct error *err)
{
	char *path CLEANUP_FREE = text_format("/proc/%d/status", process_id(plugin->process));
	char *status CLEANUP_FREE = NULL;
	int rc = file_read(path, 65536, &status, NULL, err);
	if (rc < 0)
		return rc;
	const char *field = strstr(status, "VmRSS:");
	if (field == NULL)
		return error_set(err, ERROR_FORMAT, "%s: no VmRSS", path);
	*kib = strtod(field + strlen("VmRSS:"), NULL);
	return 0;
}

int bench_allocate(struct rpc_channel *channel, size_t calls, struct samples *out,
		   struct bench_sizes *sizes, struct error *err)
{
	static const char *const ids[] = {BENCH_DEVICE};
	struct kubelet_allocate_request request = {0};
	kubelet_allocate_request_add(&request, ids, 1);
	const ProtobufCMessage *message = &request.request.base;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < calls + calls / 10; i++) {
		ProtobufCMessage *reply = NULL;
		uint64_t start = clock_monotonic_ns();
		rc = rpc_unary_wait(channel, "/v1beta1.DevicePlugin/Allocate", message,
				    &v1beta1__allocate_response__descriptor, CALL_TIMEOUT_MS,
				    &reply, err);
		if (rc < 0)
			return rc;
		if (i >= calls / 10)
			samples_add(out, clock_monotonic_ns() - start);
		if (i == 0)
			*sizes = (struct bench_sizes){
				protobuf_c_message_get_packed_size(message) + GRPC_PREFIX_SIZE,
				protobuf_c_message_get_packed_size(reply) + GRPC_PREFIX_SIZE};
		protobuf_c_message_free_unpacked(reply, NULL);
	}
	return rc;
}
