/* SPDX-License-Identifier: MIT */
#include "rpc/client.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "rpc/loop.h"
#include "rpc/message.h"

#include <string.h>

/* A typed unary call in progress. */
struct unary {
	const ProtobufCMessageDescriptor *reply_type;
	rpc_reply_fn *done;
	void *user;
	ProtobufCMessage *reply;
	bool answered;
	const char *fault; /* what is wrong with the response; NULL: nothing so far */
	int fault_code;
};

/* Source of the code: grpc/grpc doc/statuscodes.md, "cardinality violation". */
static void on_message(struct rpc_call *call, struct rpc_slice message, void *user)
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

static void on_done(const struct rpc_status *status, void *user)
{
	struct unary *unary = user;
	ProtobufCMessage *reply = STEAL(unary->reply);
	struct rpc_status reported = *status;
	if (status->code == RPC_OK && !unary->answered) {
		unary->fault = "the server sent no message";
		unary->fault_code = RPC_UNIMPLEMENTED;
	}
	if (unary->fault != NULL &&
	    (status->code == RPC_OK || unary->fault_code == RPC_UNIMPLEMENTED)) {
		reported.code = unary->fault_code;
		reported.message = unary->fault;
	}
	if (reported.code != RPC_OK && reply != NULL) {
		protobuf_c_message_free_unpacked(reply, NULL);
		reply = NULL;
	}
	unary->done(&reported, reply, unary->user);
	free(unary);
}

int rpc_unary(struct rpc_channel *channel, const char *method, const ProtobufCMessage *request,
	      const ProtobufCMessageDescriptor *reply_type, uint64_t timeout_ms, rpc_reply_fn *done,
	      void *user, struct rpc_call **out, struct error *err)
{
	static const struct rpc_call_events events = {on_message, on_done};
	struct unary *unary CLEANUP_FREE = calloc(1, sizeof(*unary));
	struct text bytes CLEANUP_TEXT = {0};
	if (unary == NULL)
		return error_memory(err);
	*unary = (struct unary){.reply_type = reply_type, .done = done, .user = user};
	int rc = message_pack(request, &bytes, err);
	if (rc < 0)
		return rc;
	const struct rpc_call_request call = {
		.method = method,
		.message = {(const uint8_t *)text_string(&bytes), bytes.size},
		.timeout_ms = timeout_ms,
	};
	rc = rpc_call_start(channel, &call, &events, unary, out, err);
	if (rc == 0)
		unary = NULL;
	return rc;
}

struct unary_wait {
	const struct rpc_unary_call *call;
	struct rpc_answer *answer;
	uint64_t started_ns;
	bool done;
};

static void on_answer(const struct rpc_status *status, ProtobufCMessage *reply, void *user)
{
	struct unary_wait *wait = user;
	wait->done = true;
	wait->answer->duration_ms = (clock_monotonic_ns() - wait->started_ns) / 1000000;
	wait->answer->code = status->code;
	wait->answer->message = strdup(status->message);
	wait->answer->reply = reply;
}

static bool is_over(void *user)
{
	const struct unary_wait *wait = user;
	return wait->done || (wait->call->stop != NULL && wait->call->stop(wait->call->user));
}

int rpc_unary_answer(struct rpc_channel *channel, const struct rpc_unary_call *call,
		     struct rpc_answer *out, struct error *err)
{
	struct unary_wait wait = {.call = call, .answer = out, .started_ns = clock_monotonic_ns()};
	struct rpc_call *running = NULL;
	*out = (struct rpc_answer){.code = RPC_NO_STATUS};
	int rc = rpc_unary(channel, call->method, call->request, call->reply_type, call->timeout_ms,
			   on_answer, &wait, &running, err);
	if (rc < 0)
		return rc;
	rc = loop_wait(rpc_channel_loop(channel), is_over, &wait,
		       call->patience_ms == 0 ? UINT64_MAX : call->patience_ms, call->method, err);
	if (wait.done && out->message != NULL)
		return 0;
	if (wait.done)
		rc = error_memory(err);
	else
		rpc_call_cancel(running);
	rpc_answer_free(out);
	if (rc != 0)
		return rc;
	return error_set(err, ERROR_CANCELLED, "%s was given up", call->method);
}

void rpc_answer_free(struct rpc_answer *answer)
{
	if (answer->reply != NULL)
		protobuf_c_message_free_unpacked(answer->reply, NULL);
	free(answer->message);
	*answer = (struct rpc_answer){.code = RPC_NO_STATUS};
}

int rpc_unary_wait(struct rpc_channel *channel, const char *method, const ProtobufCMessage *request,
		   const ProtobufCMessageDescriptor *reply_type, uint64_t timeout_ms,
		   ProtobufCMessage **reply, struct error *err)
{
	const struct rpc_unary_call call = {.method = method,
					    .request = request,
					    .reply_type = reply_type,
					    .timeout_ms = timeout_ms};
	struct rpc_answer answer CLEANUP_RPC_ANSWER = {0};
	int rc = rpc_unary_answer(channel, &call, &answer, err);
	if (rc < 0)
		return rc;
	if (answer.code != RPC_OK) {
		rc = error_set(err, ERROR_REMOTE, "%s: %s%s%s", method, rpc_code_name(answer.code),
			       answer.message[0] != '\0' ? ": " : "", answer.message);
		if (err != NULL)
			err->remote = answer.code;
		return rc;
	}
	if (reply != NULL)
		*reply = STEAL(answer.reply);
	return 0;
}
