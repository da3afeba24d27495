/* SPDX-License-Identifier: MIT */
/* The HTTP/2 byte stream of a server, as a client with three calls sees it. The first byte: 1 puts
 * the server's SETTINGS in front, 2 shrinks the client's windows and limits, 4 pauses the second
 * call until the end, 8 cancels the third at its first message. The second byte: how many bytes
 * arrive at a time (0: all). */
#include "rpc/tests/wire.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct caller {
	struct rpc_call *call;
	bool cancel;
	int ends;
};

static void on_message(struct rpc_call *call, struct rpc_slice message, void *user)
{
	const struct caller *caller = user;
	(void)message;
	if (caller->cancel)
		rpc_call_cancel(call);
}

static void on_done(const struct rpc_status *status, void *user)
{
	struct caller *caller = user;
	if (status->message == NULL || status->code < RPC_OK || status->code > RPC_UNAUTHENTICATED)
		abort();
	caller->ends++;
	caller->call = NULL;
}

static void drive(struct session *session, const uint8_t *data, size_t size, size_t step)
{
	while (size > 0 && !session->ended) {
		size_t piece = step != 0 && step < size ? step : size;
		memory_feed(session, data, piece);
		data += piece;
		size -= piece;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct rpc_channel_options small = {
		.limits = {.message_max = 64, .header_list_max = 512},
		.initial_window = 16,
	};
	static const struct rpc_call_events events = {on_message, on_done};
	static const uint8_t settings[9] = {0, 0, 0, 4};
	const struct rpc_call_request request = {
		.method = "/t.T/Echo",
		.message = {(const uint8_t *)"hello", 5},
	};
	struct caller callers[3] = {0};
	struct memory memory = {0};
	struct rpc_channel *channel = NULL;
	if (size < 2)
		return 0;
	if (channel_new((data[0] & 2) != 0 ? &small : NULL, &memory_transport, &channel, NULL) < 0)
		abort();
	channel->session.transport_data = &memory;
	for (size_t i = 0; i < 3; i++) {
		if (rpc_call_start(channel, &request, &events, &callers[i], &callers[i].call,
				   NULL) < 0)
			abort();
	}
	callers[2].cancel = (data[0] & 8) != 0;
	if ((data[0] & 4) != 0)
		rpc_call_pause(callers[1].call);
	if ((data[0] & 1) != 0)
		memory_feed(&channel->session, settings, sizeof(settings));
	drive(&channel->session, data + 2, size - 2, data[1]);
	if (callers[1].call != NULL)
		rpc_call_resume(callers[1].call);
	session_run(&channel->session);
	(void)session_expire(&channel->session, UINT64_MAX - 1);
	for (size_t i = 0; i < 3; i++) {
		if (callers[i].call != NULL)
			rpc_call_cancel(callers[i].call);
		if (callers[i].ends != 1)
			abort();
	}
	session_run(&channel->session);
	channel_free(channel);
	text_free(&memory.written);
	return 0;
}
