/* SPDX-License-Identifier: MIT */
/* HTTP/2 and gRPC as other clients than the kubelet of today may speak them. */
#include "conformance/checks/protocol.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "conformance/checks/suites.h"
#include "rpc/client.h"
#include "rpc/rpc.h"

#include <ctype.h>
#include <string.h>

enum {
	ANSWER_MS = 5000, /* for an odd call, which a server need not like */
	STILL_MS = 200,	  /* DATA that the window does not allow would come by then */
	IDLE_MS = 1000,
	IDLE_THOROUGH_MS = 60000,
	PARALLEL = 100,
	HEADERS_FIRST = 3, /* bytes of a header block before its CONTINUATION */
	NUMBER_OF_BYTES = 7,
	HTTP_OK = 200,
	HTTP_NOT_FOUND = 404,
};

const char *protocol_socket(const struct rig *rig)
{
	return rig_registration(rig, rig->resources.items[0])->socket;
}

/*
 * Messages.
 */

/* A field of bytes; its number is at most 15. */
static void add_bytes(struct text *out, unsigned number, const char *bytes, size_t size)
{
	char byte = (char)(number << 3 | 2);
	text_append(out, &byte, 1);
	size_t rest = size;
	for (; rest >= 128; rest >>= NUMBER_OF_BYTES) {
		byte = (char)(rest | 128);
		text_append(out, &byte, 1);
	}
	byte = (char)rest;
	text_append(out, &byte, 1);
	text_append(out, bytes, size);
}

/* AllocateRequest of one container with one id; `later` fields are added to both messages. */
static void add_allocate(struct text *out, const char *id, size_t size, const char *later)
{
	struct text container CLEANUP_TEXT = {0};
	add_bytes(&container, 1, id, size);
	text_add(&container, later);
	add_bytes(out, 1, container.data, container.size);
	text_add(out, later);
}

/* The first healthy id of the first resource; NULL: recorded. */
static const char *first_id(struct rig *rig)
{
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	return rig_healthy_ids(rig, rig->resources.items[0], &ids)
		       ? check_format(rig->run, "%s", ids.items[0])
		       : NULL;
}

/*
 * Calls and how they end.
 */

enum ending {
	ENDS_OK = 1,
	ENDS_UNIMPLEMENTED = 2,
	ENDS_ERROR = 4, /* another gRPC or HTTP status */
	ENDS_RESET = 8, /* RST_STREAM, GOAWAY, or the end of the connection */
	ENDS_WITHOUT_STATUS = 16,
	ENDS_NEVER = 32,
	ENDS_REFUSED = ENDS_UNIMPLEMENTED | ENDS_ERROR | ENDS_RESET,
	ENDS_AT_ALL = ENDS_OK | ENDS_REFUSED,
};

static enum ending ending_of(const struct raw_client *client, const struct raw_stream *stream)
{
	if (stream->grpc_status == RPC_OK)
		return ENDS_OK;
	if (stream->grpc_status == RPC_UNIMPLEMENTED || stream->http_status == HTTP_NOT_FOUND)
		return ENDS_UNIMPLEMENTED;
	if (stream->grpc_status > 0 || (stream->http_status != 0 && stream->http_status != HTTP_OK))
		return ENDS_ERROR;
	if (stream->reset >= 0 || client->closed || client->goaways != 0)
		return ENDS_RESET;
	return stream->ended ? ENDS_WITHOUT_STATUS : ENDS_NEVER;
}

static const char *ending_text(struct check_run *run, const struct raw_client *client,
			       const struct raw_stream *stream)
{
	if (stream->grpc_status >= 0)
		return check_format(run, "%s", rpc_code_name(stream->grpc_status));
	if (stream->http_status != 0 && stream->http_status != HTTP_OK)
		return check_format(run, "HTTP status %d", stream->http_status);
	if (stream->reset >= 0)
		return check_format(run, "RST_STREAM %lld", (long long)stream->reset);
	if (client->goaways != 0)
		return check_format(run, "GOAWAY %u", client->goaway_code);
	if (client->closed)
		return "the end of the connection";
	return stream->ended ? "an end without grpc-status" : "no end of the call";
}

