/* SPDX-License-Identifier: MIT */
/* Beginnings and ends: connecting, shutting down, losing each other, and callbacks that end things.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/tests/unit.h"
#include "rpc/loop.h"
#include "rpc/tests/raw.h"
#include "rpc/tests/rig.h"
#include "rpc/transport.h"

#include <stdlib.h>
#include <string.h>

static bool is_held(void *user)
{
	const struct rig *rig = user;
	return rig->held != NULL;
}

static bool is_true(void *user)
{
	return *(const bool *)user;
}

static void set_true(void *user)
{
	*(bool *)user = true;
}

struct loss {
	int count;
	char text[ERROR_TEXT_SIZE];
};

static void on_lost(struct rpc_channel *channel, const struct error *why, void *user)
{
	struct loss *loss = user;
	(void)channel;
	loss->count++;
	(void)snprintf(loss->text, sizeof(loss->text), "%s", why->text);
}

static void on_ready(struct rpc_channel *channel, void *user)
{
	int *count = user;
	(void)channel;
	(*count)++;
}

static void test_connect(void)
{
	struct rig rig;
	struct error err = {0};
	int ready = 0;
	const struct rpc_channel_options options = {.on_ready = on_ready, .user = &ready};
	rig_start(&rig, NULL, &options);
	CU_ASSERT_EQUAL(rpc_channel_connect_wait(rig.channel, 5000, &err), 0);
	CU_ASSERT_EQUAL(ready, 1);
	CU_ASSERT_EQUAL(rpc_channel_connect_wait(rig.channel, 0, &err), 0);
	CU_ASSERT_PTR_EQUAL(rpc_channel_loop(rig.channel), &rig.loop);
	rig_stop(&rig);
}

static void test_no_server(void)
{
	struct loss loss = {0};
	const struct rpc_channel_options options = {.on_lost = on_lost, .user = &loss};
	struct rig rig;
	struct outcome first;
	struct outcome second;
	struct error err = {0};
	rig_start(&rig, NULL, &options);
	rpc_channel_close(rig.channel);
	rpc_server_close(rig.server);
	rig.server = NULL;
	CU_ASSERT_EQUAL_FATAL(
		rpc_channel_open(&rig.loop, rig.address, &options, &rig.channel, &err), 0);
	outcome_start(&rig, &(struct rpc_call_request){.method = "/test.Test/Echo"}, &first);
	CU_ASSERT_EQUAL(rpc_channel_connect_wait(rig.channel, 5000, &err), ERROR_UNAVAILABLE);
	CU_ASSERT(strstr(err.text, rig.path) != NULL);
	CU_ASSERT(first.done);
	CU_ASSERT_EQUAL(first.code, RPC_UNAVAILABLE);
	CU_ASSERT_EQUAL(loss.count, 1);
	/* A call on the dead channel ends in the loop, not within the call that starts it. */
	outcome_start(&rig, &(struct rpc_call_request){.method = "/test.Test/Echo"}, &second);
	outcome_wait(&rig, &second);
	CU_ASSERT_EQUAL(second.code, RPC_UNAVAILABLE);
	CU_ASSERT(strstr(second.message, rig.path) != NULL);
	/* ... and can be cancelled before that. */
	outcome_start(&rig, &(struct rpc_call_request){.method = "/test.Test/Echo"}, &second);
	rpc_call_cancel(second.call);
	CU_ASSERT_EQUAL(second.code, RPC_CANCELLED);
	loop_run_for(&rig.loop, 1);
	rig_stop(&rig);
}

static void leave_waiting(struct listener *listener, void *user)
{
	(void)listener;
	(void)user;
}

