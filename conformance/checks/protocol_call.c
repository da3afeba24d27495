/* SPDX-License-Identifier: MIT */
/* Single calls on connections of their own, and how they end. */
#include "conformance/checks/protocol.h"

enum {
	HTTP_NOT_FOUND = 404,
	SEEN_MS = 100,
	RETURNS_MAX = 3, /* of a plugin that begins to serve anew */
};

const char *protocol_socket(const struct rig *rig)
{
	return rig_last_registration(rig, rig->resources.items[0])->socket;
}

/* A field of bytes. */
static void add_bytes(struct text *out, unsigned number, const char *bytes, size_t size)
{
	raw_add_number(out, number << 3 | 2);
	raw_add_number(out, size);
	text_append(out, bytes, size);
}

void protocol_add_allocate(struct text *out, const char *id, size_t size, const char *later)
{
	struct text container CLEANUP_TEXT = {0};
	add_bytes(&container, 1, id, size);
	text_add(&container, later);
	add_bytes(out, 1, container.data, container.size);
	text_add(out, later);
}

enum protocol_end protocol_ending(const struct raw_client *client, const struct raw_stream *stream)
{
	if (stream->grpc_status == RPC_OK)
		return ENDS_OK;
	if (stream->grpc_status == RPC_UNIMPLEMENTED || stream->http_status == HTTP_NOT_FOUND)
		return ENDS_UNIMPLEMENTED;
	if (stream->grpc_status > 0 ||
	    (stream->http_status != 0 && stream->http_status != PROTOCOL_HTTP_OK))
		return ENDS_ERROR;
	if (stream->reset >= 0 || client->closed || client->goaways != 0)
		return ENDS_RESET;
	return stream->ended ? ENDS_WITHOUT_STATUS : ENDS_NEVER;
}

const char *protocol_ending_text(struct check_run *run, const struct raw_client *client,
				 const struct raw_stream *stream)
{
	if (stream->grpc_status >= 0)
		return check_format(run, "%s", rpc_code_name(stream->grpc_status));
	if (stream->http_status != 0 && stream->http_status != PROTOCOL_HTTP_OK)
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

struct raw_client *protocol_greeted(struct rig *rig)
{
	struct raw_client *client = protocol_open(rig, "a connection");
	if (client != NULL)
		raw_greet(client, UINT32_MAX);
	return client;
}

const struct raw_stream *protocol_call(struct rig *rig, struct raw_client **client,
				       const char *method, const struct raw_field *change,
				       const void *data, size_t size)
{
	*client = protocol_greeted(rig);
	if (*client == NULL)
		return NULL;
	raw_request(*client, 1, method, change);
	raw_frame(*client, NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 1, data, size);
	(void)raw_wait(*client, 1, context_wait_ms(rig->context, PROTOCOL_ANSWER_MS), NULL);
	return raw_stream(*client, 1);
}

bool protocol_measure(const struct rig *rig, const struct rig_footprint *before,
		      struct rig_footprint *after)
{
	if (before->descriptors >= 0 && rig_footprint(rig, after))
		return true;
	check_note(rig->run, "the plugin's memory cannot be measured");
	return false;
}

static bool streams_are_open(void *user)
{
	const struct rig *rig = user;
	rig_each (resource, rig) {
		if (!kubelet_stream_state(rig_stream(rig, resource)).open)
			return false;
	}
	return true;
}

void protocol_await_return(struct rig *rig)
{
	loop_run_for(&rig->loop, SEEN_MS);
	(void)rig_wait(rig, streams_are_open, rig, rig_wait_ms(rig, CHECK_RES_01), "its streams",
		       NULL);
}

static int call_options(struct rig *rig, const char *resource, struct error *err)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	int rc = kubelet_call_options(kubelet_resource_plugin(rig->kubelet, resource), RIG_CALL_MS,
				      &reply, err);
	return rc == 0 && reply.code != RPC_OK ? error_set(err, ERROR_UNAVAILABLE, "%s %s",
							   rpc_code_name(reply.code), reply.message)
					       : rc;
}

static bool accepts(struct rig *rig)
{
	struct raw_client *client CLEANUP_RAW = NULL;
	return raw_open(&rig->loop, protocol_socket(rig), &client, NULL) == 0;
}

/* What fails is tried again after so many returns of the plugin. */
static void expect_service(struct rig *rig, const char *what, int returns)
{
	rig_each (resource, rig) {
		struct error err = {0};
		int rc = 0;
		bool open = false;
		for (;; returns--, protocol_await_return(rig)) {
			rc = call_options(rig, resource, &err);
			open = kubelet_stream_state(rig_stream(rig, resource)).open;
			if ((rc == 0 && open) || returns <= 0)
				break;
		}
		(void)rig_expect_ok(rig, rc,
				    check_format(rig->run, "a call of the kubelet after %s", what),
				    &err);
		(void)check_expect_is(
			rig->run, open,
			check_format(rig->run, "ListAndWatch of the kubelet after %s", what),
			"open", "ended");
	}
	for (; returns > 0 && !accepts(rig); returns--)
		protocol_await_return(rig);
	struct raw_client *client CLEANUP_RAW = NULL;
	const struct raw_stream *stream =
		protocol_call(rig, &client, PROTOCOL_OPTIONS, NULL, "\0\0\0\0", 5);
	if (stream != NULL)
		(void)check_expect(rig->run, protocol_ending(client, stream) == ENDS_OK,
				   check_format(rig->run, "a new connection after %s", what), "OK",
				   "%s", protocol_ending_text(rig->run, client, stream));
}

void protocol_expect_unharmed(struct rig *rig, const char *what)
{
	expect_service(rig, what, 0);
}

void protocol_expect_served(struct rig *rig, const char *what)
{
	expect_service(rig, what, RETURNS_MAX);
}
