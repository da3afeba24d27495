/* SPDX-License-Identifier: MIT */
/* The duties of a server, frame by frame. */
#include "conformance/checks/list_and_watch.h"
#include "conformance/checks/protocol.h"

#include <ctype.h>
#include <string.h>

enum {
	STILL_MS = 200, /* by then DATA beyond the window would have come */
	IDLE_MS = 1000,
	IDLE_THOROUGH_MS = 60000,
	PARALLEL = 100,
	HEADERS_FIRST = 3, /* bytes of a header block before its CONTINUATION */
};

/* The first healthy id of the first resource; NULL: recorded. */
static const char *first_id(struct rig *rig)
{
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	return rig_healthy_ids(rig, rig->resources.items[0], &ids)
		       ? check_format(rig->run, "%s", ids.items[0])
		       : NULL;
}

void protocol_settings(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct error err = {0};
	struct raw_client *client CLEANUP_RAW = protocol_greeted(rig);
	if (client == NULL)
		return;
	(void)check_expect_ok(
		run, raw_ping(client, context_wait_ms(rig->context, PROTOCOL_ANSWER_MS), &err),
		"PING after the preface is acknowledged", &err);
	(void)check_expect_is(run, client->settled, "SETTINGS of the plugin", "sent", "missing");
	(void)check_expect_int(run, "acknowledgements of our SETTINGS", client->settings_acks, 1);
}

/* In grpc-message only printable ASCII, and % only before two hexadecimal digits. */
static bool is_encoded(const struct text *message)
{
	const char *at = text_string(message);
	for (size_t i = 0; i < message->size; i++) {
		if (at[i] < ' ' || at[i] > '~')
			return false;
		if (at[i] == '%' &&
		    (i + 2 >= message->size || !isxdigit((unsigned char)at[i + 1]) ||
		     !isxdigit((unsigned char)at[i + 2])))
			return false;
	}
	return true;
}