struct raw_client *protocol_open(struct rig *rig, const char *what)
{
	struct raw_client *client = NULL;
	struct error err = {0};
	if (rig == NULL)
		return NULL;
	int rc = raw_open(&rig->loop, protocol_socket(rig), &client, &err);
	if (rc < 0)
		raw_close(&client);
	rc = rig_explain(rig, rc, &err);
	return rc == 0 || !check_expect_ok(rig->run, rc, what, &err) ? client : NULL;
}

/* One whole call on stream 1 of a new connection. NULL: recorded. */
static const struct raw_stream *call(struct rig *rig, struct raw_client **client,
				     const char *method, const struct raw_field *change,
				     const void *data, size_t size)
{
	*client = protocol_open(rig, "a connection");
	if (*client == NULL)
		return NULL;
	raw_greet(*client, UINT32_MAX);
	raw_request(*client, 1, method, change);
	raw_frame(*client, NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 1, data, size);
	(void)raw_wait(*client, 1, context_wait_ms(rig->context, ANSWER_MS), NULL);
	return raw_stream(*client, 1);
}

void protocol_expect_unharmed(struct rig *rig, const char *what)
{
	static const char options[] = DEVICE_PLUGIN_SERVICE "GetDevicePluginOptions";
	rig_each (resource, rig) {
		struct kubelet_plugin *plugin = kubelet_resource_plugin(rig->kubelet, resource);
		struct kubelet_stream *stream = rig_stream(rig, resource);
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		struct error err = {0};
		int rc = kubelet_call_options(plugin, RIG_CALL_MS, &reply, &err);
		if (rc == 0 && reply.code != RPC_OK)
			rc = error_set(&err, ERROR_UNAVAILABLE, "%s %s", rpc_code_name(reply.code),
				       reply.message);
		(void)rig_expect_ok(rig, rc,
				    check_format(rig->run, "a call of the kubelet after %s", what),
				    &err);
		(void)check_expect_is(
			rig->run, stream != NULL && kubelet_stream_state(stream).open,
			check_format(rig->run, "ListAndWatch of the kubelet after %s", what),
			"open", "ended");
	}
	struct raw_client *client CLEANUP_RAW = NULL;
	const struct raw_stream *stream = call(rig, &client, options, NULL, "\0\0\0\0", 5);
	if (stream != NULL)
		(void)check_expect(rig->run, ending_of(client, stream) == ENDS_OK,
				   check_format(rig->run, "a new connection after %s", what), "OK",
				   "%s", ending_text(rig->run, client, stream));
}

/*
 * Odd calls, one for each connection.
 */

struct odd_call {
	const char *what;
	const char *method;
	struct raw_field change; /* of the request's headers; name NULL: none */
	const char *data;	 /* bytes of DATA; NULL: an Allocate of the first id */
	size_t size;
	unsigned allowed; /* enum ending */
	const char *wanted;
};

#define OPTIONS	   DEVICE_PLUGIN_SERVICE "GetDevicePluginOptions"
#define ALLOCATE   DEVICE_PLUGIN_SERVICE "Allocate"
#define BYTES(...) __VA_ARGS__, sizeof(__VA_ARGS__) - 1
#define EMPTY	   BYTES("\0\0\0\0\0")
#define REFUSED	   ENDS_REFUSED, "an error"
#define ANY_END	   ENDS_AT_ALL, "an answer or an error"
/* A call whose message never came: grpc-go 1.27 ends it with its connection. */
#define UNHEARD (ENDS_REFUSED | ENDS_NEVER), "an error, or none"

static const struct odd_call content_types[] = {
	{"content-type application/grpc", OPTIONS, {NULL, NULL}, EMPTY, ENDS_OK, "OK"},
	{"content-type application/grpc+proto",
	 OPTIONS,
	 {"content-type", "application/grpc+proto"},
	 EMPTY,
	 ENDS_OK,
	 "OK"},
	{"content-type text/plain", OPTIONS, {"content-type", "text/plain"}, EMPTY, ANY_END},
	{"no content-type", OPTIONS, {"content-type", NULL}, EMPTY, ANY_END},
	{NULL},
};

