/* SPDX-License-Identifier: MIT */
/* HTTP/2 and gRPC as clients other than today's kubelet may speak them: unusual calls, and the suite's rows. */
#include "conformance/checks/protocol.h"

#include "base/memory.h"
#include "conformance/checks/suites.h"

#include <string.h>

struct odd_call {
	const char *what;
	const char *method;
	struct raw_field change; /* of the request's headers; name NULL: none */
	const char *data;	 /* bytes of DATA; NULL: an Allocate of the first id */
	size_t size;
	unsigned allowed; /* enum protocol_end */
	const char *wanted;
};

#define BYTES(...) __VA_ARGS__, sizeof(__VA_ARGS__) - 1
#define EMPTY	   BYTES("\0\0\0\0\0")
#define REFUSED	   ENDS_REFUSED, "an error"
#define ANY_END	   ENDS_AT_ALL, "an answer or an error"
/* A call whose message never arrived: grpc-go 1.27 ends it with its connection. */
#define UNHEARD (ENDS_REFUSED | ENDS_NEVER), "an error, or none"

#define PLAIN(what, method, ...)                                                                   \
	{                                                                                          \
		(what), (method), {NULL, NULL}, __VA_ARGS__                                        \
	}
/* GetDevicePluginOptions with another header field. */
#define CHANGED(what, name, value, ...)                                                            \
	{                                                                                          \
		(what), PROTOCOL_OPTIONS, {(name), (value)}, EMPTY, __VA_ARGS__                    \
	}

static const struct odd_call content_types[] = {
	PLAIN("content-type application/grpc", PROTOCOL_OPTIONS, EMPTY, ENDS_OK, "OK"),
	CHANGED("content-type application/grpc+proto", "content-type", "application/grpc+proto",
		ENDS_OK, "OK"),
	CHANGED("content-type text/plain", "content-type", "text/plain", ANY_END),
	CHANGED("no content-type", "content-type", NULL, ANY_END),
	{NULL},
};

static const struct odd_call unknown_methods[] = {
	PLAIN("an unknown method", DEVICE_PLUGIN_SERVICE "Deallocate", EMPTY, ENDS_UNIMPLEMENTED,
	      "UNIMPLEMENTED"),
	PLAIN("an unknown service", "/v1.DevicePlugin/Allocate", EMPTY, ENDS_UNIMPLEMENTED,
	      "UNIMPLEMENTED"),
	{NULL},
};

static const struct odd_call path_case[] = {
	PLAIN("the path /v1beta1.DevicePlugin/getdevicepluginoptions",
	      DEVICE_PLUGIN_SERVICE "getdevicepluginoptions", EMPTY, ENDS_UNIMPLEMENTED,
	      "UNIMPLEMENTED"),
	PLAIN("the path /v1alpha.DevicePlugin/GetDevicePluginOptions",
	      "/v1alpha.DevicePlugin/GetDevicePluginOptions", EMPTY, ENDS_UNIMPLEMENTED,
	      "UNIMPLEMENTED"),
	{NULL},
};

static const struct odd_call authorities[] = {
	CHANGED(":authority localhost", ":authority", "localhost", ENDS_OK, "OK"),
	CHANGED("a path as :authority", ":authority", "/run/kubelet/a.sock", ANY_END),
	CHANGED("an encoded path as :authority", ":authority", "%2Frun%2Fa.sock", ANY_END),
	CHANGED("an empty :authority", ":authority", "", ANY_END),
	CHANGED("no :authority", ":authority", NULL, ANY_END),
	{NULL},
};

/* The first is what grpc-go sends for the 30 seconds of PreStartContainer. */
static const struct odd_call deadlines[] = {
	CHANGED("grpc-timeout 30000000u", "grpc-timeout", "30000000u", ENDS_OK, "OK"),
	CHANGED("grpc-timeout 1m", "grpc-timeout", "1m", ANY_END),
	CHANGED("grpc-timeout 99999999H", "grpc-timeout", "99999999H", ANY_END),
	CHANGED("grpc-timeout of nine digits", "grpc-timeout", "123456789S", ANY_END),
	CHANGED("grpc-timeout soon", "grpc-timeout", "soon", ANY_END),
	{NULL},
};

static const struct odd_call malformed[] = {
	PLAIN("a field that is longer than its message", PROTOCOL_ALLOCATE,
	      BYTES("\0\0\0\0\3\x0a\x7f\x01"), REFUSED),
	PLAIN("a message of one unfinished number", PROTOCOL_ALLOCATE, BYTES("\0\0\0\0\2\x0a\xff"),
	      REFUSED),
	PLAIN("a request without a message", PROTOCOL_ALLOCATE, BYTES(""), UNHEARD),
	{NULL},
};

static const struct odd_call invalid_text[] = {
	PLAIN("an id that is not UTF-8", PROTOCOL_ALLOCATE,
	      BYTES("\0\0\0\0\7\x0a\5\x0a\3\xff\xfe\xc0"), ANY_END),
	PLAIN("an id with NUL", PROTOCOL_ALLOCATE, BYTES("\0\0\0\0\7\x0a\5\x0a\3a\0b"), ANY_END),
	{NULL},
};

