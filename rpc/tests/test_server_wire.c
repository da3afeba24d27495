/* SPDX-License-Identifier: MIT */
/* What a server does with the bytes of clients that do not follow the rules, and of some that do in
 * unusual ways. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/tests/unit.h"
#include "rpc/loop.h"
#include "rpc/tests/wire.h"

#include <string.h>

struct subject {
	uv_loop_t loop;
	struct rpc_server *server;
	struct peer *peer;
	struct session *session;
	struct memory memory;
	struct wire wire;
	int handled;
	int ended;
	struct rpc_stream *held;
};

static void on_echo(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	struct subject *subject = user;
	subject->handled++;
	(void)rpc_stream_send(stream, request, NULL);
	rpc_stream_finish(stream, RPC_OK, "%s", "");
}

static void on_end(void *user)
{
	struct subject *subject = user;
	subject->ended++;
	subject->held = NULL;
}

static void on_hold(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	struct subject *subject = user;
	(void)request;
	subject->handled++;
	subject->held = stream;
	rpc_stream_on_end(stream, on_end, subject);
}

static void start_with(struct subject *subject, const struct rpc_server_options *options,
		       bool preface)
{
	*subject = (struct subject){0};
	CU_ASSERT_FATAL(uv_loop_init(&subject->loop) == 0);
	CU_ASSERT_FATAL(rpc_server_new(&subject->loop, options, &subject->server, NULL) == 0);
	CU_ASSERT_FATAL(rpc_server_add(subject->server, "/t.T/Echo", on_echo, subject, NULL) == 0);
	CU_ASSERT_FATAL(rpc_server_add(subject->server, "/t.T/Hold", on_hold, subject, NULL) == 0);
	CU_ASSERT_FATAL(peer_new(subject->server, &memory_transport, &subject->peer, NULL) == 0);
	subject->session = &subject->peer->session;
	subject->session->transport_data = &subject->memory;
	wire_start(&subject->wire, preface);
	if (!preface)
		text_reset(&subject->wire.bytes);
}

static void start(struct subject *subject)
{
	start_with(subject, NULL, true);
}

static void stop(struct subject *subject)
{
	peer_free(subject->peer);
	rpc_server_close(subject->server);
	CU_ASSERT_EQUAL(loop_drain(&subject->loop, 1000, NULL), 0);
	wire_stop(&subject->wire);
	text_free(&subject->memory.written);
}

static const struct wire_stream *talk(struct subject *subject, uint32_t stream)
{
	wire_talk(&subject->wire, subject->session);
	return &subject->wire.facts.streams[stream % WIRE_STREAMS];
}

static void test_garbage(void)
{
	static const char *const openings[] = {
		"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a TLS hello",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\rX and so on",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n this is no SETTINGS frame, is it?",
	};
	for (size_t i = 0; i < ARRAY_SIZE(openings); i++) {
		struct subject subject;
		start_with(&subject, NULL, false);
		text_add(&subject.wire.bytes, openings[i]);
		(void)talk(&subject, 1);
		CU_ASSERT(subject.session->ended);
		CU_ASSERT_EQUAL(subject.handled, 0);
		stop(&subject);
	}
}

static void test_byte_by_byte(void)
{
	struct subject subject;
	struct text bytes CLEANUP_TEXT = {0};
	start(&subject);
	wire_request(&subject.wire, 0, 1, "/t.T/Echo", NULL);
	wire_message(&subject.wire, NGHTTP2_FLAG_END_STREAM, 1, "hello", 5);
	bytes = subject.wire.bytes;
	subject.wire.bytes = (struct text){0};
	for (size_t i = 0; i < bytes.size; i++) {
		text_append(&subject.wire.bytes, bytes.data + i, 1);
		(void)talk(&subject, 1);
	}
	const struct wire_stream *stream = talk(&subject, 1);
	CU_ASSERT_EQUAL(subject.handled, 1);
	CU_ASSERT_EQUAL(stream->grpc_status, RPC_OK);
	CU_ASSERT_EQUAL(stream->data, 10);
	CU_ASSERT(stream->ended);
	CU_ASSERT_EQUAL(stream->reset, -1);
	stop(&subject);
}

/* Requests that differ from a good one in one field. */
static void test_request_headers(void)
{
	static const struct {
		struct wire_field change;
		int http_status, grpc_status;
		int64_t reset;
	} cases[] = {
		{{":authority", "/var/lib/kubelet/device-plugins/a b.sock"}, 200, RPC_OK, -1},
		{{":authority", "%2Frun%2Fx.sock"}, 200, RPC_OK, -1},
		{{":authority", ""}, 200, RPC_OK, -1},
		{{":scheme", "https"}, 200, RPC_OK, -1},
		{{"content-type", "application/grpc+proto"}, 200, RPC_OK, -1},
		{{"content-type", "application/grpc;v=1"}, 200, RPC_OK, -1},
		{{"content-type", "application/grpcx"}, 415, -1, -1},
		{{"content-type", "text/plain"}, 415, -1, -1},
		{{":method", "GET"}, 405, -1, -1},
		{{":path", "/t.T/echo"}, 200, RPC_UNIMPLEMENTED, -1},
		{{":path", ""}, 200, RPC_UNIMPLEMENTED, -1},
		{{"grpc-encoding", "identity"}, 200, RPC_OK, -1},
		{{"grpc-encoding", "gzip"}, 200, RPC_UNIMPLEMENTED, -1},
		{{"grpc-timeout", "99999999H"}, 200, RPC_OK, -1},
		{{"grpc-timeout", "soon"}, 200, RPC_INTERNAL, -1},
		{{"grpc-timeout", "123456789S"}, 200, RPC_INTERNAL, -1},
		{{"x-anything", "\xff\x01 bytes"}, 200, RPC_OK, -1},
		{{"X-Upper", "v"}, 0, -1, NGHTTP2_PROTOCOL_ERROR},
		{{"x bad", "v"}, 0, -1, NGHTTP2_PROTOCOL_ERROR},
		{{"x-line", "a\nb"}, 0, -1, NGHTTP2_PROTOCOL_ERROR},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct wire_field fields[] = {
			{":method", "POST"},
			{":scheme", "http"},
			{":path", "/t.T/Echo"},
			{":authority", "localhost"},
			{"content-type", "application/grpc"},
			{"te", "trailers"},
		};
		struct subject subject;
		const struct wire_stream *stream = NULL;
		size_t at = ARRAY_SIZE(fields) - 1;
		for (size_t k = 0; k < ARRAY_SIZE(fields); k++) {
			if (strcmp(fields[k].name, cases[i].change.name) == 0)
				at = k;
		}
		fields[at] = cases[i].change;
		start(&subject);
		wire_headers(&subject.wire, 0, 1, fields, ARRAY_SIZE(fields));
		wire_message(&subject.wire, NGHTTP2_FLAG_END_STREAM, 1, "hello", 5);
		stream = talk(&subject, 1);
		CU_ASSERT_EQUAL(stream->http_status, cases[i].http_status);
		CU_ASSERT_EQUAL(stream->grpc_status, cases[i].grpc_status);
		CU_ASSERT_EQUAL(stream->reset, cases[i].reset);
		CU_ASSERT(!subject.session->ended);
		CU_ASSERT_PTR_NULL(subject.session->first);
		stop(&subject);
	}
}

