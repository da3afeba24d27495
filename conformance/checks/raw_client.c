/* SPDX-License-Identifier: MIT */
#include "conformance/checks/raw_client.h"

#include "base/memory.h"
#include "conformance/kubelet/each.h"
#include "rpc/frame.h"
#include "rpc/loop.h"

#include <stdlib.h>
#include <string.h>

enum {
	CONNECT_MS = 10000,
	HEAD_SIZE = 9,
	HEAD_TYPE = 3,
	HEAD_FLAGS = 4,
	HEAD_STREAM = 5,
	FRAME_MAX = 1 << 20, /* more than SETTINGS_MAX_FRAME_SIZE allows a server */
	LENGTH_SHORT = 127,  /* of a string in a literal field, in one byte */
	FIELDS_MAX = 12,
	WINDOW_MAX = 0x7fffffff,
	WINDOW_DEFAULT = 65535,
	READ_SIZE = 65536,
};

static uint32_t number_at(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

static void number_put(uint8_t *bytes, uint32_t number)
{
	bytes[0] = (uint8_t)(number >> 24);
	bytes[1] = (uint8_t)(number >> 16);
	bytes[2] = (uint8_t)(number >> 8);
	bytes[3] = (uint8_t)number;
}

/*
 * Reading.
 */

struct raw_stream *raw_stream(struct raw_client *client, uint32_t id)
{
	items_each (stream, client->streams, client->stream_count) {
		if (stream->id == id)
			return stream;
	}
	client->streams =
		memory_resize(client->streams, client->stream_count + 1, sizeof(*client->streams));
	struct raw_stream *stream = &client->streams[client->stream_count++];
	*stream = (struct raw_stream){.id = id, .grpc_status = -1, .reset = -1};
	return stream;
}

static void read_block(struct raw_client *client, struct raw_stream *stream)
{
	const uint8_t *at = (const uint8_t *)text_string(&client->header_block);
	size_t size = client->header_block.size;
	int flags = 0;
	while ((flags & NGHTTP2_HD_INFLATE_FINAL) == 0) {
		nghttp2_nv field;
		flags = 0;
		ssize_t used =
			nghttp2_hd_inflate_hd2(client->inflater, &field, &flags, at, size, 1);
		client->failed |= used < 0;
		if (used < 0 || (used == 0 && flags == 0))
			break;
		at += used;
		size -= (size_t)used;
		if ((flags & NGHTTP2_HD_INFLATE_EMIT) == 0)
			continue;
		char *value CLEANUP_FREE =
			text_format("%.*s", (int)field.valuelen, (const char *)field.value);
		const char *name = (const char *)field.name;
		if (text_equal(name, ":status"))
			stream->http_status = (int)strtol(value, NULL, 10);
		if (text_equal(name, "grpc-status")) {
			stream->grpc_status = (int)strtol(value, NULL, 10);
			stream->status_count++;
		}
		if (text_equal(name, "grpc-message"))
			text_append(&stream->message, (const char *)field.value, field.valuelen);
	}
	(void)nghttp2_hd_inflate_end_headers(client->inflater);
	text_reset(&client->header_block);
}

/* Removes padding and priority, which a server need not send. */
static void read_headers(struct raw_client *client, struct raw_stream *stream, uint8_t flags,
			 const uint8_t *payload, size_t size)
{
	size_t front = (flags & NGHTTP2_FLAG_PADDED) != 0 ? 1 : 0;
	size_t back = front != 0 && size != 0 ? payload[0] : 0;
	front += (flags & NGHTTP2_FLAG_PRIORITY) != 0 ? 5 : 0;
	if (front + back > size) {
		client->failed = true;
		return;
	}
	text_append(&client->header_block, (const char *)payload + front, size - front - back);
	if ((flags & NGHTTP2_FLAG_END_HEADERS) != 0)
		read_block(client, stream);
}

static void read_settings(struct raw_client *client, uint8_t flags, const uint8_t *payload,
			  size_t size)
{
	enum { ENTRY = 6, MAX_CONCURRENT_STREAMS = 3 };
	if ((flags & NGHTTP2_FLAG_ACK) != 0) {
		client->settings_acks++;
		return;
	}
	client->settled = true;
	for (; size >= ENTRY; payload += ENTRY, size -= ENTRY) {
		if (((unsigned)payload[0] << 8 | payload[1]) == MAX_CONCURRENT_STREAMS)
			client->concurrent_max = number_at(payload + 2);
	}
	raw_frame(client, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, NULL, 0);
}

static void read_frame(struct raw_client *client, const uint8_t *head, const uint8_t *payload,
		       size_t size)
{
	uint8_t flags = head[HEAD_FLAGS];
	uint32_t id = number_at(head + HEAD_STREAM) & WINDOW_MAX;
	struct raw_stream *stream = id != 0 ? raw_stream(client, id) : NULL;
	bool carries = head[HEAD_TYPE] == NGHTTP2_DATA || head[HEAD_TYPE] == NGHTTP2_HEADERS;
	if (stream != NULL && carries)
		stream->ended |= (flags & NGHTTP2_FLAG_END_STREAM) != 0;

	switch (head[HEAD_TYPE]) {
	case NGHTTP2_DATA:
		if (stream != NULL)
			text_append(&stream->body, (const char *)payload, size);
		break;
	case NGHTTP2_HEADERS:
		if (stream != NULL)
			read_headers(client, stream, flags, payload, size);
		break;
	case NGHTTP2_CONTINUATION:
		if (stream != NULL)
			read_headers(client, stream, flags & NGHTTP2_FLAG_END_HEADERS, payload,
				     size);
		break;
	case NGHTTP2_RST_STREAM:
		if (stream != NULL && size >= 4)
			stream->reset = number_at(payload);
		break;
	case NGHTTP2_SETTINGS:
		read_settings(client, flags, payload, size);
		break;
	case NGHTTP2_PING:
		client->ping_acks += flags & NGHTTP2_FLAG_ACK;
		if ((flags & NGHTTP2_FLAG_ACK) == 0)
			raw_frame(client, NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, payload, size);
		break;
	case NGHTTP2_GOAWAY:
		client->goaways++;
		client->goaway_code = size >= 8 ? number_at(payload + 4) : 0;
		break;
	default:
		break;
	}
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	static char input[READ_SIZE];
	(void)handle;
	(void)suggested;
	*buffer = uv_buf_init(input, sizeof(input));
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
	struct raw_client *client = ((struct transport *)stream->data)->user;
	if (count < 0) {
		client->closed = true;
		(void)uv_read_stop(stream);
		return;
	}
	text_append(&client->input, buffer->base, (size_t)count);
	const uint8_t *start = (const uint8_t *)text_string(&client->input);
	const uint8_t *at = start;
	size_t left = client->input.size;
	while (left >= HEAD_SIZE && !client->failed) {
		size_t size = (size_t)at[0] << 16 | (size_t)at[1] << 8 | at[2];
		client->failed = size > FRAME_MAX;
		if (client->failed || left < size + HEAD_SIZE)
			break;
		read_frame(client, at, at + HEAD_SIZE, size);
		at += size + HEAD_SIZE;
		left -= size + HEAD_SIZE;
	}
	struct text rest = {0};
	text_append(&rest, (const char *)at, client->failed ? 0 : left);
	text_free(&client->input);
	client->input = rest;
}

/*
 * The connection.
 */

static void on_connected(struct transport *transport, const struct error *why)
{
	struct raw_client *client = transport->user;
	client->connected = why == NULL;
	client->closed = why != NULL || uv_read_start(&transport->stream, on_alloc, on_read) != 0;
}

static bool is_connected(void *user)
{
	const struct raw_client *client = user;
	return client->connected || client->closed;
}

static void on_transport_closed(struct transport *transport)
{
	free(transport->user);
}

int raw_open(uv_loop_t *loop, const char *socket, struct raw_client **out, struct error *err)
{
	struct raw_client *client = memory_allocate(1, sizeof(*client));
	struct address address;
	*out = client;
	client->loop = loop;
	client->concurrent_max = UINT32_MAX;
	if (nghttp2_hd_deflate_new(&client->deflater, NGHTTP2_DEFAULT_HEADER_TABLE_SIZE) != 0 ||
	    nghttp2_hd_inflate_new(&client->inflater) != 0)
		return error_memory(err);
	int rc = address_of_path(socket, &address, err);
	if (rc == 0)
		rc = transport_connect(&client->transport, loop, &address, on_connected, client,
				       err);
	if (rc == 0)
		rc = loop_wait(loop, is_connected, client, CONNECT_MS, "a connection", err);
	if (rc == 0 && !client->connected)
		rc = error_set(err, ERROR_UNAVAILABLE, "%s accepts no connection", socket);
	return rc;
}

void raw_close(struct raw_client **at)
{
	struct raw_client *client = STEAL(*at);
	if (client == NULL)
		return;
	nghttp2_hd_deflate_del(client->deflater);
	nghttp2_hd_inflate_del(client->inflater);
	items_each (stream, client->streams, client->stream_count) {
		text_free(&stream->message);
		text_free(&stream->body);
	}
	free(client->streams);
	text_free(&client->input);
	text_free(&client->header_block);
	if (client->transport.open)
		transport_close(&client->transport, on_transport_closed);
	else
		free(client);
}

/*
 * Writing.
 */

static void on_written(uv_write_t *request, int status)
{
	(void)status;
	free(request);
}

void raw_bytes(struct raw_client *client, const void *bytes, size_t size)
{
	if (client->closed || size == 0)
		return;
	uv_write_t *request = memory_allocate(1, sizeof(*request) + size);
	char *copy = (char *)(request + 1);
	memcpy(copy, bytes, size);
	const uv_buf_t buffer = uv_buf_init(copy, (unsigned)size);
	if (uv_write(request, &client->transport.stream, &buffer, 1, on_written) != 0) {
		client->closed = true;
		free(request);
	}
}

void raw_frame(struct raw_client *client, uint8_t type, uint8_t flags, uint32_t stream,
	       const void *payload, size_t size)
{
	struct text frame CLEANUP_TEXT = {0};
	uint8_t head[HEAD_SIZE] = {
		(uint8_t)(size >> 16), (uint8_t)(size >> 8), (uint8_t)size, type, flags,
	};
	number_put(head + HEAD_STREAM, stream);
	text_append(&frame, (const char *)head, sizeof(head));
	text_append(&frame, payload, size);
	raw_bytes(client, frame.data, frame.size);
}

void raw_window_update(struct raw_client *client, uint32_t stream, uint32_t more)
{
	uint8_t payload[4];
	number_put(payload, more);
	raw_frame(client, NGHTTP2_WINDOW_UPDATE, 0, stream, payload, sizeof(payload));
}

void raw_greet(struct raw_client *client, uint32_t window)
{
	uint8_t entry[6] = {0, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE};
	number_put(entry + 2, window < WINDOW_MAX ? window : WINDOW_MAX);
	raw_bytes(client, NGHTTP2_CLIENT_MAGIC, NGHTTP2_CLIENT_MAGIC_LEN);
	raw_frame(client, NGHTTP2_SETTINGS, 0, 0, entry, sizeof(entry));
	raw_window_update(client, 0, WINDOW_MAX - WINDOW_DEFAULT);
}

void raw_add_number(struct text *out, size_t number)
{
	char byte = 0;
	for (; number >= 128; number >>= 7) {
		byte = (char)(number | 128);
		text_append(out, &byte, 1);
	}
	byte = (char)number;
	text_append(out, &byte, 1);
}

static void add_literal(struct text *block, const char *string)
{
	size_t size = strlen(string);
	raw_add_number(block, size < LENGTH_SHORT ? size : LENGTH_SHORT);
	if (size >= LENGTH_SHORT)
		raw_add_number(block, size - LENGTH_SHORT);
	text_append(block, string, size);
}

void raw_request_block(struct raw_client *client, const char *path, const struct raw_field *change,
		       struct text *block)
{
	struct raw_field fields[FIELDS_MAX] = {
		{":method", "POST"},
		{":scheme", "http"},
		{":path", path},
		{":authority", "localhost"},
		{"content-type", "application/grpc"},
		{"user-agent", "grpc-go/1.81.1"},
		{"te", "trailers"},
	};
	size_t count = 7;
	nghttp2_nv list[FIELDS_MAX];
	size_t used = 0;
	size_t at = 0;
	while (change != NULL && at < count && !text_equal(fields[at].name, change->name))
		at++;
	if (change != NULL)
		fields[at == count ? count++ : at] = *change;
	for (size_t i = 0; i < count; i++) {
		if (fields[i].value == NULL)
			continue;
		list[used++] = (nghttp2_nv){
			.name = (uint8_t *)(uintptr_t)fields[i].name,
			.value = (uint8_t *)(uintptr_t)fields[i].value,
			.namelen = strlen(fields[i].name),
			.valuelen = strlen(fields[i].value),
		};
		if (client->literal) {
			text_append(block, "\0", 1);
			add_literal(block, fields[i].name);
			add_literal(block, fields[i].value);
		}
	}
	if (client->literal)
		return;
	size_t size = nghttp2_hd_deflate_bound(client->deflater, list, used);
	uint8_t *bytes CLEANUP_FREE = memory_allocate(1, size + 1);
	ssize_t written = nghttp2_hd_deflate_hd(client->deflater, bytes, size, list, used);
	text_append(block, (const char *)bytes, written > 0 ? (size_t)written : 0);
}

void raw_request(struct raw_client *client, uint32_t stream, const char *path,
		 const struct raw_field *change)
{
	struct text block CLEANUP_TEXT = {0};
	raw_request_block(client, path, change, &block);
	raw_frame(client, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, stream, block.data,
		  block.size);
}

void raw_message(struct raw_client *client, uint32_t stream, const void *message, size_t size)
{
	struct text data CLEANUP_TEXT = {0};
	uint8_t prefix[FRAME_PREFIX_SIZE];
	frame_write_prefix(prefix, (uint32_t)size);
	text_append(&data, (const char *)prefix, sizeof(prefix));
	text_append(&data, message, size);
	raw_frame(client, NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, stream, data.data, data.size);
}

void raw_call(struct raw_client *client, uint32_t stream, const char *path, const void *message,
	      size_t size)
{
	raw_request(client, stream, path, NULL);
	raw_message(client, stream, message, size);
}

/*
 * Waiting.
 */

struct stream_wait {
	struct raw_client *client;
	uint32_t id;
	unsigned acks;
};

static bool stream_is_over(void *user)
{
	const struct stream_wait *wait = user;
	const struct raw_stream *stream = raw_stream(wait->client, wait->id);
	return stream->ended || stream->reset >= 0 || wait->client->closed || wait->client->failed;
}

int raw_wait(struct raw_client *client, uint32_t stream, uint64_t timeout_ms, struct error *err)
{
	struct stream_wait wait = {.client = client, .id = stream};
	return loop_wait(client->loop, stream_is_over, &wait, timeout_ms, "the end of the call",
			 err);
}

static bool is_acknowledged(void *user)
{
	const struct stream_wait *wait = user;
	const struct raw_client *client = wait->client;
	/* After a GOAWAY with an error nothing more is answered (RFC 9113, 5.4.1). */
	return client->ping_acks > wait->acks || client->closed || client->goaway_code != 0;
}

int raw_ping(struct raw_client *client, uint64_t timeout_ms, struct error *err)
{
	struct stream_wait wait = {.client = client, .acks = client->ping_acks};
	raw_frame(client, NGHTTP2_PING, 0, 0, "gpucert\n", 8);
	int rc = loop_wait(client->loop, is_acknowledged, &wait, timeout_ms,
			   "the acknowledgement of PING", err);
	return rc == 0 && client->ping_acks == wait.acks
		       ? error_set(err, ERROR_UNAVAILABLE, "the connection was ended")
		       : rc;
}

static bool is_flushed(void *user)
{
	const struct raw_client *client = user;
	return client->closed || uv_stream_get_write_queue_size(&client->transport.stream) == 0;
}

int raw_flush(struct raw_client *client, uint64_t timeout_ms, struct error *err)
{
	return loop_wait(client->loop, is_flushed, client, timeout_ms, "a server that reads", err);
}

static bool is_closed(void *user)
{
	const struct raw_client *client = user;
	return client->closed;
}

int raw_wait_closed(struct raw_client *client, uint64_t timeout_ms, struct error *err)
{
	return loop_wait(client->loop, is_closed, client, timeout_ms, "the end of the connection",
			 err);
}
