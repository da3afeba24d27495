/* SPDX-License-Identifier: MIT */
#include "rpc/tests/wire.h"

#include <stdlib.h>
#include <string.h>

/* A test that cannot be made is no test. Not assert(): release builds leave that out. */
static void need(bool holds)
{
	if (!holds)
		abort();
}

static void memory_flush(struct session *session)
{
	struct memory *memory = session->transport_data;
	while (!memory->blocked && session_produce(session)) {
		text_append(&memory->written, session->output.data, session->output.size);
		text_reset(&session->output);
	}
}

static void memory_wake_at(struct session *session, uint64_t deadline_ms)
{
	(void)session;
	(void)deadline_ms;
}

const struct session_transport memory_transport = {
	.flush = memory_flush,
	.wake_at = memory_wake_at,
};

void memory_feed(struct session *session, const void *bytes, size_t size)
{
	session_receive(session, bytes, size);
	session_run(session);
}

void wire_start(struct wire *wire, bool preface)
{
	*wire = (struct wire){0};
	for (size_t i = 0; i < WIRE_STREAMS; i++) {
		wire->facts.streams[i].grpc_status = -1;
		wire->facts.streams[i].reset = -1;
	}
	if (nghttp2_hd_deflate_new(&wire->deflater, 4096) != 0 ||
	    nghttp2_hd_inflate_new(&wire->inflater) != 0)
		abort();
	if (preface)
		text_append(&wire->bytes, NGHTTP2_CLIENT_MAGIC, NGHTTP2_CLIENT_MAGIC_LEN);
	wire_frame(wire, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
}

void wire_stop(struct wire *wire)
{
	text_free(&wire->bytes);
	nghttp2_hd_deflate_del(wire->deflater);
	nghttp2_hd_inflate_del(wire->inflater);
}

void wire_frame(struct wire *wire, uint8_t type, uint8_t flags, uint32_t stream,
		const void *payload, size_t size)
{
	const uint8_t head[9] = {
		(uint8_t)(size >> 16),
		(uint8_t)(size >> 8),
		(uint8_t)size,
		type,
		flags,
		(uint8_t)(stream >> 24),
		(uint8_t)(stream >> 16),
		(uint8_t)(stream >> 8),
		(uint8_t)stream,
	};
	text_append(&wire->bytes, (const char *)head, sizeof(head));
	text_append(&wire->bytes, payload, size);
}

void wire_headers(struct wire *wire, uint8_t flags, uint32_t stream,
		  const struct wire_field *fields, size_t count)
{
	nghttp2_nv list[40];
	uint8_t block[16384];
	need(count <= sizeof(list) / sizeof(list[0]));
	for (size_t i = 0; i < count; i++)
		list[i] = header_field(fields[i].name, fields[i].value);
	ssize_t size = nghttp2_hd_deflate_hd(wire->deflater, block, sizeof(block), list, count);
	need(size >= 0);
	wire_frame(wire, NGHTTP2_HEADERS, flags | NGHTTP2_FLAG_END_HEADERS, stream, block,
		   (size_t)size);
}

void wire_request(struct wire *wire, uint8_t flags, uint32_t stream, const char *path,
		  const struct wire_field *extra)
{
	struct wire_field fields[7] = {
		{":method", "POST"}, {":scheme", "http"},
		{":path", path},     {":authority", "localhost"},
		{"te", "trailers"},  {"content-type", "application/grpc"},
	};
	size_t count = 6;
	if (extra != NULL)
		fields[count++] = *extra;
	wire_headers(wire, flags, stream, fields, count);
}

void wire_message(struct wire *wire, uint8_t flags, uint32_t stream, const void *bytes, size_t size)
{
	struct text payload CLEANUP_TEXT = {0};
	uint8_t prefix[FRAME_PREFIX_SIZE];
	frame_write_prefix(prefix, (uint32_t)size);
	text_append(&payload, (const char *)prefix, sizeof(prefix));
	text_append(&payload, bytes, size);
	wire_frame(wire, NGHTTP2_DATA, flags, stream, payload.data, payload.size);
}

static void read_headers(struct wire *wire, struct wire_stream *stream, const uint8_t *block,
			 size_t size)
{
	for (;;) {
		nghttp2_nv field;
		int flags = 0;
		ssize_t used =
			nghttp2_hd_inflate_hd2(wire->inflater, &field, &flags, block, size, 1);
		const char *value = (const char *)field.value;
		need(used >= 0);
		block += used;
		size -= (size_t)used;
		if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
			if (strcmp((const char *)field.name, ":status") == 0)
				stream->http_status = (int)strtol(value, NULL, 10);
			if (strcmp((const char *)field.name, "grpc-status") == 0)
				stream->grpc_status = (int)strtol(value, NULL, 10);
		}
		if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0)
			break;
	}
	(void)nghttp2_hd_inflate_end_headers(wire->inflater);
}

static uint32_t number_at(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

static void read_frame(struct wire *wire, const uint8_t *head, const uint8_t *payload, size_t size)
{
	struct wire_facts *facts = &wire->facts;
	uint8_t flags = head[4];
	struct wire_stream *stream = &facts->streams[number_at(head + 5) % WIRE_STREAMS];
	switch (head[3]) {
	case NGHTTP2_DATA:
		stream->data += size;
		stream->ended = stream->ended || (flags & NGHTTP2_FLAG_END_STREAM) != 0;
		break;
	case NGHTTP2_HEADERS:
		read_headers(wire, stream, payload, size);
		stream->ended = stream->ended || (flags & NGHTTP2_FLAG_END_STREAM) != 0;
		break;
	case NGHTTP2_RST_STREAM:
		stream->reset = number_at(payload);
		break;
	case NGHTTP2_SETTINGS:
		facts->settings_acks += flags & NGHTTP2_FLAG_ACK;
		break;
	case NGHTTP2_PING:
		facts->ping_acks += flags & NGHTTP2_FLAG_ACK;
		break;
	case NGHTTP2_GOAWAY:
		facts->goaways++;
		facts->goaway_code = number_at(payload + 4);
		break;
	case NGHTTP2_WINDOW_UPDATE:
		facts->window_updates++;
		break;
	default:
		break;
	}
}

void wire_talk(struct wire *wire, struct session *session)
{
	struct memory *memory = session->transport_data;
	memory_feed(session, text_string(&wire->bytes), wire->bytes.size);
	text_reset(&wire->bytes);
	const uint8_t *at = (const uint8_t *)text_string(&memory->written);
	const uint8_t *end = at + memory->written.size;
	if (!session->role->is_server && memory->written.size >= NGHTTP2_CLIENT_MAGIC_LEN &&
	    memcmp(at, NGHTTP2_CLIENT_MAGIC, NGHTTP2_CLIENT_MAGIC_LEN) == 0)
		at += NGHTTP2_CLIENT_MAGIC_LEN;
	while (end - at >= 9) {
		size_t size = (size_t)at[0] << 16 | (size_t)at[1] << 8 | at[2];
		need((size_t)(end - at) >= size + 9);
		read_frame(wire, at, at + 9, size);
		at += size + 9;
	}
	text_reset(&memory->written);
}