static void test_large_header_list(void)
{
	const struct rpc_server_options options = {.limits = {.header_list_max = 1000}};
	char value[901] = "";
	const struct wire_field large = {"x-large", value};
	struct subject subject;
	memset(value, 'v', sizeof(value) - 1);
	start_with(&subject, &options, true);
	wire_request(&subject.wire, 0, 1, "/t.T/Echo", &large);
	wire_message(&subject.wire, NGHTTP2_FLAG_END_STREAM, 1, "hello", 5);
	CU_ASSERT_EQUAL(talk(&subject, 1)->grpc_status, RPC_RESOURCE_EXHAUSTED);
	CU_ASSERT_EQUAL(subject.handled, 0);
	stop(&subject);
}

static void test_request_bodies(void)
{
	static const struct {
		const char *bytes;
		size_t size;
		int status;
		int handled;
	} cases[] = {
		{"\0\0\0\0\0", 5, RPC_OK, 1},
		{"", 0, RPC_UNIMPLEMENTED, 0},			      /* no message */
		{"\0\0\0\0\1a\0\0\0\0\1b", 12, RPC_UNIMPLEMENTED, 0}, /* two */
		{"\0\0\0\0\1a\0", 7, RPC_UNIMPLEMENTED, 0},	      /* one and a bit */
		{"\0\0\0\0\5abc", 8, RPC_INTERNAL, 0},		      /* truncated */
		{"\0\0\0", 3, RPC_INTERNAL, 0},
		{"\1\0\0\0\1a", 6, RPC_INTERNAL, 0}, /* compressed */
		{"\xff\0\0\0\1a", 6, RPC_INTERNAL, 0},
		{"\0\xff\xff\xff\xff", 5, RPC_RESOURCE_EXHAUSTED, 0},
		{"\0\0\x40\0\1", 5, RPC_RESOURCE_EXHAUSTED, 0}, /* 4 MiB and a byte */
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct subject subject;
		const struct wire_stream *stream = NULL;
		start(&subject);
		wire_request(&subject.wire, 0, 1, "/t.T/Echo", NULL);
		wire_frame(&subject.wire, NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 1, cases[i].bytes,
			   cases[i].size);
		stream = talk(&subject, 1);
		CU_ASSERT_EQUAL(stream->grpc_status, cases[i].status);
		CU_ASSERT_EQUAL(subject.handled, cases[i].handled);
		CU_ASSERT(!subject.session->ended);
		stop(&subject);
	}
}