/* A socket that takes connections and says nothing. */
static void test_silent_server(void)
{
	const struct listener_options silent = {.mode = 0600, .on_connection = leave_waiting};
	struct rig rig;
	struct listener *listener = NULL;
	struct address address;
	struct outcome out;
	struct error err = {0};
	rig_start(&rig, NULL, NULL);
	rpc_server_close(rig.server);
	rig.server = NULL;
	rpc_channel_close(rig.channel);
	CU_ASSERT_EQUAL_FATAL(address_parse(rig.address, ADDRESS_RULES_HERE, &address, &err), 0);
	CU_ASSERT_EQUAL_FATAL(listener_open(&rig.loop, &address, &silent, &listener, &err), 0);
	CU_ASSERT_EQUAL(rpc_channel_open(&rig.loop, rig.address, NULL, &rig.channel, &err), 0);
	CU_ASSERT_EQUAL(rpc_channel_connect_wait(rig.channel, 20, &err), ERROR_TIMEOUT);
	outcome_start(&rig,
		      &(struct rpc_call_request){.method = "/test.Test/Echo", .timeout_ms = 20},
		      &out);
	outcome_wait(&rig, &out);
	CU_ASSERT_EQUAL(out.code, RPC_DEADLINE_EXCEEDED);
	outcome_start(&rig, &(struct rpc_call_request){.method = "/test.Test/Echo"}, &out);
	rpc_channel_close(rig.channel);
	rig.channel = NULL;
	CU_ASSERT(out.done);
	CU_ASSERT_EQUAL(out.code, RPC_CANCELLED);
	listener_close(listener, NULL);
	rig_stop(&rig);
}

static int listen_at(struct rig *rig, struct rpc_server **server, struct error *err)
{
	CU_ASSERT_EQUAL_FATAL(rpc_server_new(&rig->loop, NULL, server, err), 0);
	return rpc_server_listen(*server, rig->address, err);
}

/* What is at the path of a socket decides, and only the own file is removed. */
static void test_socket_file(void)
{
	struct rig rig;
	struct rpc_server *second = NULL;
	struct socket_identity before;
	struct socket_identity after;
	struct error err = {0};
	bool served = false;
	char *aside = NULL;
	rig_start(&rig, NULL, NULL);
	aside = must(text_format("%s.aside", rig.path));
	CU_ASSERT(!socket_is_at(aside) && !socket_identify(aside, &before));
	CU_ASSERT(socket_is_served(aside, &served, &err) == 0 && !served);
	CU_ASSERT(socket_is_at(rig.path) && socket_identify(rig.path, &before));
	CU_ASSERT(socket_is_served(rig.path, &served, &err) == 0 && served);
	/* A served one is never replaced. */
	CU_ASSERT_EQUAL(listen_at(&rig, &second, &err), ERROR_EXISTS);
	UNIT_CONTAINS(err.text, rig.path);
	rpc_server_close(second);
	/* What a killed server leaves: closing finds nothing at the path to remove. */
	CU_ASSERT_EQUAL(rename(rig.path, aside), 0);
	rpc_server_close(rig.server);
	CU_ASSERT_EQUAL(rename(aside, rig.path), 0);
	loop_run_for(&rig.loop, 1);
	CU_ASSERT(socket_is_at(rig.path) && socket_identify(rig.path, &after));
	CU_ASSERT(socket_is_same(&before, &after));
	CU_ASSERT(socket_is_served(rig.path, &served, &err) == 0 && !served);
	CU_ASSERT_EQUAL(listen_at(&rig, &second, &err), ERROR_EXISTS);
	rpc_server_close(second);
	CU_ASSERT_EQUAL(remove(rig.path), 0);
	CU_ASSERT_EQUAL(listen_at(&rig, &rig.server, &err), 0);
	CU_ASSERT(socket_is_served(rig.path, &served, &err) == 0 && served);
	/* Another file in its place stays when the server closes, and is not listened on. */
	CU_ASSERT_EQUAL(rename(rig.path, aside), 0);
	CU_ASSERT_EQUAL(file_write_atomic(rig.path, "mine", 4, 0600, &err), 0);
	CU_ASSERT(!socket_is_at(rig.path));
	CU_ASSERT(socket_is_served(rig.path, &served, &err) == 0 && !served);
	CU_ASSERT_EQUAL(listen_at(&rig, &second, &err), ERROR_EXISTS);
	rpc_server_close(second);
	rpc_server_close(rig.server);
	rig.server = NULL;
	CU_ASSERT(file_exists(rig.path));
	free(aside);
	rig_stop(&rig);
}