static const struct odd_call unknown_methods[] = {
	{"an unknown method",
	 DEVICE_PLUGIN_SERVICE "Deallocate",
	 {NULL, NULL},
	 EMPTY,
	 ENDS_UNIMPLEMENTED,
	 "UNIMPLEMENTED"},
	{"an unknown service",
	 "/v1.DevicePlugin/Allocate",
	 {NULL, NULL},
	 EMPTY,
	 ENDS_UNIMPLEMENTED,
	 "UNIMPLEMENTED"},
	{NULL},
};

static const struct odd_call path_case[] = {
	{"the path /v1beta1.DevicePlugin/getdevicepluginoptions",
	 DEVICE_PLUGIN_SERVICE "getdevicepluginoptions",
	 {NULL, NULL},
	 EMPTY,
	 ENDS_UNIMPLEMENTED,
	 "UNIMPLEMENTED"},
	{"the path /v1alpha.DevicePlugin/GetDevicePluginOptions",
	 "/v1alpha.DevicePlugin/GetDevicePluginOptions",
	 {NULL, NULL},
	 EMPTY,
	 ENDS_UNIMPLEMENTED,
	 "UNIMPLEMENTED"},
	{NULL},
};

static const struct odd_call authorities[] = {
	{":authority localhost", OPTIONS, {":authority", "localhost"}, EMPTY, ENDS_OK, "OK"},
	{"a path as :authority", OPTIONS, {":authority", "/run/kubelet/a.sock"}, EMPTY, ANY_END},
	{"an encoded path as :authority",
	 OPTIONS,
	 {":authority", "%2Frun%2Fa.sock"},
	 EMPTY,
	 ANY_END},
	{"an empty :authority", OPTIONS, {":authority", ""}, EMPTY, ANY_END},
	{"no :authority", OPTIONS, {":authority", NULL}, EMPTY, ANY_END},
	{NULL},
};

/* The first is what grpc-go sends for the 30 seconds of PreStartContainer. */
static const struct odd_call deadlines[] = {
	{"grpc-timeout 30000000u", OPTIONS, {"grpc-timeout", "30000000u"}, EMPTY, ENDS_OK, "OK"},
	{"grpc-timeout 1m", OPTIONS, {"grpc-timeout", "1m"}, EMPTY, ANY_END},
	{"grpc-timeout 99999999H", OPTIONS, {"grpc-timeout", "99999999H"}, EMPTY, ANY_END},
	{"grpc-timeout of nine digits", OPTIONS, {"grpc-timeout", "123456789S"}, EMPTY, ANY_END},
	{"grpc-timeout soon", OPTIONS, {"grpc-timeout", "soon"}, EMPTY, ANY_END},
	{NULL},
};

static const struct odd_call malformed[] = {
	{"a field that is longer than its message",
	 ALLOCATE,
	 {NULL, NULL},
	 BYTES("\0\0\0\0\3\x0a\x7f\x01"),
	 REFUSED},
	{"a message of one unfinished number",
	 ALLOCATE,
	 {NULL, NULL},
	 BYTES("\0\0\0\0\2\x0a\xff"),
	 REFUSED},
	{"a request without a message", ALLOCATE, {NULL, NULL}, BYTES(""), UNHEARD},
	{NULL},
};

static const struct odd_call invalid_text[] = {
	{"an id that is not UTF-8",
	 ALLOCATE,
	 {NULL, NULL},
	 BYTES("\0\0\0\0\7\x0a\5\x0a\3\xff\xfe\xc0"),
	 ANY_END},
	{"an id with NUL", ALLOCATE, {NULL, NULL}, BYTES("\0\0\0\0\7\x0a\5\x0a\3a\0b"), ANY_END},
	{NULL},
};