/* The status comes while the client is still sending; the rest is neither kept nor waited for. */
static void test_answer_before_the_request_ends(void)
{
	struct subject subject;
	start(&subject);
	wire_request(&subject.wire, 0, 1, "/t.T/Nothing", NULL);
	const struct wire_stream *stream = talk(&subject, 1);
	CU_ASSERT_EQUAL(stream->grpc_status, RPC_UNIMPLEMENTED);
	CU_ASSERT_EQUAL(stream->reset, NGHTTP2_NO_ERROR);
	CU_ASSERT_PTR_NULL(subject.session->first);
	stop(&subject);
}

static void test_deadline(void)
{
	const struct wire_field timeout = {"grpc-timeout", "5m"};
	struct subject subject;
	start(&subject);
	wire_request(&subject.wire, 0, 1, "/t.T/Hold", &timeout);
	wire_message(&subject.wire, NGHTTP2_FLAG_END_STREAM, 1, "", 0);
	const struct wire_stream *stream = talk(&subject, 1);
	CU_ASSERT_EQUAL(stream->grpc_status, -1);
	CU_ASSERT_EQUAL(session_expire(subject.session, clock_monotonic_ms() + 10), UINT64_MAX);
	stream = talk(&subject, 1);
	CU_ASSERT_EQUAL(stream->grpc_status, RPC_DEADLINE_EXCEEDED);
	CU_ASSERT_EQUAL(subject.ended, 1);
	stop(&subject);
}

static void test_cancelled_by_reset(void)
{
	static const uint8_t cancel[4] = {0, 0, 0, NGHTTP2_CANCEL};
	struct subject subject;
	start(&subject);
	wire_request(&subject.wire, 0, 1, "/t.T/Hold", NULL);
	wire_message(&subject.wire, NGHTTP2_FLAG_END_STREAM, 1, "", 0);
	(void)talk(&subject, 1);
	CU_ASSERT_PTR_NOT_NULL(subject.held);
	wire_frame(&subject.wire, NGHTTP2_RST_STREAM, 0, 1, cancel, 4);
	(void)talk(&subject, 1);
	CU_ASSERT_PTR_NULL(subject.held);
	CU_ASSERT_EQUAL(subject.ended, 1);
	CU_ASSERT_PTR_NULL(subject.session->first);
	/* Request and cancellation in one read: the handler never sees it. */
	wire_request(&subject.wire, 0, 3, "/t.T/Hold", NULL);
	wire_message(&subject.wire, NGHTTP2_FLAG_END_STREAM, 3, "", 0);
	wire_frame(&subject.wire, NGHTTP2_RST_STREAM, 0, 3, cancel, 4);
	(void)talk(&subject, 3);
	CU_ASSERT_EQUAL(subject.handled, 1);
	stop(&subject);
}

static void test_ping_and_goaway(void)
{
	static const uint8_t last[8] = {0};
	struct subject subject;
	start(&subject);
	wire_frame(&subject.wire, NGHTTP2_PING, 0, 0, "12345678", 8);
	(void)talk(&subject, 1);
	CU_ASSERT_EQUAL(subject.wire.facts.ping_acks, 1);
	CU_ASSERT_EQUAL(subject.wire.facts.settings_acks, 1);
	wire_request(&subject.wire, 0, 1, "/t.T/Echo", NULL);
	wire_message(&subject.wire, NGHTTP2_FLAG_END_STREAM, 1, "", 0);
	wire_frame(&subject.wire, NGHTTP2_GOAWAY, 0, 0, last, 8);
	CU_ASSERT_EQUAL(talk(&subject, 1)->grpc_status, RPC_OK);
	CU_ASSERT(subject.session->ended);
	stop(&subject);
}