static const struct odd_call message_lengths[] = {
	PLAIN("a message of 4 GiB, of which nothing comes", PROTOCOL_ALLOCATE,
	      BYTES("\0\xff\xff\xff\xff"), REFUSED),
	PLAIN("a message that ends too early", PROTOCOL_ALLOCATE, BYTES("\0\0\0\0\x64\x0a"),
	      UNHEARD),
	/* gRPC's C library ignores the flag. */
	PLAIN("a message that is flagged as compressed", PROTOCOL_ALLOCATE,
	      BYTES("\1\0\0\0\4\x0a\2\x0a\0"), ANY_END),
	{NULL},
};

/* Makes the calls of the row's param, and expects no other effects. */
static void odd_calls_of(struct rig *rig)
{
	for (const struct odd_call *odd = check_row(rig->run)->param; odd->what != NULL; odd++) {
		struct raw_client *client CLEANUP_RAW = NULL;
		const struct raw_stream *stream = protocol_call(
			rig, &client, odd->method, odd->change.name != NULL ? &odd->change : NULL,
			odd->data, odd->size);
		if (stream == NULL)
			return;
		(void)check_expect(rig->run, (protocol_ending(client, stream) & odd->allowed) != 0,
				   odd->what, odd->wanted, "%s",
				   protocol_ending_text(rig->run, client, stream));
	}
	protocol_expect_unharmed(rig, "these calls");
}

static void odd_calls(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	if (rig != NULL)
		odd_calls_of(rig);
}

/* An announced length must not take memory, and a request longer than a server may receive is answered. */
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
	const struct rpc_unary_call huge = {.method = PROTOCOL_ALLOCATE,
					    .request = &request.request.base,
					    .reply_type = kubelet_method_allocate.reply,
					    .patience_ms = RIG_CALL_MS};
	int rc = rpc_channel_open(&rig->loop, address, &options, &channel, &err);
	if (rc == 0)
		rc = rpc_unary_answer(channel, &huge, &reply, &err);
	rpc_channel_close(channel);
	(void)rig_expect_ok(rig, rc, "a request of 5 MiB is answered", &err);
	protocol_expect_unharmed(rig, "a request of 5 MiB");

	if (!protocol_measure(rig, &before, &after))
		return;
	(void)check_expect_at_most(run, "KiB of memory more",
				   after.resident_kib - before.resident_kib, RESIDENT_KIB);
	(void)check_expect_at_most(run, "KiB of address space more",
				   after.virtual_kib - before.virtual_kib, VIRTUAL_KIB);
}

/* On Linux only: raw_client.h connects to AF_UNIX, which Wine lacks. */
#define PROTOCOL(name, rule, severity, revision, body, ...)                                        \
	CHECK("protocol." name, rule, severity, revision, body, .timeout_s = 180,                  \
	      .needs.os = "linux", .depends_on = "list-and-watch.arrives", __VA_ARGS__)

const struct check protocol_checks[] = {
	PROTOCOL("settings", H2_01, MEDIUM, 1, protocol_settings,
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
	PROTOCOL("trailers", H2_07, HIGH, 1, protocol_trailers,
		 .title = "Each call ends with grpc-status, and grpc-message is encoded",
		 .advice = "Send grpc-status in trailers also when it is 0, and percent-encode "
			   "grpc-message: without them the kubelet loses the plugin's reason."),
	PROTOCOL("ping", H2_08, MEDIUM, 1, protocol_ping,
		 .title = "PING is acknowledged, also on an idle stream",
		 .advice = "Acknowledge PING at once: grpc-go measures the connection by it, and "
			   "takes a connection that does not answer for dead."),
	PROTOCOL("flow-control", H2_09, HIGH, 1, protocol_flow_control,
		 .title = "Flow-control windows are respected, and sending resumes",
		 .advice = "Send no more DATA than the client's window allows, and the rest when "
			   "WINDOW_UPDATE comes."),
	PROTOCOL("split-frames", H2_10, HIGH, 1, protocol_split_frames,
		 .title = "Messages and headers may be split over frames",
		 .advice = "Collect DATA until the message is whole; read CONTINUATION."),
	PROTOCOL("header-compression", H2_11, MEDIUM, 1, protocol_header_compression,
		 .title = "Header fields are read in each encoding of HPACK",
		 .advice = "Decode literals, Huffman code, and changes of the table's size."),
	PROTOCOL("parallel-calls", H2_12, MEDIUM, 1, protocol_parallel_calls,
		 .title = "100 calls at once on one connection are answered",
		 .advice = "Serve the calls of a connection side by side; state a lower limit in "
			   "SETTINGS_MAX_CONCURRENT_STREAMS."),
	PROTOCOL("malformed-messages", H2_13, MEDIUM, 2, odd_calls, .param = malformed,
		 .title = "Malformed requests are refused and do no harm",
		 .advice = "Answer a message that cannot be parsed with INTERNAL or "
			   "INVALID_ARGUMENT."),
	PROTOCOL("unknown-fields", H2_14, MEDIUM, 1, protocol_unknown_fields,
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
	PROTOCOL("header-flood", H2_23, MEDIUM, 2, protocol_header_flood,
		 .title = "Endless headers take no endless memory",
		 .advice = "Limit the size of a header list, CONTINUATION included "
			   "(CVE-2023-45288); update the gRPC library."),
	{.id = NULL},
};
