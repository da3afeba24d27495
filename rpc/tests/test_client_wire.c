/* SPDX-License-Identifier: MIT */
/* What a client makes of the bytes of servers that do not follow the rules, and of some that do in
 * unusual ways. */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "rpc/tests/wire.h"

#include <stdio.h>
#include <string.h>

struct subject {
	struct rpc_channel *channel;
	struct session *session;
	struct memory memory;
	struct wire wire;
	struct rpc_call *call;
	int messages;
	int done;
	int code;
	char message[256];
	int lost;
};

static void on_message(struct rpc_call *call, struct rpc_slice message, void *user)
{
	struct subject *subject = user;
	(void)call;
	(void)message;
	subject->messages++;
}

static void on_done(const struct rpc_status *status, void *user)
{
	struct subject *subject = user;
	subject->done++;
	subject->code = status->code;
	(void)snprintf(subject->message, sizeof(subject->message), "%s", status->message);
}

static void on_lost(struct rpc_channel *channel, const struct error *why, void *user)
{
	struct subject *subject = user;
	(void)channel;
	CU_ASSERT(why->text[0] != '\0');
	subject->lost++;
}

static void call(struct subject *subject)
{
	static const struct rpc_call_events events = {on_message, on_done};
	const struct rpc_call_request request = {.method = "/t.T/Echo", .message = {NULL, 0}};
	CU_ASSERT_FATAL(rpc_call_start(subject->channel, &request, &events, subject, &subject->call,
				       NULL) == 0);
}

/* A client with one call on stream 1. */
static void start(struct subject *subject)
{
	const struct rpc_channel_options options = {
		.on_lost = on_lost,
		.user = subject,
		.limits = {.message_max = 1000, .header_list_max = 2000},
	};
	*subject = (struct subject){.code = -1};
	CU_ASSERT_FATAL(channel_new(&options, &memory_transport, &subject->channel, NULL) == 0);
	subject->session = &subject->channel->session;
	subject->session->transport_data = &subject->memory;
	wire_start(&subject->wire, false);
	call(subject);
	wire_talk(&subject->wire, subject->session);
}

static void stop(struct subject *subject)
{
	CU_ASSERT_EQUAL(subject->done, 1);
	channel_free(subject->channel);
	wire_stop(&subject->wire);
	text_free(&subject->memory.written);
}

static void talk(struct subject *subject)
{
	wire_talk(&subject->wire, subject->session);
}

enum { END = NGHTTP2_FLAG_END_STREAM };

static void answer(struct subject *subject, uint8_t flags, const char *status,
		   const char *content_type)
{
	const struct wire_field fields[] = {
		{":status", status},
		{"content-type", content_type},
	};
	wire_headers(&subject->wire, flags, 1, fields, content_type != NULL ? 2 : 1);
}

static void trailers(struct subject *subject, const char *status, const char *message)
{
	const struct wire_field fields[] = {
		{"grpc-status", status},
		{"grpc-message", message},
	};
	wire_headers(&subject->wire, END, 1, fields, message != NULL ? 2 : 1);
}

static void test_good_answer(void)
{
	struct subject subject;
	start(&subject);
	answer(&subject, 0, "100", NULL);
	answer(&subject, 0, "200", "application/grpc+proto");
	wire_message(&subject.wire, 0, 1, "hello", 5);
	trailers(&subject, "0", NULL);
	talk(&subject);
	CU_ASSERT_EQUAL(subject.code, RPC_OK);
	CU_ASSERT_EQUAL(subject.messages, 1);
	CU_ASSERT_EQUAL(subject.wire.facts.streams[1].reset, -1);
	CU_ASSERT_PTR_NULL(subject.session->first);
	stop(&subject);
}

