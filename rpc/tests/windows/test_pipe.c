/* SPDX-License-Identifier: MIT */
/* Calls over a named pipe, as to a container runtime of Windows. The project's servers do not listen
 * on pipes: here one gets its bytes from a pipe of libuv's own. */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "rpc/loop.h"
#include "rpc/tests/wire.h"

#include <stdlib.h>
#include <string.h>

#define PIPE_NAME "\\\\.\\pipe\\gpucert-test-pipe"

enum { PATIENCE_MS = 5000, LARGE = 1 << 20 };

struct subject {
	uv_loop_t loop;
	uv_pipe_t listener, pipe;
	uv_write_t write;
	char input[64 * 1024], *writing;
	struct memory memory;
	struct rpc_server *server;
	struct peer *peer;
	struct rpc_channel *channel;
	bool done;
	int code;
	size_t size;
};

static void on_echo(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	(void)user;
	CU_ASSERT(rpc_stream_send(stream, request, NULL) == 0);
	rpc_stream_finish(stream, RPC_OK, "%s", "");
}

static void flush(struct subject *subject);

static void on_written(uv_write_t *write, int status)
{
	struct subject *subject = write->data;
	CU_ASSERT_EQUAL(status, 0);
	free(STEAL(subject->writing));
	flush(subject);
}

static void flush(struct subject *subject)
{
	size_t size = subject->memory.written.size;
	if (subject->writing != NULL || size == 0)
		return;
	subject->writing = text_take(&subject->memory.written);
	const uv_buf_t bytes = uv_buf_init(subject->writing, (unsigned)size);
	subject->write.data = subject;
	CU_ASSERT(uv_write(&subject->write, (uv_stream_t *)&subject->pipe, &bytes, 1, on_written) ==
		  0);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct subject *subject = handle->data;
	(void)suggested;
	*buffer = uv_buf_init(subject->input, sizeof(subject->input));
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
	struct subject *subject = stream->data;
	if (size > 0)
		memory_feed(&subject->peer->session, buffer->base, (size_t)size);
	if (size >= 0)
		flush(subject);
	else
		uv_close((uv_handle_t *)stream, NULL);
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct subject *subject = listener->data;
	CU_ASSERT_EQUAL_FATAL(status, 0);
	CU_ASSERT_EQUAL_FATAL(uv_pipe_init(&subject->loop, &subject->pipe, 0), 0);
	subject->pipe.data = subject;
	CU_ASSERT_EQUAL_FATAL(uv_accept(listener, (uv_stream_t *)&subject->pipe), 0);
	CU_ASSERT_EQUAL_FATAL(peer_new(subject->server, &memory_transport, &subject->peer, NULL),
			      0);
	subject->peer->session.transport_data = &subject->memory;
	session_run(&subject->peer->session);
	CU_ASSERT_EQUAL(uv_read_start((uv_stream_t *)&subject->pipe, on_alloc, on_read), 0);
	flush(subject);
}

static void on_message(struct rpc_call *call, struct rpc_slice message, void *user)
{
	struct subject *subject = user;
	(void)call;
	subject->size = message.size;
}

static void on_done(const struct rpc_status *status, void *user)
{
	struct subject *subject = user;
	subject->done = true;
	subject->code = status->code;
}

static bool is_done(void *user)
{
	const struct subject *subject = user;
	return subject->done;
}

static void echo(struct subject *subject, const uint8_t *bytes, size_t size)
{
	static const struct rpc_call_events events = {on_message, on_done};
	const struct rpc_call_request request = {.method = "/t.T/Echo", .message = {bytes, size}};
	subject->done = false;
	UNIT_INT(rpc_call_start(subject->channel, &request, &events, subject, NULL, NULL), 0);
	UNIT_INT(loop_wait(&subject->loop, is_done, subject, PATIENCE_MS, "an echo", NULL), 0);
	UNIT_INT(subject->code, RPC_OK);
	UNIT_INT(subject->size, size);
}

static void test_calls(void)
{
	static struct subject subject;
	uint8_t *large CLEANUP_FREE = calloc(1, LARGE);
	struct error err = {0};
	CU_ASSERT_FATAL(large != NULL && uv_loop_init(&subject.loop) == 0);
	UNIT_INT(rpc_server_new(&subject.loop, NULL, &subject.server, &err), 0);
	UNIT_INT(rpc_server_add(subject.server, "/t.T/Echo", on_echo, NULL, &err), 0);
	UNIT_INT(rpc_server_listen(subject.server, PIPE_NAME, &err), ERROR_UNSUPPORTED);
	/* Nobody is there. */
	UNIT_INT(rpc_channel_open(&subject.loop, PIPE_NAME, NULL, &subject.channel, &err), 0);
	UNIT_INT(rpc_channel_connect_wait(subject.channel, PATIENCE_MS, &err), ERROR_UNAVAILABLE);
	UNIT_CONTAINS(err.text, PIPE_NAME);
	rpc_channel_close(subject.channel);
	CU_ASSERT_FATAL(uv_pipe_init(&subject.loop, &subject.listener, 0) == 0);
	subject.listener.data = &subject;
	CU_ASSERT_FATAL(uv_pipe_bind(&subject.listener, PIPE_NAME) == 0);
	CU_ASSERT_FATAL(uv_listen((uv_stream_t *)&subject.listener, 1, on_connection) == 0);
	UNIT_INT(rpc_channel_open(&subject.loop, "npipe:////./pipe/gpucert-test-pipe", NULL,
				  &subject.channel, &err),
		 0);
	UNIT_INT(rpc_channel_connect_wait(subject.channel, PATIENCE_MS, &err), 0);
	echo(&subject, (const uint8_t *)"hello", 5);
	echo(&subject, large, LARGE);
	rpc_channel_close(subject.channel);
	uv_close((uv_handle_t *)&subject.listener, NULL);
	CU_ASSERT(uv_run(&subject.loop, UV_RUN_DEFAULT) == 0);
	peer_free(subject.peer);
	text_free(&subject.memory.written);
	rpc_server_close(subject.server);
	UNIT_INT(loop_drain(&subject.loop, PATIENCE_MS, &err), 0);
}

UNIT_MAIN("named pipes", {"calls", test_calls})