static void test_graceful_shutdown(void)
{
	struct loss loss = {0};
	const struct rpc_channel_options options = {.on_lost = on_lost, .user = &loss};
	struct rig rig;
	struct outcome held;
	struct outcome late;
	bool closed = false;
	rig_start(&rig, NULL, &options);
	outcome_start(&rig, &(struct rpc_call_request){.method = "/test.Test/Hold"}, &held);
	rig_until(&rig, is_held, &rig, "the handler");
	rpc_server_shutdown(rig.server, 5000, set_true, &closed);
	rig.server = NULL;
	CU_ASSERT(!file_exists(rig.path));
	loop_run_for(&rig.loop, 10);
	CU_ASSERT(!closed && !held.done);
	CU_ASSERT_EQUAL(loss.count, 1);
	CU_ASSERT(strstr(loss.text, "GOAWAY") != NULL);
	outcome_start(&rig, &(struct rpc_call_request){.method = "/test.Test/Echo"}, &late);
	outcome_wait(&rig, &late);
	CU_ASSERT_EQUAL(late.code, RPC_UNAVAILABLE);
	CU_ASSERT_EQUAL(rig.handled, 1);
	/* The open stream may finish in peace. */
	rpc_stream_finish(rig.held, RPC_OK, "%s", "");
	outcome_wait(&rig, &held);
	CU_ASSERT_EQUAL(held.code, RPC_OK);
	rig_until(&rig, is_true, &closed, "the server to close");
	CU_ASSERT_EQUAL(loss.count, 1);
	rig_stop(&rig);
}

static void test_shutdown_grace_over(void)
{
	struct rig rig;
	struct outcome out;
	bool closed = false;
	rig_start(&rig, NULL, NULL);
	outcome_start(&rig, &(struct rpc_call_request){.method = "/test.Test/Hold"}, &out);
	rig_until(&rig, is_held, &rig, "the handler");
	rpc_server_shutdown(rig.server, 10, set_true, &closed);
	rig.server = NULL;
	outcome_wait(&rig, &out);
	CU_ASSERT_EQUAL(out.code, RPC_UNAVAILABLE);
	CU_ASSERT_STRING_EQUAL(out.message, "the server is shutting down");
	CU_ASSERT_EQUAL(rig.ended, 1);
	rig_until(&rig, is_true, &closed, "the server to close");
	rig_stop(&rig);
}

static bool has_sent(void *user)
{
	const struct rig *rig = user;
	return rig->sent > 0;
}

/* The client's window is shut: the trailers cannot pass, so the stream is reset. */
static void test_shutdown_stalled(void)
{
	struct rig rig;
	struct outcome out;
	uint8_t request[8];
	bool closed = false;
	const struct rpc_call_request call = {
		.method = "/test.Test/Count",
		.message = count_request(1000, 10000, request),
	};
	rig_start(&rig, NULL, NULL);
	outcome_start(&rig, &call, &out);
	rpc_call_pause(out.call);
	rig_until(&rig, has_sent, &rig, "the server to send");
	rpc_server_shutdown(rig.server, 0, set_true, &closed);
	rig.server = NULL;
	outcome_wait(&rig, &out);
	CU_ASSERT(out.code == RPC_CANCELLED || out.code == RPC_UNAVAILABLE);
	rig_until(&rig, is_true, &closed, "the server to close");
	CU_ASSERT_EQUAL(rig.ended, 1);
	rig_stop(&rig);
}

static void test_server_cut(void)
{
	struct rig rig;
	struct outcome out;
	rig_start(&rig, NULL, NULL);
	outcome_start(&rig, &(struct rpc_call_request){.method = "/test.Test/Hold"}, &out);
	rig_until(&rig, is_held, &rig, "the handler");
	rpc_server_close(rig.server);
	rig.server = NULL;
	CU_ASSERT_EQUAL(rig.ended, 1);
	CU_ASSERT_PTR_NULL(rig.held);
	outcome_wait(&rig, &out);
	CU_ASSERT_EQUAL(out.code, RPC_UNAVAILABLE);
	rig_stop(&rig);
}

static void test_channel_closed(void)
{
	struct loss loss = {0};
	const struct rpc_channel_options options = {.on_lost = on_lost, .user = &loss};
	struct rig rig;
	struct outcome out;
	rig_start(&rig, NULL, &options);
	outcome_start(&rig, &(struct rpc_call_request){.method = "/test.Test/Hold"}, &out);
	rig_until(&rig, is_held, &rig, "the handler");
	rpc_channel_close(rig.channel);
	rig.channel = NULL;
	CU_ASSERT(out.done);
	CU_ASSERT_EQUAL(out.code, RPC_CANCELLED);
	CU_ASSERT_EQUAL(loss.count, 0);
	loop_run_for(&rig.loop, 5);
	CU_ASSERT_EQUAL(rig.ended, 1);
	rpc_channel_close(NULL);
	rpc_server_close(NULL);
	rig_stop(&rig);
}