static const struct odd_call message_lengths[] = {
	{"a message of 4 GiB, of which nothing comes",
	 ALLOCATE,
	 {NULL, NULL},
	 BYTES("\0\xff\xff\xff\xff"),
	 REFUSED},
	{"a message that ends too early",
	 ALLOCATE,
	 {NULL, NULL},
	 BYTES("\0\0\0\0\x64\x0a"),
	 UNHEARD},
	/* gRPC's C library reads it as if it were not. */
	{"a message that is flagged as compressed",
	 ALLOCATE,
	 {NULL, NULL},
	 BYTES("\1\0\0\0\4\x0a\2\x0a\0"),
	 ANY_END},
	{NULL},
};

/* Makes the calls of the row's param, and expects nothing else to suffer. */
static void odd_calls_of(struct rig *rig)
{
	for (const struct odd_call *odd = check_row(rig->run)->param; odd->what != NULL; odd++) {
		struct raw_client *client CLEANUP_RAW = NULL;
		const struct raw_stream *stream =
			call(rig, &client, odd->method,
			     odd->change.name != NULL ? &odd->change : NULL, odd->data, odd->size);
		if (stream == NULL)
			return;
		(void)check_expect(rig->run, (ending_of(client, stream) & odd->allowed) != 0,
				   odd->what, odd->wanted, "%s",
				   ending_text(rig->run, client, stream));
	}
	protocol_expect_unharmed(rig, "these calls");
}

static void odd_calls(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	if (rig != NULL)
		odd_calls_of(rig);
}

/* Also: an announced length takes no memory, and a request longer than a server may receive is answered. */
static void lengths(struct check_run *run)
{
	enum { REQUEST_SIZE = 5 << 20, RESIDENT_KIB = 256 << 10, VIRTUAL_KIB = 2 << 20 };
	struct rig *rig = rig_ready(run);
	struct rig_footprint before = {0};
	struct rig_footprint after = {0};
	if (rig == NULL)
		return;
	(void)rig_footprint(rig, &before);
	odd_calls_of(rig);

	const struct rpc_channel_options options = {
		.limits = {.message_max = 2 * REQUEST_SIZE},
	};
	char *address CLEANUP_FREE = text_format("unix:%s", protocol_socket(rig));
	char *id CLEANUP_FREE = memory_allocate(1, REQUEST_SIZE + 1);
	const char *const ids[] = {memset(id, 'x', REQUEST_SIZE)};
	struct kubelet_allocate_request request = {0};
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct rpc_channel *channel = NULL;
	struct error err = {0};
	kubelet_allocate_request_add(&request, ids, 1);
	const struct rpc_unary_call huge = {.method = ALLOCATE,
					    .request = &request.request.base,
					    .reply_type = &v1beta1__allocate_response__descriptor,
					    .patience_ms = RIG_CALL_MS};
	int rc = rpc_channel_open(&rig->loop, address, &options, &channel, &err);
	if (rc == 0)
		rc = rpc_unary_answer(channel, &huge, &reply, &err);
	rpc_channel_close(channel);
	(void)rig_expect_ok(rig, rc, "a request of 5 MiB is answered", &err);
	protocol_expect_unharmed(rig, "a request of 5 MiB");

	if (before.descriptors < 0 || !rig_footprint(rig, &after)) {
		check_note(run, "the plugin's memory cannot be measured");
		return;
	}
	(void)check_expect_at_most(run, "KiB of memory more",
				   after.resident_kib - before.resident_kib, RESIDENT_KIB);
	(void)check_expect_at_most(run, "KiB of address space more",
				   after.virtual_kib - before.virtual_kib, VIRTUAL_KIB);
}

/*
 * What a server must do right.
 */