static void test_window_of_one_byte(void)
{
	static const uint8_t tiny[6] = {0, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0, 0, 0, 0};
	static const uint8_t one[4] = {0, 0, 0, 1};
	struct subject subject;
	start(&subject);
	wire_frame(&subject.wire, NGHTTP2_SETTINGS, 0, 0, tiny, 6);
	wire_request(&subject.wire, 0, 1, "/t.T/Echo", NULL);
	wire_message(&subject.wire, NGHTTP2_FLAG_END_STREAM, 1, "hello", 5);
	const struct wire_stream *stream = talk(&subject, 1);
	CU_ASSERT_EQUAL(subject.handled, 1);
	for (size_t i = 0; i < 10; i++) {
		CU_ASSERT_EQUAL(stream->data, i);
		CU_ASSERT_EQUAL(stream->grpc_status, -1);
		wire_frame(&subject.wire, NGHTTP2_WINDOW_UPDATE, 0, 1, one, 4);
		stream = talk(&subject, 1);
	}
	CU_ASSERT_EQUAL(stream->data, 10);
	CU_ASSERT_EQUAL(stream->grpc_status, RPC_OK);
	stop(&subject);
}

/* More than the window that the server opened. */
static void test_flow_control_violated(void)
{
	const struct rpc_server_options options = {.initial_window = 100};
	static const uint8_t zeros[200];
	struct subject subject;
	start_with(&subject, &options, true);
	(void)talk(&subject, 1);
	wire_frame(&subject.wire, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, NULL, 0);
	wire_request(&subject.wire, 0, 1, "/t.T/Echo", NULL);
	wire_frame(&subject.wire, NGHTTP2_DATA, 0, 1, zeros, 101);
	CU_ASSERT_EQUAL(talk(&subject, 1)->reset == NGHTTP2_FLOW_CONTROL_ERROR ||
				subject.wire.facts.goaway_code == NGHTTP2_FLOW_CONTROL_ERROR,
			true);
	CU_ASSERT_EQUAL(subject.handled, 0);
	stop(&subject);
}

static void test_concurrent_streams_limit(void)
{
	const struct rpc_server_options options = {.limits = {.concurrent_streams_max = 10}};
	struct subject subject;
	size_t open = 0;
	start_with(&subject, &options, true);
	for (uint32_t id = 1; id < 100; id += 2)
		wire_request(&subject.wire, 0, id, "/t.T/Hold", NULL);
	(void)talk(&subject, 1);
	for (const struct exchange *exchange = subject.session->first; exchange != NULL;
	     exchange = exchange->next)
		open++;
	CU_ASSERT(open <= 10);
	for (uint32_t id = 21; id < 100; id += 2)
		CU_ASSERT_EQUAL(subject.wire.facts.streams[id].reset, NGHTTP2_REFUSED_STREAM);
	stop(&subject);
}

static void test_rapid_reset(void)
{
	static const uint8_t cancel[4] = {0, 0, 0, NGHTTP2_CANCEL};
	const struct rpc_server_options options = {.limits = {.reset_rate_max = 50}};
	struct subject subject;
	uint32_t id = 1;
	start_with(&subject, &options, true);
	/* Twice the limit and one, so that a second's turn in between makes no difference. */
	for (; id <= 2 * 101; id += 2) {
		wire_request(&subject.wire, 0, id, "/t.T/Hold", NULL);
		wire_frame(&subject.wire, NGHTTP2_RST_STREAM, 0, id, cancel, 4);
	}
	(void)talk(&subject, 1);
	CU_ASSERT(subject.session->ended);
	CU_ASSERT_EQUAL(subject.wire.facts.goaway_code, NGHTTP2_ENHANCE_YOUR_CALM);
	CU_ASSERT_EQUAL(subject.handled, 0);
	stop(&subject);
}

/* The same by making the server reset. */
static void test_provoked_resets(void)
{
	const struct rpc_server_options options = {.limits = {.reset_rate_max = 50}};
	const struct wire_field bad = {"x bad", "v"};
	struct subject subject;
	start_with(&subject, &options, true);
	for (uint32_t id = 1; id <= 2 * 101; id += 2)
		wire_request(&subject.wire, 0, id, "/t.T/Hold", &bad);
	(void)talk(&subject, 1);
	(void)talk(&subject, 1);
	CU_ASSERT(subject.session->ended);
	CU_ASSERT_EQUAL(subject.wire.facts.goaway_code, NGHTTP2_ENHANCE_YOUR_CALM);
	stop(&subject);
}