/* What a callback does to the thing that called it. */
struct meddler {
	struct rig *rig;
	bool close_channel;
	bool close_server;
	bool cancel;
	int messages;
	int code;
	bool done;
	int again; /* calls still to be started, each from the end of the one before */
};

static void meddle_message(struct rpc_call *call, struct rpc_slice message, void *user)
{
	struct meddler *meddler = user;
	(void)message;
	meddler->messages++;
	if (meddler->close_server) {
		rpc_server_close(meddler->rig->server);
		meddler->rig->server = NULL;
	}
	if (meddler->close_channel) {
		rpc_channel_close(meddler->rig->channel);
		meddler->rig->channel = NULL;
	} else if (meddler->cancel) {
		rpc_call_cancel(call);
	}
}

static void meddle_done(const struct rpc_status *status, void *user);

static void meddle_start(struct meddler *meddler)
{
	static const struct rpc_call_events events = {meddle_message, meddle_done};
	uint8_t bytes[8];
	const struct rpc_call_request call = {
		.method = "/test.Test/Count",
		.message = count_request(5, 8, bytes),
	};
	CU_ASSERT_EQUAL_FATAL(
		rpc_call_start(meddler->rig->channel, &call, &events, meddler, NULL, NULL), 0);
}

static void meddle_done(const struct rpc_status *status, void *user)
{
	struct meddler *meddler = user;
	meddler->code = status->code;
	if (meddler->again-- > 0)
		meddle_start(meddler);
	else
		meddler->done = true;
}

static void run_meddler(struct meddler meddler, int code, int messages)
{
	struct rig rig;
	rig_start(&rig, NULL, NULL);
	meddler.rig = &rig;
	meddle_start(&meddler);
	rig_until(&rig, is_true, &meddler.done, "the call to end");
	CU_ASSERT_EQUAL(meddler.code, code);
	CU_ASSERT_EQUAL(meddler.messages, messages);
	rig_stop(&rig);
}

static void test_meddling_callbacks(void)
{
	run_meddler((struct meddler){.cancel = true}, RPC_CANCELLED, 1);
	run_meddler((struct meddler){.close_channel = true}, RPC_CANCELLED, 1);
	run_meddler((struct meddler){.close_channel = true, .close_server = true}, RPC_CANCELLED,
		    1);
	run_meddler((struct meddler){.again = 50}, RPC_OK, 255);
}

static void on_suicide(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	struct rig *rig = user;
	(void)stream;
	(void)request;
	rpc_server_close(rig->server);
	rig->server = NULL;
}

static void test_handler_closes_server(void)
{
	struct rig rig;
	struct outcome out;
	struct error err = {0};
	rig_start(&rig, NULL, NULL);
	CU_ASSERT_EQUAL(rpc_server_add(rig.server, "/test.Test/Close", on_suicide, &rig, &err), 0);
	outcome_call(&rig, "/test.Test/Close", "x", 1, &out);
	CU_ASSERT_EQUAL(out.code, RPC_UNAVAILABLE);
	rig_stop(&rig);
}

