/* SPDX-License-Identifier: MIT */
/* A channel that redials: one connection after the other, as a ClientConn of grpc-go. */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "rpc/channel.h"
#include "rpc/loop.h"
#include "rpc/peer.h"
#include "rpc/tests/rig.h"

#include <string.h>

static const struct rpc_channel_options redialling = {.redials = true};

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

static void hold(struct rig *rig, struct outcome *held)
{
	outcome_start(rig, &(struct rpc_call_request){.method = "/test.Test/Hold"}, held);
	rig_until(rig, is_held, rig, "the handler");
}

static int echo(struct rig *rig)
{
	struct outcome out;
	int code = 0;
	outcome_call(rig, "/test.Test/Echo", "hello", 5, &out);
	code = out.code;
	if (code == RPC_OK)
		CU_ASSERT(out.last_size == 5 && memcmp(out.last, "hello", 5) == 0);
	outcome_free(&out);
	return code;
}

/* What is open stays on the old connection, what is new goes to another one, any number of times.
 */
static void test_goaway(void)
{
	struct rig rig;
	struct outcome held;
	rig_start(&rig, NULL, &redialling);
	hold(&rig, &held);
	for (int i = 0; i < 20; i++) {
		rpc_server_say_goaway(rig.server);
		UNIT_INT(echo(&rig), RPC_OK);
		UNIT_INT(echo(&rig), RPC_OK);
		CU_ASSERT_FALSE(held.done);
	}
	CU_ASSERT_EQUAL(
		rpc_stream_send(rig.held, (struct rpc_slice){(const uint8_t *)"x", 1}, NULL), 0);
	rpc_stream_finish(rig.held, RPC_OK, "%s", "");
	outcome_wait(&rig, &held);
	UNIT_INT(held.code, RPC_OK);
	UNIT_INT(held.messages, 1);
	outcome_free(&held);
	rig_stop(&rig);
}

/* grpc-go's GracefulStop, and a new server at the path. */
static void test_next_server(void)
{
	struct rig rig;
	struct outcome held;
	bool closed = false;
	rig_start(&rig, NULL, &redialling);
	hold(&rig, &held);
	rpc_server_shutdown(rig.server, 5000, set_true, &closed);
	UNIT_INT(echo(&rig), RPC_UNAVAILABLE); /* nobody listens */
	rig_serve(&rig, NULL);
	UNIT_INT(echo(&rig), RPC_OK);
	CU_ASSERT_FALSE(held.done || closed);
	rpc_stream_finish(rig.held, RPC_OK, "%s", "");
	outcome_wait(&rig, &held);
	UNIT_INT(held.code, RPC_OK);
	rig_until(&rig, is_true, &closed, "the first server to close");
	UNIT_INT(echo(&rig), RPC_OK);
	outcome_free(&held);
	rig_stop(&rig);
}

static void test_lost_connection(void)
{
	struct rig rig;
	struct outcome held;
	rig_start(&rig, NULL, &redialling);
	for (int i = 0; i < 3; i++) {
		hold(&rig, &held);
		rpc_server_close(rig.server);
		outcome_wait(&rig, &held);
		UNIT_INT(held.code, RPC_UNAVAILABLE);
		outcome_free(&held);
		rig_serve(&rig, NULL);
		UNIT_INT(echo(&rig), RPC_OK);
	}
	rig_stop(&rig);
}

/* The call is on its way when the server says that the streams before it were the last. */
static void test_call_that_was_not_taken(void)
{
	struct rig rig;
	struct outcome held;
	struct outcome out;
	uint8_t request[8];
	rig_start(&rig, NULL, &redialling);
	hold(&rig, &held);
	outcome_start(&rig,
		      &(struct rpc_call_request){.method = "/test.Test/Count",
						 .message = count_request(2, 10, request),
						 .timeout_ms = 5000},
		      &out);
	peer_say_goaway(rig.server->peers);
	outcome_wait(&rig, &out);
	UNIT_INT(out.code, RPC_OK);
	UNIT_INT(out.messages, 2);
	CU_ASSERT(out.in_order);
	rpc_stream_finish(rig.held, RPC_OK, "%s", "");
	outcome_wait(&rig, &held);
	outcome_free(&held);
	outcome_free(&out);
	rig_stop(&rig);
}

/* A call that is on its way when GOAWAY is announced is taken. */
static void test_call_on_its_way(void)
{
	struct rig rig;
	struct outcome out;
	rig_start(&rig, NULL, NULL);
	UNIT_INT(echo(&rig), RPC_OK);
	for (int i = 0; i < 2; i++) {
		outcome_start(&rig, &(struct rpc_call_request){.method = "/test.Test/Echo"}, &out);
		rpc_server_say_goaway(rig.server);
		outcome_wait(&rig, &out);
		UNIT_INT(out.code, i == 0 ? RPC_OK : RPC_UNAVAILABLE);
		outcome_free(&out);
	}
	rig_stop(&rig);
}

static bool is_lost(void *user)
{
	return channel_lost_reason(user) != NULL;
}

static bool is_connected(void *user)
{
	const struct peer *newest = ((const struct rpc_server *)user)->peers;
	return newest != NULL && !newest->session.draining && !newest->session.ended;
}

/* Connections whose first bytes say that they take nothing: the call never leaves on them, and goes to
 * the next one as often as that happens. */
static void test_connections_that_age_at_once(void)
{
	struct rig rig;
	struct outcome out;
	rig_start(&rig, NULL, &redialling);
	UNIT_INT(echo(&rig), RPC_OK);
	rpc_server_say_goaway(rig.server);
	rig_until(&rig, is_lost, rig.channel, "GOAWAY");
	outcome_start(&rig, &(struct rpc_call_request){.method = "/test.Test/Echo"}, &out);
	for (int i = 0; i < 3; i++) {
		rig_until(&rig, is_connected, rig.server, "the next connection");
		rpc_server_say_goaway(rig.server);
	}
	outcome_wait(&rig, &out);
	UNIT_INT(out.code, RPC_OK);
	outcome_free(&out);
	rig_stop(&rig);
}

/* Calls on every connection end with the channel. */
static void test_close(void)
{
	struct rig rig;
	struct outcome held;
	struct outcome waiting;
	rig_start(&rig, NULL, &redialling);
	hold(&rig, &held);
	rpc_server_say_goaway(rig.server);
	UNIT_INT(echo(&rig), RPC_OK);
	rpc_server_say_goaway(rig.server);
	loop_run_for(&rig.loop, 0);
	outcome_start(&rig, &(struct rpc_call_request){.method = "/test.Test/Hold"}, &waiting);
	rpc_channel_close(rig.channel);
	rig.channel = NULL;
	CU_ASSERT(held.done && waiting.done);
	UNIT_INT(held.code, RPC_CANCELLED);
	UNIT_INT(waiting.code, RPC_CANCELLED);
	outcome_free(&held);
	outcome_free(&waiting);
	rig_stop(&rig);
}

UNIT_MAIN("redial", {"GOAWAY with a call open", test_goaway},
	  {"a new server at the address", test_next_server},
	  {"a lost connection", test_lost_connection},
	  {"a call that was not taken", test_call_that_was_not_taken},
	  {"a call on its way", test_call_on_its_way},
	  {"connections that age at once", test_connections_that_age_at_once},
	  {"a closed channel", test_close})
