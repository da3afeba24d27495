/* SPDX-License-Identifier: MIT */
#include "rpc/channel.h"

#include "base/cleanup.h"
#include "rpc/loop.h"

#include <string.h>

/* A typed unary call on its way. */
struct unary {
	const ProtobufCMessageDescriptor *reply_type;
	rpc_reply_fn *done;
	void *user;
	ProtobufCMessage *reply;
	bool answered;
	const char *fault; /* what is wrong with the answer; NULL: nothing so far */
	int fault_code;
};

/* Source of the code: grpc/grpc doc/statuscodes.md, "cardinality violation". */
static void unary_message(struct rpc_call *call, struct rpc_slice message, void *user)
{
	struct unary *unary = user;

	if (unary->answered) {
		unary->fault = "the server sent more than one message";
		unary->fault_code = RPC_UNIMPLEMENTED;
		rpc_call_cancel(call);
		return;
	}
	unary->answered = true;
	unary->reply =
		protobuf_c_message_unpack(unary->reply_type, NULL, message.size, message.data);
	if (unary->reply == NULL) {
		unary->fault = "the server's message cannot be parsed";
		unary->fault_code = RPC_INTERNAL;
	}
}

static void unary_done(const struct rpc_status *status, void *user)
{
	struct unary *unary = user;
	ProtobufCMessage *reply = STEAL(unary->reply);
	struct rpc_status told = *status;

	if (status->code == RPC_OK && !unary->answered) {
		unary->fault = "the server sent no message";
		unary->fault_code = RPC_UNIMPLEMENTED;
	}
	if (unary->fault != NULL &&
	    (status->code == RPC_OK || unary->fault_code == RPC_UNIMPLEMENTED)) {
		told.code = unary->fault_code;
		told.message = unary->fault;
	}
	if (told.code != RPC_OK && reply != NULL) {
		protobuf_c_message_free_unpacked(reply, NULL);
		reply = NULL;
	}
	unary->done(&told, reply, unary->user);
	free(unary);
}

int rpc_unary(struct rpc_channel *channel, const char *method, const ProtobufCMessage *request,
	      const ProtobufCMessageDescriptor *reply_type, uint64_t timeout_ms, rpc_reply_fn *done,
	      void *user, struct rpc_call **out, struct error *err)
{
	static const struct rpc_call_events events = {unary_message, unary_done};
	const struct rpc_call_request call_request = {.method = method, .timeout_ms = timeout_ms};
	struct unary *unary CLEANUP_FREE = calloc(1, sizeof(*unary));
	struct rpc_call *call = NULL;
	uint8_t *bytes = NULL;
	int rc = 0;

	if (unary == NULL)
		return error_memory(err);
	*unary = (struct unary){.reply_type = reply_type, .done = done, .user = user};
	rc = call_prepare(channel, &call_request, &events, unary,
			  protobuf_c_message_get_packed_size(request), &call, &bytes, err);
	if (rc < 0)
		return rc;
	(void)protobuf_c_message_pack(request, bytes);
	rc = call_launch(call, &call_request, err);
	if (rc < 0)
		return rc;
	unary = NULL;
	if (out != NULL)
		*out = call;
	return 0;
}

struct unary_wait {
	bool done;
	int code;
	char *message;
	ProtobufCMessage *reply;
};

static void wait_done(const struct rpc_status *status, ProtobufCMessage *reply, void *user)
{
	struct unary_wait *wait = user;

	wait->done = true;
	wait->code = status->code;
	wait->message = strdup(status->message);
	wait->reply = reply;
}

static bool wait_is_done(void *user)
{
	const struct unary_wait *wait = user;

	return wait->done;
}

int rpc_unary_wait(struct rpc_channel *channel, const char *method, const ProtobufCMessage *request,
		   const ProtobufCMessageDescriptor *reply_type, uint64_t timeout_ms,
		   ProtobufCMessage **reply, struct error *err)
{
	struct unary_wait wait = {0};
	struct rpc_call *call = NULL;
	char *message CLEANUP_FREE = NULL;
	int rc = rpc_unary(channel, method, request, reply_type, timeout_ms, wait_done, &wait,
			   &call, err);

	if (rc < 0)
		return rc;
	rc = loop_wait(rpc_channel_loop(channel), wait_is_done, &wait, UINT64_MAX, method, err);
	if (!wait.done)
		rpc_call_cancel(call);
	message = wait.message;
	if (rc < 0)
		return rc;
	if (wait.code != RPC_OK) {
		rc = error_set(err, ERROR_REMOTE, "%s: %s%s%s", method, rpc_code_name(wait.code),
			       message != NULL && message[0] != '\0' ? ": " : "",
			       message != NULL ? message : "");
		if (err != NULL)
			err->remote = wait.code;
		return rc;
	}
	if (reply != NULL)
		*reply = wait.reply;
	else
		protobuf_c_message_free_unpacked(wait.reply, NULL);
	return 0;
}
