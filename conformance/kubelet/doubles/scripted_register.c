/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/path.h"
#include "conformance/kubelet/doubles/scripted_internal.h"

#include <stdio.h>
#include <string.h>

static void try_register(void *user);

void scripted_stop_registering(struct scripted_plugin *plugin)
{
	timer_cancel(&plugin->register_timer);
	struct rpc_channel *channel = STEAL(plugin->register_channel);
	rpc_channel_close(channel);
}

static void register_later(struct scripted_plugin *plugin, uint64_t delay_ms)
{
	timer_cancel(&plugin->register_timer);
	if (timer_start(plugin->loop, delay_ms, 0, try_register, plugin, &plugin->register_timer,
			NULL) != 0)
		scripted_exit(plugin, 1);
}

static void registration_failed(struct scripted_plugin *plugin)
{
	plugin->refused++;
	if (plugin->retries_left == 0)
		return;
	if (plugin->retries_left > 0)
		plugin->retries_left--;
	register_later(plugin, plugin->script->register_retry_ms);
}

static void registration_succeeded(struct scripted_plugin *plugin)
{
	struct error err = {0};
	plugin->registered++;
	if (plugin->server == NULL && scripted_listen(plugin, &err) != 0)
		scripted_exit(plugin, 1);
	if (plugin->repeats_left == 0)
		return;
	plugin->repeats_left--;
	register_later(plugin, plugin->script->register_repeat_ms);
}

static void on_answer(const struct rpc_status *status, ProtobufCMessage *reply, void *user)
{
	struct scripted_plugin *plugin = user;
	if (reply != NULL)
		protobuf_c_message_free_unpacked(reply, NULL);
	if (plugin->register_channel == NULL)
		return; /* given up */
	scripted_note(plugin, "Register answered %s %s", rpc_code_name(status->code),
		      status->message);
	(void)snprintf(plugin->last_error, sizeof(plugin->last_error), "%s", status->message);
	struct rpc_channel *channel = STEAL(plugin->register_channel);
	rpc_channel_close(channel);
	if (status->code == RPC_OK)
		registration_succeeded(plugin);
	else
		registration_failed(plugin);
}

static int send_register(struct scripted_plugin *plugin, struct error *err)
{
	const struct script *script = plugin->script;
	char *address CLEANUP_FREE = text_format("unix:%s", plugin->kubelet_socket);
	char *endpoint CLEANUP_FREE = strdup(script->endpoint != NULL ? script->endpoint
					     : plugin->socket != NULL ? path_base(plugin->socket)
								      : "scripted.sock");
	if (address == NULL || endpoint == NULL)
		return error_memory(err);
	int rc = rpc_channel_open(plugin->loop, address, NULL, &plugin->register_channel, err);
	if (rc != 0)
		return rc;
	V1beta1__RegisterRequest request;
	V1beta1__DevicePluginOptions options = V1BETA1__DEVICE_PLUGIN_OPTIONS__INIT;
	v1beta1__register_request__init(&request);
	options.pre_start_required = script->sent_options.pre_start_required;
	options.get_preferred_allocation_available =
		script->sent_options.get_preferred_allocation_available;
	request.version = script->version;
	request.endpoint = endpoint;
	request.resource_name = script->resource;
	request.options = script->send_options ? &options : NULL;
	scripted_note(plugin, "Register endpoint %s", endpoint);
	return rpc_unary(plugin->register_channel, "/v1beta1.Registration/Register", &request.base,
			 &v1beta1__empty__descriptor, script->register_deadline_ms, on_answer,
			 plugin, NULL, err);
}

static void try_register(void *user)
{
	struct scripted_plugin *plugin = user;
	struct error err = {0};
	timer_cancel(&plugin->register_timer);
	if (plugin->register_channel == NULL && send_register(plugin, &err) != 0) {
		scripted_note(plugin, "%s", err.text);
		struct rpc_channel *channel = STEAL(plugin->register_channel);
		rpc_channel_close(channel);
		registration_failed(plugin);
	}
}

int scripted_start_listening(struct scripted_plugin *plugin, struct error *err)
{
	const struct script *script = plugin->script;
	if (!script->register_before_listen) {
		int rc = scripted_listen(plugin, err);
		if (rc != 0)
			return rc;
	}
	if (script->via == SCRIPT_VIA_REGISTER)
		register_later(plugin, script->register_delay_ms);
	return 0;
}

void scripted_begin(struct scripted_plugin *plugin)
{
	struct error err = {0};
	scripted_stop_registering(plugin);
	if (scripted_start_listening(plugin, &err) != 0)
		scripted_exit(plugin, 1);
}
