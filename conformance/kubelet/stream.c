/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/stream.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "conformance/kubelet/plugin.h"
#include "rpc/loop.h"
#include "rpc/message.h"

#include <string.h>

struct kubelet_stream {
	uv_loop_t *loop;
	struct rpc_call *call; /* NULL once ended */
	struct kubelet_stream_events events;
	struct kubelet_message *messages; /* a queue without holes; the first is number `dropped` */
	size_t kept, dropped, bytes;
	struct error fault; /* what is wrong with a message; ends the stream */
	int code;
	struct text status;
	uint64_t opened_ms, ended_ms;
};

static void stream_drop_first(struct kubelet_stream *stream)
{
	stream->bytes -= stream->messages[0].size;
	kubelet_device_list_free(&stream->messages[0].devices);
	stream->kept--;
	stream->dropped++;
	memmove(&stream->messages[0], &stream->messages[1],
		stream->kept * sizeof(*stream->messages));
}

static int stream_keep(struct kubelet_stream *stream, struct kubelet_message *message,
		       struct error *err)
{
	while (stream->kept > 0 && (stream->kept >= KUBELET_STREAM_MESSAGES_MAX ||
				    stream->bytes + message->size > KUBELET_STREAM_BYTES_MAX))
		stream_drop_first(stream);
	struct kubelet_message *grown = array_grow(stream->messages, stream->kept, sizeof(*grown));
	if (grown == NULL)
		return error_memory(err);
	stream->messages = grown;
	message->number = stream->dropped + stream->kept;
	stream->bytes += message->size;
	stream->messages[stream->kept++] = *message;
	return 0;
}

static int stream_read(struct kubelet_stream *stream, struct rpc_slice bytes, struct error *err)
{
	struct kubelet_message message = {.time_ms = clock_monotonic_ms(), .size = bytes.size};
	ProtobufCMessage *response = NULL;
	const char *fault =
		message_unpack(&v1beta1__list_and_watch_response__descriptor, bytes, &response);
	if (fault != NULL)
		return error_set(err, ERROR_FORMAT, "%s", fault);
	int rc = kubelet_device_list_read(
		(const V1beta1__ListAndWatchResponse *)(const void *)response, &message.devices,
		err);
	protobuf_c_message_free_unpacked(response, NULL);
	if (rc == 0)
		rc = stream_keep(stream, &message, err);
	if (rc != 0)
		kubelet_device_list_free(&message.devices);
	return rc;
}

static void on_message(struct rpc_call *call, struct rpc_slice bytes, void *user)
{
	struct kubelet_stream *stream = user;
	if (stream_read(stream, bytes, &stream->fault) != 0)
		rpc_call_cancel(call);
	else if (stream->events.on_message != NULL)
		stream->events.on_message(stream, kubelet_stream_last(stream), stream->events.user);
}

static void on_done(const struct rpc_status *status, void *user)
{
	struct kubelet_stream *stream = user;
	bool faulty = stream->fault.code != 0;
	stream->call = NULL;
	stream->ended_ms = clock_monotonic_ms();
	stream->code = faulty ? RPC_INTERNAL : status->code;
	text_add(&stream->status, faulty ? stream->fault.text : status->message);
	if (stream->events.on_end != NULL)
		stream->events.on_end(stream, stream->events.user);
}

int kubelet_stream_open(struct rpc_channel *channel, const struct kubelet_stream_events *events,
			struct kubelet_stream **out, struct error *err)
{
	static const struct rpc_call_events call_events = {on_message, on_done};
	const struct rpc_call_request request = {.method = DEVICE_PLUGIN_SERVICE "ListAndWatch"};
	struct kubelet_stream *stream = calloc(1, sizeof(*stream));
	if (stream == NULL)
		return error_memory(err);
	stream->loop = rpc_channel_loop(channel);
	stream->opened_ms = clock_monotonic_ms();
	stream->code = RPC_NO_STATUS;
	if (events != NULL)
		stream->events = *events;
	int rc = rpc_call_start(channel, &request, &call_events, stream, &stream->call, err);
	if (rc != 0) {
		free(stream);
		return rc;
	}
	*out = stream;
	return 0;
}

bool kubelet_stream_is_open(const struct kubelet_stream *stream)
{
	return stream->call != NULL;
}

int kubelet_stream_code(const struct kubelet_stream *stream)
{
	return stream->code;
}

const char *kubelet_stream_status(const struct kubelet_stream *stream)
{
	return text_string(&stream->status);
}

uint64_t kubelet_stream_opened_ms(const struct kubelet_stream *stream)
{
	return stream->opened_ms;
}

uint64_t kubelet_stream_ended_ms(const struct kubelet_stream *stream)
{
	return stream->ended_ms;
}

size_t kubelet_stream_message_count(const struct kubelet_stream *stream)
{
	return stream->dropped + stream->kept;
}

const struct kubelet_message *kubelet_stream_message(const struct kubelet_stream *stream,
						     size_t number)
{
	if (number < stream->dropped || number - stream->dropped >= stream->kept)
		return NULL;
	return &stream->messages[number - stream->dropped];
}

const struct kubelet_message *kubelet_stream_last(const struct kubelet_stream *stream)
{
	return stream->kept == 0 ? NULL : &stream->messages[stream->kept - 1];
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

void kubelet_stream_resume(struct kubelet_stream *stream)
{
	if (stream->call != NULL)
		rpc_call_resume(stream->call);
}

struct stream_wait {
	const struct kubelet_stream *stream;
	size_t number;
};

static bool message_came_or_ended(void *user)
{
	const struct stream_wait *wait = user;
	return wait->stream->call == NULL ||
	       kubelet_stream_message_count(wait->stream) > wait->number;
}

int kubelet_stream_wait(struct kubelet_stream *stream, size_t number, uint64_t timeout_ms,
			const struct kubelet_message **out, struct error *err)
{
	struct stream_wait wait = {stream, number};
	char *what CLEANUP_FREE = text_format("message %zu of ListAndWatch", number);
	int rc = loop_wait(stream->loop, message_came_or_ended, &wait, timeout_ms,
			   what == NULL ? "ListAndWatch" : what, err);
	if (rc != 0)
		return rc;
	if (kubelet_stream_message_count(stream) <= number)
		return error_set(err, ERROR_UNAVAILABLE,
				 "ListAndWatch ended before message %zu: %s: %s", number,
				 rpc_code_name(stream->code), kubelet_stream_status(stream));
	if (out != NULL)
		*out = kubelet_stream_message(stream, number);
	return 0;
}

static bool has_ended(void *user)
{
	const struct kubelet_stream *stream = user;
	return stream->call == NULL;
}

int kubelet_stream_wait_end(struct kubelet_stream *stream, uint64_t timeout_ms, struct error *err)
{
	return loop_wait(stream->loop, has_ended, stream, timeout_ms, "the end of ListAndWatch",
			 err);
}

void kubelet_stream_free(struct kubelet_stream *stream)
{
	if (stream == NULL)
		return;
	stream->events = (struct kubelet_stream_events){0};
	kubelet_stream_cancel(stream);
	while (stream->kept > 0)
		stream_drop_first(stream);
	free(stream->messages);
	text_free(&stream->status);
	free(stream);
}
