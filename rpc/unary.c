/* SPDX-License-Identifier: MIT */
#include "rpc/channel.h"

#include "base/cleanup.h"
#include "rpc/loop.h"
#include "rpc/message.h"

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
	unary->fault = message_unpack(unary->reply_type, message, &unary->reply);
	if (unary->fault != NULL)
		unary->fault_code = RPC_INTERNAL;
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

/* The request goes out with NUL in its strings again: fewer bytes than were packed. */
static int unary_restore_nul(struct rpc_call *call, const ProtobufCMessage *request,
			     struct rpc_slice packed, struct error *err)
{
	struct text bytes CLEANUP_TEXT = {0};
	uint8_t *shorter = NULL;
	if (!message_has_nul(packed))
		return 0;
	message_restore_nul(request->descriptor, packed, &bytes);
	if (!bytes.failed)
		shorter = call_resize(call, bytes.size);
	if (shorter == NULL)
		return error_memory(err);
	memcpy(shorter, text_string(&bytes), bytes.size);
	return 0;
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
	size_t size = protobuf_c_message_get_packed_size(request);

	if (unary == NULL)
		return error_memory(err);
	*unary = (struct unary){.reply_type = reply_type, .done = done, .user = user};
	int rc = call_prepare(channel, &call_request, &events, unary, size, &call, &bytes, err);
	if (rc < 0)
		return rc;
	(void)protobuf_c_message_pack(request, bytes);
	rc = unary_restore_nul(call, request, (struct rpc_slice){bytes, size}, err);
	if (rc < 0) {
		call_discard(call);
		return rc;
	}
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
