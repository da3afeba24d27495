/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/stream.h"

#include "base/clock.h"
#include "base/memory.h"
#include "conformance/kubelet/plugin.h"
#include "rpc/loop.h"
#include "rpc/message.h"

#include <string.h>

struct kubelet_stream {
	uv_loop_t *loop;
	struct rpc_call *call; /* NULL once ended */
	struct kubelet_stream_events events;
	struct kubelet_stream_state state;
	struct kubelet_message last;
	struct error fault; /* a message that cannot be read; ends the stream */
	struct text text;   /* of the state */
};

static void on_message(struct rpc_call *call, struct rpc_slice bytes, void *user)
{
	struct kubelet_stream *stream = user;
	ProtobufCMessage *response = NULL;
	const char *fault =
		message_unpack(&v1beta1__list_and_watch_response__descriptor, bytes, &response);
	if (fault != NULL) {
		(void)error_set(&stream->fault, ERROR_FORMAT, "%s", fault);
		rpc_call_cancel(call);
		return;
	}

	kubelet_device_list_free(&stream->last.devices);
	stream->last.size = bytes.size;
	stream->last.devices = kubelet_device_list_read(
		(const V1beta1__ListAndWatchResponse *)(const void *)response);
	protobuf_c_message_free_unpacked(response, NULL);
	if (stream->state.messages++ == 0)
		stream->state.first_ms = clock_monotonic_ms();
	if (stream->events.on_message != NULL)
		stream->events.on_message(stream, &stream->last, stream->events.user);
}

static void on_done(const struct rpc_status *status, void *user)
{
	struct kubelet_stream *stream = user;
	bool faulty = stream->fault.code != 0;
	text_add(&stream->text, faulty ? stream->fault.text : status->message);
	stream->call = NULL;
	stream->state.open = false;
	stream->state.code = faulty ? RPC_INTERNAL : status->code;
	stream->state.text = text_string(&stream->text);
	if (stream->events.on_end != NULL)
		stream->events.on_end(stream, stream->events.user);
}

int kubelet_stream_open(struct kubelet_plugin *plugin, const struct kubelet_stream_events *events,
			struct kubelet_stream **out, struct error *err)
{
	static const struct rpc_call_events call_events = {on_message, on_done};
	const struct rpc_call_request request = {.method = DEVICE_PLUGIN_SERVICE "ListAndWatch"};
	struct rpc_channel *channel = kubelet_plugin_channel(plugin);
	int rc = kubelet_plugin_expect_connected(plugin, err);
	if (rc < 0)
		return rc;
	struct kubelet_stream *stream = memory_allocate(1, sizeof(*stream));
	stream->loop = rpc_channel_loop(channel);
	stream->state = (struct kubelet_stream_state){
		.open = true,
		.code = RPC_NO_STATUS,
		.text = "",
		.opened_ms = clock_monotonic_ms(),
	};
	if (events != NULL)
		stream->events = *events;
	rc = rpc_call_start(channel, &request, &call_events, stream, &stream->call, err);
	if (rc != 0) {
		free(stream);
		return rc;
	}
	*out = stream;
	return 0;
}

struct kubelet_stream_state kubelet_stream_state(const struct kubelet_stream *stream)
{
	return stream != NULL ? stream->state : (struct kubelet_stream_state){0};
}

const struct kubelet_message *kubelet_stream_last(const struct kubelet_stream *stream)
{
	return stream->state.messages == 0 ? NULL : &stream->last;
}

void kubelet_stream_cancel(struct kubelet_stream *stream)
{
	if (stream->call != NULL)
		rpc_call_cancel(stream->call);
}

void kubelet_stream_pause(struct kubelet_stream *stream)
{
	if (stream->call != NULL)
		rpc_call_pause(stream->call);
}

static bool has_message_or_ended(void *user)
{
	const struct kubelet_stream *stream = user;
	return !stream->state.open || stream->state.messages > 0;
}

int kubelet_stream_wait(struct kubelet_stream *stream, uint64_t timeout_ms, struct error *err)
{
	int rc = loop_wait(stream->loop, has_message_or_ended, stream, timeout_ms,
			   "the first list of ListAndWatch", err);
	if (rc != 0 || stream->state.messages > 0)
		return rc;
	return error_set(err, ERROR_UNAVAILABLE, "ListAndWatch ended without a list: %s: %s",
			 rpc_code_name(stream->state.code), stream->state.text);
}

void kubelet_stream_close(struct kubelet_stream **closed)
{
	struct kubelet_stream *stream = STEAL(*closed);
	if (stream == NULL)
		return;
	stream->events = (struct kubelet_stream_events){0};
	kubelet_stream_cancel(stream);
	kubelet_device_list_free(&stream->last.devices);
	text_free(&stream->text);
	free(stream);
}