static void test_continuation_flood(void)
{
	struct subject subject;
	start(&subject);
	wire_frame(&subject.wire, NGHTTP2_HEADERS, 0, 1, "", 0);
	for (size_t i = 0; i < 1000; i++)
		wire_frame(&subject.wire, NGHTTP2_CONTINUATION, 0, 1, "", 0);
	(void)talk(&subject, 1);
	CU_ASSERT(subject.session->ended);
	stop(&subject);
}

/* One table entry of 4000 bytes, named thousands of times. */
static void test_header_bomb(void)
{
	struct subject subject;
	struct text block CLEANUP_TEXT = {0};
	char value[4000];
	memset(value, 'v', sizeof(value));
	text_append(&block, "\x40\x01x\x7f\xa1\x1e", 6); /* "x", a value of 127 + 3873 bytes */
	text_append(&block, value, sizeof(value));
	for (size_t i = 0; i < 10000; i++)
		text_append(&block, "\xbe", 1); /* the newest entry of the dynamic table */
	start(&subject);
	wire_frame(&subject.wire, NGHTTP2_HEADERS,
		   NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 1, block.data, block.size);
	const struct wire_stream *stream = talk(&subject, 1);
	CU_ASSERT(subject.session->ended || stream->grpc_status == RPC_RESOURCE_EXHAUSTED);
	stop(&subject);
}

/* A peer that asks for answers and takes none. */
static void test_ping_flood_unread(void)
{
	struct subject subject;
	start(&subject);
	(void)talk(&subject, 1);
	subject.memory.blocked = true;
	for (size_t i = 0; i < 5000 && !subject.session->ended; i++) {
		wire_frame(&subject.wire, NGHTTP2_PING, 0, 0, "12345678", 8);
		(void)talk(&subject, 1);
	}
	CU_ASSERT(subject.session->ended);
	stop(&subject);
}

static void test_broken_frames(void)
{
	static const struct {
		uint8_t type, flags;
		uint32_t stream;
		size_t size;
	} cases[] = {
		{NGHTTP2_SETTINGS, 0, 0, 5},
		{NGHTTP2_SETTINGS, 0, 1, 6},
		{NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, 6},
		{NGHTTP2_PING, 0, 0, 7},
		{NGHTTP2_PING, 0, 1, 8},
		{NGHTTP2_GOAWAY, 0, 0, 4},
		{NGHTTP2_WINDOW_UPDATE, 0, 0, 4},
		{NGHTTP2_WINDOW_UPDATE, 0, 0, 3},
		{NGHTTP2_RST_STREAM, 0, 0, 4},
		{NGHTTP2_RST_STREAM, 0, 7, 4},
		{NGHTTP2_DATA, 0, 0, 4},
		{NGHTTP2_DATA, 0, 7, 4},
		{NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 2, 4},
		{NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 0, 4},
		{NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_PADDED, 1, 0},
		{NGHTTP2_CONTINUATION, NGHTTP2_FLAG_END_HEADERS, 1, 4},
		{NGHTTP2_PUSH_PROMISE, NGHTTP2_FLAG_END_HEADERS, 1, 8},
		{NGHTTP2_DATA, 0, 1, 16385},
	};
	static const uint8_t zeros[16385];
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct subject subject;
		start(&subject);
		wire_frame(&subject.wire, cases[i].type, cases[i].flags, cases[i].stream, zeros,
			   cases[i].size);
		(void)talk(&subject, 1);
		CU_ASSERT(subject.session->ended);
		CU_ASSERT(subject.wire.facts.goaways > 0);
		CU_ASSERT_NOT_EQUAL(subject.wire.facts.goaway_code, NGHTTP2_NO_ERROR);
		stop(&subject);
	}
}

UNIT_MAIN("server on the wire", {"garbage", test_garbage}, {"byte by byte", test_byte_by_byte},
	  {"request headers", test_request_headers}, {"large header list", test_large_header_list},
	  {"request bodies", test_request_bodies},
	  {"answer before the request ends", test_answer_before_the_request_ends},
	  {"deadline", test_deadline}, {"cancelled by reset", test_cancelled_by_reset},
	  {"ping and goaway", test_ping_and_goaway},
	  {"window of one byte", test_window_of_one_byte},
	  {"flow control violated", test_flow_control_violated},
	  {"concurrent streams limit", test_concurrent_streams_limit},
	  {"rapid reset", test_rapid_reset}, {"provoked resets", test_provoked_resets},
	  {"continuation flood", test_continuation_flood}, {"header bomb", test_header_bomb},
	  {"ping flood unread", test_ping_flood_unread}, {"broken frames", test_broken_frames})