static void test_trailers(void)
{
	static const struct {
		const char *status, *message;
		int code;
		const char *text;
	} cases[] = {
		{"5", "no%20%e2%82%ac", RPC_NOT_FOUND, "no \xe2\x82\xac"},
		{"0", NULL, RPC_OK, ""},
		{"16", "", RPC_UNAUTHENTICATED, ""},
		{"17", "x", 17, "x"},
		{"five", "x", RPC_UNKNOWN, "x"},
		{"", "x", RPC_UNKNOWN, "x"},
		{"2", "bad % escape", RPC_UNKNOWN, "bad % escape"},
		{"2", "raw \xe2\x82\xac", RPC_UNKNOWN, "raw \xe2\x82\xac"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct subject subject;
		start(&subject);
		answer(&subject, 0, "200", "application/grpc");
		trailers(&subject, cases[i].status, cases[i].message);
		talk(&subject);
		CU_ASSERT_EQUAL(subject.code, cases[i].code);
		CU_ASSERT_STRING_EQUAL(subject.message, cases[i].text);
		stop(&subject);
	}
}

static void test_trailers_only(void)
{
	const struct wire_field fields[] = {
		{":status", "200"},
		{"content-type", "application/grpc"},
		{"grpc-status", "12"},
		{"grpc-message", "no such method"},
	};
	struct subject subject;
	start(&subject);
	wire_headers(&subject.wire, END, 1, fields, ARRAY_SIZE(fields));
	talk(&subject);
	CU_ASSERT_EQUAL(subject.code, RPC_UNIMPLEMENTED);
	CU_ASSERT_STRING_EQUAL(subject.message, "no such method");
	stop(&subject);
}

static void test_no_grpc(void)
{
	static const struct {
		const char *status, *content_type;
		uint8_t flags;
		int code;
	} cases[] = {
		{"404", "text/html", 0, RPC_UNIMPLEMENTED},
		{"503", NULL, END, RPC_UNAVAILABLE},
		{"415", NULL, END, RPC_UNKNOWN},
		{"200", "text/html", 0, RPC_UNKNOWN},
		{"200", NULL, 0, RPC_UNKNOWN},
		{"200", "application/grpc", END, RPC_INTERNAL}, /* no grpc-status at all */
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct subject subject;
		start(&subject);
		answer(&subject, cases[i].flags, cases[i].status, cases[i].content_type);
		talk(&subject);
		CU_ASSERT_EQUAL(subject.code, cases[i].code);
		CU_ASSERT(subject.message[0] != '\0');
		/* What is not over is cancelled. */
		CU_ASSERT_EQUAL(subject.wire.facts.streams[1].reset,
				cases[i].flags == END ? -1 : NGHTTP2_CANCEL);
		stop(&subject);
	}
}

static void test_missing_trailers(void)
{
	struct subject subject;
	start(&subject);
	answer(&subject, 0, "200", "application/grpc");
	wire_message(&subject.wire, END, 1, "hello", 5);
	talk(&subject);
	CU_ASSERT_EQUAL(subject.messages, 1);
	CU_ASSERT_EQUAL(subject.code, RPC_INTERNAL);
	stop(&subject);
}

static void test_truncated_message(void)
{
	struct subject subject;
	start(&subject);
	answer(&subject, 0, "200", "application/grpc");
	wire_frame(&subject.wire, NGHTTP2_DATA, 0, 1, "\0\0\0\0\5hel", 8);
	trailers(&subject, "0", NULL);
	talk(&subject);
	CU_ASSERT_EQUAL(subject.messages, 0);
	CU_ASSERT_EQUAL(subject.code, RPC_INTERNAL);
	stop(&subject);
}

static void test_bad_messages(void)
{
	static const struct {
		const char *bytes;
		int code;
	} cases[] = {
		{"\0\0\0\x03\xe9", RPC_RESOURCE_EXHAUSTED}, /* 1001 bytes */
		{"\1\0\0\0\1", RPC_INTERNAL},
		{"\7\0\0\0\1", RPC_INTERNAL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct subject subject;
		start(&subject);
		answer(&subject, 0, "200", "application/grpc");
		wire_frame(&subject.wire, NGHTTP2_DATA, 0, 1, cases[i].bytes, 5);
		talk(&subject);
		CU_ASSERT_EQUAL(subject.code, cases[i].code);
		CU_ASSERT_EQUAL(subject.wire.facts.streams[1].reset, NGHTTP2_CANCEL);
		/* What comes later is dropped. */
		wire_frame(&subject.wire, NGHTTP2_DATA, 0, 1, "more", 4);
		trailers(&subject, "0", NULL);
		talk(&subject);
		CU_ASSERT_EQUAL(subject.messages, 0);
		stop(&subject);
	}
}

static void test_resets(void)
{
	static const struct {
		uint8_t error;
		int code;
	} cases[] = {
		{NGHTTP2_NO_ERROR, RPC_INTERNAL},
		{NGHTTP2_REFUSED_STREAM, RPC_UNAVAILABLE},
		{NGHTTP2_CANCEL, RPC_CANCELLED},
		{NGHTTP2_ENHANCE_YOUR_CALM, RPC_RESOURCE_EXHAUSTED},
		{NGHTTP2_INADEQUATE_SECURITY, RPC_PERMISSION_DENIED},
		{NGHTTP2_PROTOCOL_ERROR, RPC_INTERNAL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const uint8_t error[4] = {0, 0, 0, cases[i].error};
		struct subject subject;
		start(&subject);
		answer(&subject, 0, "200", "application/grpc");
		wire_message(&subject.wire, 0, 1, "hello", 5);
		wire_frame(&subject.wire, NGHTTP2_RST_STREAM, 0, 1, error, 4);
		talk(&subject);
		CU_ASSERT_EQUAL(subject.code, cases[i].code);
		CU_ASSERT_EQUAL(subject.messages, 1);
		stop(&subject);
	}
}

static void test_large_header_list(void)
{
	char value[2001];
	const struct wire_field fields[] = {
		{":status", "200"},
		{"content-type", "application/grpc"},
		{"x-large", value},
	};
	struct subject subject;
	memset(value, 'v', 2000);
	value[2000] = '\0';
	start(&subject);
	wire_headers(&subject.wire, 0, 1, fields, ARRAY_SIZE(fields));
	talk(&subject);
	CU_ASSERT_EQUAL(subject.code, RPC_RESOURCE_EXHAUSTED);
	stop(&subject);
}

/* Calls above the last stream that the server will look at end; those below go on. */
static void test_goaway(void)
{
	static const uint8_t last_is_1[] = "\0\0\0\1\0\0\0\0going away\n";
	struct subject subject;
	struct subject late = {.code = -1};
	start(&subject);
	late.channel = subject.channel;
	call(&late);
	wire_frame(&subject.wire, NGHTTP2_GOAWAY, 0, 0, last_is_1, sizeof(last_is_1) - 1);
	talk(&subject);
	CU_ASSERT_EQUAL(subject.lost, 1);
	CU_ASSERT_EQUAL(subject.done, 0);
	CU_ASSERT_EQUAL(late.code, RPC_UNAVAILABLE);
	answer(&subject, 0, "200", "application/grpc");
	trailers(&subject, "0", NULL);
	talk(&subject);
	CU_ASSERT_EQUAL(subject.code, RPC_OK);
	CU_ASSERT(subject.session->ended);
	CU_ASSERT_EQUAL(subject.lost, 1);
	CU_ASSERT(strstr(subject.session->failure.text, "going away") != NULL &&
		  strchr(subject.session->failure.text, '\n') == NULL);
	stop(&subject);
}

static void test_broken_frames(void)
{
	static const struct {
		uint8_t type, flags;
		uint32_t stream;
		size_t size;
	} cases[] = {
		{NGHTTP2_PUSH_PROMISE, NGHTTP2_FLAG_END_HEADERS, 1, 8},
		{NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 2, 4},
		{NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 9, 4},
		{NGHTTP2_DATA, 0, 0, 4},
		{NGHTTP2_SETTINGS, 0, 0, 3},
		{NGHTTP2_WINDOW_UPDATE, 0, 0, 4},
	};
	static const uint8_t zeros[8];
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct subject subject;
		start(&subject);
		wire_frame(&subject.wire, cases[i].type, cases[i].flags, cases[i].stream, zeros,
			   cases[i].size);
		talk(&subject);
		CU_ASSERT(subject.session->ended);
		CU_ASSERT_EQUAL(subject.code, RPC_UNAVAILABLE);
		CU_ASSERT_EQUAL(subject.lost, 1);
		stop(&subject);
	}
}

static void test_garbage(void)
{
	struct subject subject;
	start(&subject);
	text_add(&subject.wire.bytes, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
	talk(&subject);
	CU_ASSERT(subject.session->ended);
	CU_ASSERT_EQUAL(subject.code, RPC_UNAVAILABLE);
	stop(&subject);
}

UNIT_MAIN("client on the wire", {"good answer", test_good_answer}, {"trailers", test_trailers},
	  {"trailers only", test_trailers_only}, {"no grpc", test_no_grpc},
	  {"missing trailers", test_missing_trailers},
	  {"truncated message", test_truncated_message}, {"bad messages", test_bad_messages},
	  {"resets", test_resets}, {"large header list", test_large_header_list},
	  {"goaway", test_goaway}, {"broken frames", test_broken_frames}, {"garbage", test_garbage})