/* Connections that are dropped at every byte of a valid conversation. */
static void test_abrupt_closes(void)
{
	static const uint8_t bytes[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
				       "\0\0\0\4\0\0\0\0\0"	   /* SETTINGS */
				       "\0\0\1\1\4\0\0\0\1\x83"	   /* HEADERS: :method POST alone */
				       "\0\0\3\0\0\0\0\0\1\0\0\0"; /* DATA: a part of a prefix */
	struct rig rig;
	struct outcome out;
	rig_start(&rig, NULL, NULL);
	CU_ASSERT_EQUAL(rpc_channel_connect_wait(rig.channel, 5000, NULL), 0);
	size_t before = raw_handle_count();
	for (size_t i = 0; i < 1000; i++) {
		struct raw raw = raw_connect(&rig);
		raw_write(raw, bytes, i % sizeof(bytes));
		if (i % 3 == 0)
			(void)uv_run(&rig.loop, UV_RUN_NOWAIT);
		raw_close(raw);
		(void)uv_run(&rig.loop, UV_RUN_NOWAIT);
	}
	outcome_call(&rig, "/test.Test/Echo", "x", 1, &out);
	CU_ASSERT_EQUAL(out.code, RPC_OK);
	outcome_free(&out);
	loop_run_for(&rig.loop, 1);
	CU_ASSERT_EQUAL(raw_handle_count(), before);
	rig_stop(&rig);
}

static bool raws_were_closed(void *user)
{
	const struct raw *raws = user;
	return raw_was_closed(raws[0]) && raw_was_closed(raws[1]);
}

/* Connections that say nothing, or half a preface, are closed; one that speaks is not. */
static void test_preface_timeout(void)
{
	/* Time for the one that speaks on a busy machine. */
	const struct rpc_server_options options = {.preface_timeout_ms = 500};
	struct rig rig;
	struct outcome out;
	rig_start(&rig, &options, NULL);
	struct raw raws[] = {raw_connect(&rig), raw_connect(&rig)};
	raw_write(raws[1], "PRI * HTTP", 10);
	CU_ASSERT_EQUAL(loop_wait(&rig.loop, raws_were_closed, raws, 30000,
				  "the end of both connections", NULL),
			0);
	raw_close(raws[0]);
	raw_close(raws[1]);
	outcome_call(&rig, "/test.Test/Echo", "x", 1, &out);
	CU_ASSERT_EQUAL(out.code, RPC_OK);
	outcome_free(&out);
	rig_stop(&rig);
}

static bool never(void *user)
{
	(void)user;
	return false;
}

/* What a timer brings is noticed at once, not with the next event. */
static void test_timer_that_is_due(void)
{
	uv_loop_t loop;
	struct timer *first = NULL;
	struct timer *second = NULL;
	bool yes = false;
	bool later = false;
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(uv_loop_init(&loop), 0);
	CU_ASSERT_EQUAL_FATAL(timer_start(&loop, 0, 0, set_true, &yes, &first, &err), 0);
	CU_ASSERT_EQUAL_FATAL(timer_start(&loop, 5000, 0, set_true, &later, &second, &err), 0);
	CU_ASSERT_EQUAL(loop_wait(&loop, is_true, &yes, UINT64_MAX, "a timer", &err), 0);
	CU_ASSERT_FALSE(later);
	timer_cancel(&first);
	timer_cancel(&second);
	CU_ASSERT_EQUAL(loop_drain(&loop, 1000, &err), 0);
}

static void test_loop_helpers(void)
{
	uv_loop_t loop;
	uv_timer_t timer;
	bool yes = true;
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(uv_loop_init(&loop), 0);
	CU_ASSERT_EQUAL(loop_wait(&loop, is_true, &yes, 0, "nothing", &err), 0);
	CU_ASSERT_EQUAL(loop_wait(&loop, never, NULL, 1, "a miracle", &err), ERROR_TIMEOUT);
	CU_ASSERT_STRING_EQUAL(err.text, "1 ms without a miracle");
	CU_ASSERT_EQUAL(loop_wait(&loop, never, NULL, UINT64_MAX, "a miracle", &err),
			ERROR_TIMEOUT);
	CU_ASSERT_EQUAL(uv_timer_init(&loop, &timer), 0);
	CU_ASSERT_EQUAL(loop_drain(&loop, 5, &err), ERROR_TIMEOUT);
	CU_ASSERT_STRING_EQUAL(err.text, "handles are still open after 5 ms: timer");
	uv_close((uv_handle_t *)&timer, NULL);
	CU_ASSERT_EQUAL(loop_drain(&loop, 1000, &err), 0);
}

UNIT_MAIN("lifecycle", {"connect", test_connect}, {"no server", test_no_server},
	  {"silent server", test_silent_server}, {"socket file", test_socket_file},
	  {"graceful shutdown", test_graceful_shutdown},
	  {"shutdown grace over", test_shutdown_grace_over},
	  {"shutdown stalled", test_shutdown_stalled}, {"server cut", test_server_cut},
	  {"channel closed", test_channel_closed}, {"meddling callbacks", test_meddling_callbacks},
	  {"handler closes server", test_handler_closes_server},
	  {"abrupt closes", test_abrupt_closes}, {"preface timeout", test_preface_timeout},
	  {"timer that is due", test_timer_that_is_due}, {"loop helpers", test_loop_helpers})