static void settings(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct error err = {0};
	struct raw_client *client CLEANUP_RAW = protocol_open(rig, "a connection");
	if (client == NULL)
		return;
	raw_greet(client, UINT32_MAX);
	int rc = raw_ping(client, context_wait_ms(rig->context, ANSWER_MS), &err);
	(void)check_expect_ok(run, rc, "PING after the preface is acknowledged", &err);
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

static void trailers(struct check_run *run)
{
	static const char odd_id[] = "100 % of \xe2\x82\xac\n";
	struct text request CLEANUP_TEXT = {0};
	struct rig *rig = rig_ready(run);
	if (rig == NULL)
		return;
	add_allocate(&request, odd_id, sizeof(odd_id) - 1, "");
	const struct {
		const char *what, *method, *message;
		size_t size;
	} calls[] = {
		{"GetDevicePluginOptions", OPTIONS, "", 0},
		{"Allocate of an id that does not exist", ALLOCATE, request.data, request.size},
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
			call(rig, &client, calls[i].method, NULL, data.data, data.size);
		if (stream == NULL)
			return;
		/* A proxy's HTTP status stands for one of gRPC. */
		if (stream->http_status != 0 && stream->http_status != HTTP_OK)
			continue;
		(void)check_expect(run, stream->ended && stream->status_count == 1,
				   check_format(run, "grpc-status of %s", calls[i].what),
				   "once, in the last headers", "%u times, and %s",
				   stream->status_count, ending_text(run, client, stream));
		struct text shown CLEANUP_TEXT = {0};
		text_add_escaped(&shown, text_string(&stream->message), stream->message.size);
		(void)check_expect(run, is_encoded(&stream->message),
				   check_format(run, "grpc-message of %s", calls[i].what),
				   "printable ASCII, percent-encoded", "%s",
				   is_encoded(&stream->message) ? "printable ASCII, percent-encoded"
								: text_string(&shown));
	}
}

/* Has a whole message come on stream 1? */
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

static void ping(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct raw_client *client CLEANUP_RAW = protocol_open(rig, "a connection");
	uint64_t wait_ms = rig != NULL ? context_wait_ms(rig->context, ANSWER_MS) : 0;
	struct error err = {0};
	if (client == NULL)
		return;
	raw_greet(client, UINT32_MAX);
	(void)check_expect_ok(run, raw_ping(client, wait_ms, &err), "PING on a new connection",
			      &err);
	raw_call(client, 1, DEVICE_PLUGIN_SERVICE "ListAndWatch", "", 0);
	if (!expect_message(rig, client, "a device list"))
		return;
	(void)rig_watch(rig, IDLE_MS, IDLE_THOROUGH_MS);
	(void)check_expect_ok(run, raw_ping(client, wait_ms, &err),
			      "PING while ListAndWatch is idle", &err);
}

static void flow_control(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
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

/* Allocate of an id on stream 1, which must succeed. */
static void expect_allocated(struct rig *rig, struct raw_client *client, const char *what)
{
	(void)raw_wait(client, 1, context_wait_ms(rig->context, RIG_CALL_MS), NULL);
	const struct raw_stream *stream = raw_stream(client, 1);
	(void)check_expect(rig->run, ending_of(client, stream) == ENDS_OK, what, "OK", "%s",
			   ending_text(rig->run, client, stream));
}

static void split_frames(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	const char *id = rig != NULL ? first_id(rig) : NULL;
	struct raw_client *client CLEANUP_RAW =
		id != NULL ? protocol_open(rig, "a connection") : NULL;
	struct text block CLEANUP_TEXT = {0};
	struct text request CLEANUP_TEXT = {0};
	if (client == NULL)
		return;
	add_allocate(&request, id, strlen(id), "");
	raw_greet(client, UINT32_MAX);
	raw_request_block(client, ALLOCATE, NULL, &block);
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

static void header_compression(struct check_run *run)
{
	static const char *const kinds[] = {"literal header fields", "a header table of 0 bytes"};
	struct rig *rig = rig_ready(run);
	const char *id = rig != NULL ? first_id(rig) : NULL;
	for (size_t i = 0; id != NULL && i < ARRAY_SIZE(kinds); i++) {
		struct raw_client *client CLEANUP_RAW = protocol_open(rig, "a connection");
		struct text request CLEANUP_TEXT = {0};
		if (client == NULL)
			return;
		add_allocate(&request, id, strlen(id), "");
		client->literal = i == 0;
		(void)nghttp2_hd_deflate_change_table_size(client->deflater, 0);
		raw_greet(client, UINT32_MAX);
		raw_call(client, 1, ALLOCATE, request.data, request.size);
		expect_allocated(rig, client, kinds[i]);
	}
}

static void unknown_fields(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	const char *id = rig != NULL ? first_id(rig) : NULL;
	struct raw_client *client CLEANUP_RAW =
		id != NULL ? protocol_open(rig, "a connection") : NULL;
	struct text request CLEANUP_TEXT = {0};
	if (client == NULL)
		return;
	/* Field 14, a number, and field 15, bytes. */
	add_allocate(&request, id, strlen(id), "\x70\x01\x7a\x03new");
	raw_greet(client, UINT32_MAX);
	raw_call(client, 1, ALLOCATE, request.data, request.size);
	expect_allocated(rig, client, "Allocate with fields of a later API");
}

static void parallel_calls(struct check_run *run)
{
	enum { REFUSED_STREAM = 7 };
	struct rig *rig = rig_ready(run);
	struct raw_client *client CLEANUP_RAW = protocol_open(rig, "a connection");
	TALLY(answers, run, "calls at the same time on one connection", "OK, or REFUSED_STREAM");
	if (client == NULL)
		return;
	raw_greet(client, UINT32_MAX);
	(void)raw_ping(client, context_wait_ms(rig->context, ANSWER_MS), NULL);
	uint32_t count = client->concurrent_max < PARALLEL ? client->concurrent_max : PARALLEL;
	for (uint32_t i = 0; i < count; i++)
		raw_request(client, 2 * i + 1, OPTIONS, NULL);
	for (uint32_t i = 0; i < count; i++)
		raw_message(client, 2 * i + 1, "", 0);
	for (uint32_t i = 0; i < count; i++) {
		(void)raw_wait(client, 2 * i + 1, context_wait_ms(rig->context, RIG_CALL_MS), NULL);
		const struct raw_stream *stream = raw_stream(client, 2 * i + 1);
		tally_add(&answers,
			  ending_of(client, stream) == ENDS_OK || stream->reset == REFUSED_STREAM,
			  "%s", ending_text(run, client, stream));
		if (client->closed)
			break;
	}
}

/* On Linux only: raw_client.h connects to AF_UNIX, which Wine lacks. */
#define PROTOCOL(name, rule, severity, revision, body, ...)                                        \
	CHECK("protocol." name, rule, severity, revision, body, .timeout_s = 180,                  \
	      .needs.os = "linux", .depends_on = "list-and-watch.arrives", __VA_ARGS__)

const struct check protocol_checks[] = {
	PROTOCOL("settings", H2_01, MEDIUM, 1, settings,
		 .title = "A connection begins with SETTINGS, and ours are acknowledged",
		 .advice = "Serve HTTP/2 with prior knowledge, with a gRPC library."),
	PROTOCOL("authority", H2_03, LOW, 1, odd_calls, .param = authorities,
		 .title = "An unusual :authority does no harm",
		 .advice = "Ignore :authority: clients send localhost, a path or nothing."),
	PROTOCOL("content-types", H2_04, MEDIUM, 1, odd_calls, .param = content_types,
		 .title = "application/grpc and application/grpc+proto are accepted",
		 .advice = "Accept each content-type that begins with application/grpc."),
	PROTOCOL("unknown-methods", H2_05, MEDIUM, 1, odd_calls, .param = unknown_methods,
		 .title = "An unknown method or service is UNIMPLEMENTED",
		 .advice = "Answer methods that you do not have with status 12: a later kubelet "
			   "finds out by it what a plugin can do."),
	PROTOCOL("path-case", H2_06, LOW, 1, odd_calls, .param = path_case,
		 .title = "Methods are found by their exact path",
		 .advice = "Compare :path exactly, with its package and its case."),
	PROTOCOL("trailers", H2_07, HIGH, 1, trailers,
		 .title = "Each call ends with grpc-status, and grpc-message is encoded",
		 .advice = "Send grpc-status in trailers also when it is 0, and percent-encode "
			   "grpc-message: without them the kubelet loses the plugin's reason."),
	PROTOCOL("ping", H2_08, MEDIUM, 1, ping,
		 .title = "PING is acknowledged, also on an idle stream",
		 .advice = "Acknowledge PING at once: grpc-go measures the connection by it, and "
			   "takes a connection that does not answer for dead."),
	PROTOCOL("flow-control", H2_09, HIGH, 1, flow_control,
		 .title = "Flow-control windows are respected, and sending resumes",
		 .advice = "Send no more DATA than the client's window allows, and the rest when "
			   "WINDOW_UPDATE comes."),
	PROTOCOL("split-frames", H2_10, HIGH, 1, split_frames,
		 .title = "Messages and headers may be split over frames",
		 .advice = "Collect DATA until the message is whole; read CONTINUATION."),
	PROTOCOL("header-compression", H2_11, MEDIUM, 1, header_compression,
		 .title = "Header fields are read in each encoding of HPACK",
		 .advice = "Decode literals, Huffman code, and changes of the table's size."),
	PROTOCOL("parallel-calls", H2_12, MEDIUM, 1, parallel_calls,
		 .title = "100 calls at once on one connection are answered",
		 .advice = "Serve the calls of a connection side by side; state a lower limit in "
			   "SETTINGS_MAX_CONCURRENT_STREAMS."),
	PROTOCOL("malformed-messages", H2_13, MEDIUM, 2, odd_calls, .param = malformed,
		 .title = "Malformed requests are refused and do no harm",
		 .advice = "Answer a message that cannot be parsed with INTERNAL or "
			   "INVALID_ARGUMENT."),
	PROTOCOL("unknown-fields", H2_14, MEDIUM, 1, unknown_fields,
		 .title = "Unknown fields of a request are ignored",
		 .advice = "Skip fields that you do not know: a later kubelet may send them."),
	PROTOCOL("invalid-text", H2_15, LOW, 1, odd_calls, .param = invalid_text,
		 .title = "Ids that are not text do no harm",
		 .advice = "Refuse such an id like any that is unknown."),
	PROTOCOL("message-length", H2_16, MEDIUM, 2, lengths, .param = message_lengths,
		 .title = "Wrong lengths of messages are refused and take no memory",
		 .advice = "Compare a message's length with your limit before you allocate memory "
			   "for it."),
	PROTOCOL("foreign-bytes", H2_17, MEDIUM, 1, protocol_foreign_bytes,
		 .title = "Bytes that are not HTTP/2 end only their own connection",
		 .advice = "Close a connection that does not begin with HTTP/2's preface, and no "
			   "other."),
	PROTOCOL("slow-clients", H2_18, MEDIUM, 1, protocol_slow_clients,
		 .title = "Slow clients hold up no others",
		 .advice = "Do not wait for one client before you read from the next."),
	PROTOCOL("abrupt-ends", H2_19, MEDIUM, 1, protocol_abrupt_ends,
		 .title = "Connections that end abruptly are released",
		 .advice = "Close the descriptor and end the calls of a connection that is lost, "
			   "at whatever step."),
	PROTOCOL("client-goaway", H2_20, LOW, 1, protocol_client_goaway,
		 .title = "After GOAWAY from a client it may connect again",
		 .advice = "Let the connection end and accept the next."),
	PROTOCOL("deadlines", H2_21, MEDIUM, 1, odd_calls, .param = deadlines,
		 .title = "grpc-timeout is read, and an odd one does no harm",
		 .advice = "Accept up to eight digits and a unit of H, M, S, m, u, n; refuse "
			   "others."),
	PROTOCOL("reset-flood", H2_22, MEDIUM, 1, protocol_reset_flood,
		 .title = "A flood of cancelled calls does no lasting harm",
		 .advice = "Limit the calls that a connection may start and cancel "
			   "(CVE-2023-44487); update the gRPC library."),
	PROTOCOL("header-flood", H2_23, MEDIUM, 1, protocol_header_flood,
		 .title = "Endless headers take no endless memory",
		 .advice = "Limit the size of a header list, CONTINUATION included "
			   "(CVE-2023-45288); update the gRPC library."),
	{.id = NULL},
};