void protocol_trailers(struct check_run *run)
{
	static const char odd_id[] = "100 % of \xe2\x82\xac\n";
	struct text request CLEANUP_TEXT = {0};
	struct rig *rig = rig_ready(run);
	if (rig == NULL)
		return;
	protocol_add_allocate(&request, odd_id, sizeof(odd_id) - 1, "");
	const struct {
		const char *what, *method, *message;
		size_t size;
	} calls[] = {
		{"GetDevicePluginOptions", PROTOCOL_OPTIONS, "", 0},
		{"Allocate of an id that does not exist", PROTOCOL_ALLOCATE, request.data,
		 request.size},
		{"an unknown method", DEVICE_PLUGIN_SERVICE "Deallocate", "", 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		struct text data CLEANUP_TEXT = {0};
		struct raw_client *client CLEANUP_RAW = NULL;
		const char size = (char)calls[i].size;
		text_append(&data, "\0\0\0\0", 4);
		text_append(&data, &size, 1);
		text_append(&data, calls[i].message, calls[i].size);
		const struct raw_stream *stream =
			protocol_call(rig, &client, calls[i].method, NULL, data.data, data.size);
		if (stream == NULL)
			return;
		/* A proxy's HTTP status stands for one of gRPC. */
		if (stream->http_status != 0 && stream->http_status != PROTOCOL_HTTP_OK)
			continue;
		(void)check_expect(run, stream->ended && stream->status_count == 1,
				   check_format(run, "grpc-status of %s", calls[i].what),
				   "once, in the last headers", "%u times, and %s",
				   stream->status_count, protocol_ending_text(run, client, stream));
		struct text shown CLEANUP_TEXT = {0};
		text_add_escaped(&shown, text_string(&stream->message), stream->message.size);
		(void)check_expect_is(run, is_encoded(&stream->message),
				      check_format(run, "grpc-message of %s", calls[i].what),
				      "printable ASCII, percent-encoded", text_string(&shown));
	}
}

/* Has a complete message arrived on stream 1? */
static bool has_message(void *user)
{
	const struct raw_client *client = user;
	const struct text *body = &raw_stream((struct raw_client *)user, 1)->body;
	const uint8_t *at = (const uint8_t *)text_string(body);
	return client->closed ||
	       (body->size >= 5 && body->size - 5 >= ((size_t)at[1] << 24 | (size_t)at[2] << 16 |
						      (size_t)at[3] << 8 | at[4]));
}

static bool expect_message(struct rig *rig, struct raw_client *client, const char *what)
{
	struct error err = {0};
	int rc = rig_wait(rig, has_message, client, context_wait_ms(rig->context, RIG_CALL_MS),
			  "a device list", &err);
	if (rc == 0 && client->closed)
		rc = error_set(&err, ERROR_UNAVAILABLE, "the connection was closed");
	return rig_expect_ok(rig, rc, what, &err);
}

void protocol_ping(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	if (rig == NULL || !list_need_further(rig, rig->resources.items[0]))
		return;
	struct raw_client *client CLEANUP_RAW = protocol_greeted(rig);
	const uint64_t wait_ms = context_wait_ms(rig->context, PROTOCOL_ANSWER_MS);
	struct error err = {0};
	if (client == NULL)
		return;
	(void)check_expect_ok(run, raw_ping(client, wait_ms, &err), "PING on a new connection",
			      &err);
	raw_call(client, 1, DEVICE_PLUGIN_SERVICE "ListAndWatch", "", 0);
	if (!expect_message(rig, client, "a device list"))
		return;
	(void)rig_watch(rig, IDLE_MS, IDLE_THOROUGH_MS);
	(void)check_expect_ok(run, raw_ping(client, wait_ms, &err),
			      "PING while ListAndWatch is idle", &err);
}

void protocol_flow_control(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	if (rig == NULL || !list_need_further(rig, rig->resources.items[0]))
		return;
	struct raw_client *client CLEANUP_RAW = protocol_open(rig, "a connection");
	if (client == NULL)
		return;
	raw_greet(client, 0);
	raw_call(client, 1, DEVICE_PLUGIN_SERVICE "ListAndWatch", "", 0);
	for (uint32_t window = 0; window <= 1; window++) {
		if (window != 0)
			raw_window_update(client, 1, 1);
		(void)rig_watch(rig, STILL_MS, STILL_MS);
		(void)check_expect_at_most(
			run, check_format(run, "bytes that came for a window of %u", window),
			(long long)raw_stream(client, 1)->body.size, window);
	}
	raw_window_update(client, 1, INT32_MAX - 1);
	(void)expect_message(rig, client, "the device list, when the window is opened");
	protocol_expect_window(rig);
}

/* A connection that has begun, and an AllocateRequest of a healthy id for it. NULL: recorded, or there is no rig. */
static struct raw_client *open_for_allocate(struct rig *rig, const char *later,
					    struct text *request)
{
	const char *id = rig != NULL ? first_id(rig) : NULL;
	struct raw_client *client = id != NULL ? protocol_greeted(rig) : NULL;
	if (client != NULL)
		protocol_add_allocate(request, id, strlen(id), later);
	return client;
}

/* Allocate of an id on stream 1, which must succeed. */
static void expect_allocated(struct rig *rig, struct raw_client *client, const char *what)
{
	(void)raw_wait(client, 1, context_wait_ms(rig->context, RIG_CALL_MS), NULL);
	const struct raw_stream *stream = raw_stream(client, 1);
	(void)check_expect(rig->run, protocol_ending(client, stream) == ENDS_OK, what, "OK", "%s",
			   protocol_ending_text(rig->run, client, stream));
}

void protocol_split_frames(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct text block CLEANUP_TEXT = {0};
	struct text request CLEANUP_TEXT = {0};
	struct raw_client *client CLEANUP_RAW = open_for_allocate(rig, "", &request);
	if (client == NULL)
		return;
	raw_request_block(client, PROTOCOL_ALLOCATE, NULL, &block);
	raw_frame(client, NGHTTP2_HEADERS, 0, 1, block.data, HEADERS_FIRST);
	raw_frame(client, NGHTTP2_CONTINUATION, NGHTTP2_FLAG_END_HEADERS, 1,
		  block.data + HEADERS_FIRST, block.size - HEADERS_FIRST);
	const uint8_t prefix[] = {0, 0, 0, (uint8_t)(request.size >> 8), (uint8_t)request.size};
	for (size_t i = 0; i < sizeof(prefix); i++)
		raw_frame(client, NGHTTP2_DATA, 0, 1, prefix + i, 1);
	for (size_t i = 0; i < request.size; i++) {
		bool last = i + 1 == request.size;
		raw_frame(client, NGHTTP2_DATA, last ? NGHTTP2_FLAG_END_STREAM : 0, 1,
			  request.data + i, 1);
	}
	expect_allocated(rig, client, "Allocate in frames of one byte");
}

void protocol_header_compression(struct check_run *run)
{
	static const char *const kinds[] = {"literal header fields", "a header table of 0 bytes"};
	struct rig *rig = rig_ready(run);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct text request CLEANUP_TEXT = {0};
		struct raw_client *client CLEANUP_RAW = open_for_allocate(rig, "", &request);
		if (client == NULL)
			return;
		client->literal = i == 0;
		(void)nghttp2_hd_deflate_change_table_size(client->deflater, 0);
		raw_call(client, 1, PROTOCOL_ALLOCATE, request.data, request.size);
		expect_allocated(rig, client, kinds[i]);
	}
}

void protocol_unknown_fields(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct text request CLEANUP_TEXT = {0};
	/* Field 14, a number, and field 15, bytes. */
	struct raw_client *client CLEANUP_RAW =
		open_for_allocate(rig, "\x70\x01\x7a\x03new", &request);
	if (client == NULL)
		return;
	raw_call(client, 1, PROTOCOL_ALLOCATE, request.data, request.size);
	expect_allocated(rig, client, "Allocate with fields of a later API");
}

void protocol_parallel_calls(struct check_run *run)
{
	enum { REFUSED_STREAM = 7 };
	struct rig *rig = rig_ready(run);
	struct raw_client *client CLEANUP_RAW = protocol_greeted(rig);
	TALLY(answers, run, "calls at the same time on one connection", "OK, or REFUSED_STREAM");
	if (client == NULL)
		return;
	(void)raw_ping(client, context_wait_ms(rig->context, PROTOCOL_ANSWER_MS), NULL);
	uint32_t count = client->concurrent_max < PARALLEL ? client->concurrent_max : PARALLEL;
	for (uint32_t i = 0; i < count; i++)
		raw_request(client, 2 * i + 1, PROTOCOL_OPTIONS, NULL);
	for (uint32_t i = 0; i < count; i++)
		raw_message(client, 2 * i + 1, "", 0);
	for (uint32_t i = 0; i < count; i++) {
		(void)raw_wait(client, 2 * i + 1, context_wait_ms(rig->context, RIG_CALL_MS), NULL);
		const struct raw_stream *stream = raw_stream(client, 2 * i + 1);
		tally_add(&answers,
			  protocol_ending(client, stream) == ENDS_OK ||
				  stream->reset == REFUSED_STREAM,
			  "%s", protocol_ending_text(run, client, stream));
		if (client->closed)
			break;
	}
}
