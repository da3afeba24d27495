/* SPDX-License-Identifier: MIT */
/* The HTTP/2 byte stream of a client, as a server sees it. The first byte: 1 puts the client's
 * preface and SETTINGS in front, 2 shrinks the server's windows and limits, 4 lets the deadlines
 * pass at the end. The second byte: how many bytes arrive at a time (0: all). */
#include "rpc/loop.h"
#include "rpc/tests/wire.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct rpc_stream *held;

static void on_held_end(void *user)
{
	(void)user;
	held = NULL;
}

static void on_hold(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	(void)request;
	(void)user;
	if (held != NULL) {
		rpc_stream_on_end(held, NULL, NULL);
		rpc_stream_finish(held, RPC_ABORTED, "only one at a time");
	}
	held = stream;
	rpc_stream_on_end(stream, on_held_end, NULL);
}

static void on_echo(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	(void)user;
	(void)rpc_stream_send(stream, request, NULL);
	(void)rpc_stream_send(stream, request, NULL);
	rpc_stream_finish(stream, (int)(request.size % 17), "%s", "%\xc3\xa4\n");
}

static void drive(struct session *session, const uint8_t *data, size_t size, uint8_t options,
		  size_t step)
{
	struct wire wire;
	wire_start(&wire, true);
	if ((options & 1) != 0)
		memory_feed(session, wire.bytes.data, wire.bytes.size);
	wire_stop(&wire);
	while (size > 0 && !session->ended) {
		size_t piece = step != 0 && step < size ? step : size;
		memory_feed(session, data, piece);
		data += piece;
		size -= piece;
	}
	if ((options & 4) != 0 && !session->ended) {
		(void)session_expire(session, UINT64_MAX - 1);
		session_run(session);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct rpc_server_options small = {
		.limits = {.message_max = 64, .header_list_max = 512, .concurrent_streams_max = 3},
		.initial_window = 16,
	};
	struct memory memory = {0};
	struct rpc_server *server = NULL;
	struct peer *peer = NULL;
	uv_loop_t loop;
	if (size < 2)
		return 0;
	held = NULL;
	if (uv_loop_init(&loop) < 0 ||
	    rpc_server_new(&loop, (data[0] & 2) != 0 ? &small : NULL, &server, NULL) < 0 ||
	    rpc_server_add(server, "/t.T/Echo", on_echo, NULL, NULL) < 0 ||
	    rpc_server_add(server, "/t.T/Hold", on_hold, NULL, NULL) < 0 ||
	    peer_new(server, &memory_transport, &peer, NULL) < 0)
		abort();
	peer->session.transport_data = &memory;
	drive(&peer->session, data + 2, size - 2, data[0], data[1]);
	peer_free(peer);
	text_free(&memory.written);
	rpc_server_close(server);
	if (loop_drain(&loop, 1000, NULL) < 0)
		abort();
	return 0;
}
