/* SPDX-License-Identifier: MIT */
/* Streaming, flow control, deadlines, cancellation, limits and the many-at-once cases. */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "rpc/loop.h"
#include "rpc/tests/rig.h"

#include <stdlib.h>
#include <string.h>

static void test_streaming(void)
{
	struct rig rig;
	struct outcome out;
	uint8_t request[8];
	rig_start(&rig, NULL, NULL);
	(void)count_request(1000, 100, request);
	outcome_call(&rig, "/test.Test/Count", request, 8, &out);
	CU_ASSERT_EQUAL(out.code, RPC_OK);
	CU_ASSERT_EQUAL(out.messages, 1000);
	CU_ASSERT_EQUAL(out.bytes, 100000);
	CU_ASSERT(out.in_order);
	CU_ASSERT_EQUAL(rig.ended, 1);
	outcome_free(&out);
	rig_stop(&rig);
}

static void test_tiny_windows(void)
{
	const struct rpc_server_options server = {.initial_window = 1};
	const struct rpc_channel_options client = {.initial_window = 3};
	struct rig rig;
	struct outcome out;
	uint8_t request[8];
	rig_start(&rig, &server, &client);
	(void)count_request(20, 50, request);
	outcome_call(&rig, "/test.Test/Count", request, 8, &out);
	CU_ASSERT_EQUAL(out.code, RPC_OK);
	CU_ASSERT_EQUAL(out.messages, 20);
	CU_ASSERT(out.in_order);
	CU_ASSERT(rig.drained > 0);
	outcome_free(&out);
	rig_stop(&rig);
}

static bool is_stuck(void *user)
{
	const struct rig *rig = user;
	return rig->sent > 0;
}

/* A paused call: the server can fill one window and queue one message, and no more. */
static void test_pause(void)
{
	struct rig rig;
	struct outcome out;
	uint8_t request[8];
	size_t sent = 0;
	const struct rpc_call_request call = {
		.method = "/test.Test/Count",
		.message = count_request(1000, 10000, request),
	};
	rig_start(&rig, NULL, NULL);
	outcome_start(&rig, &call, &out);
	rpc_call_pause(out.call);
	rig_until(&rig, is_stuck, &rig, "the server to send");
	loop_run_for(&rig.loop, 20);
	sent = rig.sent;
	CU_ASSERT(sent >= 6 && sent <= 65535 / 10005 + 2);
	CU_ASSERT_EQUAL(out.messages, 0);
	CU_ASSERT_EQUAL(rig.ended, 0);
	/* Another call is not held back by the window of this one. */
	{
		struct outcome other;
		outcome_call(&rig, "/test.Test/Echo", "hello", 5, &other);
		CU_ASSERT_EQUAL(other.code, RPC_OK);
		outcome_free(&other);
	}
	rpc_call_resume(out.call);
	outcome_wait(&rig, &out);
	CU_ASSERT_EQUAL(out.messages, 1000);
	CU_ASSERT(out.in_order);
	outcome_free(&out);
	rig_stop(&rig);
}

static bool is_handled(void *user)
{
	const struct rig *rig = user;
	return rig->handled > 0;
}

/* The whole answer came while the call was paused: it ends only when it is resumed. */
static void test_pause_at_the_end(void)
{
	struct rig rig;
	struct outcome out;
	const struct rpc_call_request call = {
		.method = "/test.Test/Echo",
		.message = {(const uint8_t *)"hello", 5},
	};
	rig_start(&rig, NULL, NULL);
	outcome_start(&rig, &call, &out);
	rpc_call_pause(out.call);
	rig_until(&rig, is_handled, &rig, "the handler");
	loop_run_for(&rig.loop, 20);
	CU_ASSERT(!out.done && out.messages == 0);
	rpc_call_resume(out.call);
	outcome_wait(&rig, &out);
	CU_ASSERT_EQUAL(out.code, RPC_OK);
	CU_ASSERT_EQUAL(out.messages, 1);
	outcome_free(&out);
	rig_stop(&rig);
}

static bool is_held(void *user)
{
	const struct rig *rig = user;
	return rig->held != NULL;
}

static bool has_ended(void *user)
{
	const struct rig *rig = user;
	return rig->ended > 0;
}

/* Long enough for the call to reach its handler on a busy machine. */
enum { DEADLINE_MS = 1000 };

static void test_deadline(void)
{
	struct rig rig;
	struct outcome out;
	const struct rpc_call_request call = {.method = "/test.Test/Hold",
					      .timeout_ms = DEADLINE_MS};
	rig_start(&rig, NULL, NULL);
	outcome_start(&rig, &call, &out);
	outcome_wait(&rig, &out);
	CU_ASSERT_EQUAL(out.code, RPC_DEADLINE_EXCEEDED);
	rig_until(&rig, has_ended, &rig, "the server's stream to end");
	CU_ASSERT_PTR_NULL(rig.held);
	CU_ASSERT(rig.time_left_ms <= DEADLINE_MS);
	outcome_free(&out);
	/* One that is met. */
	outcome_start(&rig,
		      &(struct rpc_call_request){.method = "/test.Test/Echo", .timeout_ms = 30000},
		      &out);
	outcome_wait(&rig, &out);
	CU_ASSERT_EQUAL(out.code, RPC_OK);
	outcome_free(&out);
	/* None: nothing is sent. */
	outcome_start(&rig, &(struct rpc_call_request){.method = "/test.Test/Hold"}, &out);
	rig_until(&rig, is_held, &rig, "the handler");
	CU_ASSERT_EQUAL(rig.time_left_ms, UINT64_MAX);
	rpc_stream_finish(rig.held, RPC_ABORTED, "enough");
	outcome_wait(&rig, &out);
	CU_ASSERT_EQUAL(out.code, RPC_ABORTED);
	outcome_free(&out);
	rig_stop(&rig);
}

static void test_cancel(void)
{
	struct rig rig;
	struct outcome out;
	const struct rpc_call_request call = {.method = "/test.Test/Hold"};
	rig_start(&rig, NULL, NULL);
	outcome_start(&rig, &call, &out);
	rig_until(&rig, is_held, &rig, "the handler");
	rpc_call_cancel(out.call);
	CU_ASSERT(out.done);
	CU_ASSERT_EQUAL(out.code, RPC_CANCELLED);
	rig_until(&rig, has_ended, &rig, "the server's stream to end");
	CU_ASSERT_PTR_NULL(rig.held);
	outcome_free(&out);
	/* Before it was ever sent: the handler never sees it. */
	rig.handled = 0;
	outcome_start(&rig, &call, &out);
	rpc_call_cancel(out.call);
	CU_ASSERT_EQUAL(out.code, RPC_CANCELLED);
	outcome_free(&out);
	outcome_call(&rig, "/test.Test/Echo", "x", 1, &out);
	CU_ASSERT_EQUAL(out.code, RPC_OK);
	outcome_free(&out);
	rig_stop(&rig);
}

/* Cancelled while the server's message waits for the window. */
static void test_cancel_stalled(void)
{
	struct rig rig;
	struct outcome out;
	uint8_t request[8];
	const struct rpc_call_request call = {
		.method = "/test.Test/Count",
		.message = count_request(1000, 10000, request),
	};
	rig_start(&rig, NULL, NULL);
	outcome_start(&rig, &call, &out);
	rpc_call_pause(out.call);
	rig_until(&rig, is_stuck, &rig, "the server to send");
	rpc_call_cancel(out.call);
	rig_until(&rig, has_ended, &rig, "the server's stream to end");
	CU_ASSERT(rig.sent < 10);
	outcome_free(&out);
	rig_stop(&rig);
}

static void test_deadline_stalled(void)
{
	struct rig rig;
	struct outcome out;
	uint8_t request[8];
	const struct rpc_call_request call = {
		.method = "/test.Test/Count",
		.message = count_request(1000, 10000, request),
		.timeout_ms = DEADLINE_MS,
	};
	rig_start(&rig, NULL, NULL);
	outcome_start(&rig, &call, &out);
	rpc_call_pause(out.call);
	outcome_wait(&rig, &out);
	CU_ASSERT_EQUAL(out.code, RPC_DEADLINE_EXCEEDED);
	rig_until(&rig, has_ended, &rig, "the server's stream to end");
	outcome_free(&out);
	rig_stop(&rig);
}

/* A stream that stays open takes the only place. */
static void test_deadline_unsent(void)
{
	const struct rpc_server_options one = {.limits = {.concurrent_streams_max = 1}};
	const struct rpc_call_request hold = {.method = "/test.Test/Hold"};
	const struct rpc_call_request call = {.method = "/test.Test/Echo",
					      .timeout_ms = DEADLINE_MS};
	struct rig rig;
	struct outcome held;
	struct outcome out;
	rig_start(&rig, &one, NULL);
	outcome_start(&rig, &hold, &held);
	rig_until(&rig, is_held, &rig, "the handler");
	outcome_start(&rig, &call, &out);
	outcome_wait(&rig, &out);
	CU_ASSERT_EQUAL(out.code, RPC_DEADLINE_EXCEEDED);
	UNIT_STRING(out.message, "the deadline has passed; the request was not sent, because the "
				 "peer allows 1 stream at a time on a connection");
	outcome_free(&out);
	rpc_stream_finish(rig.held, RPC_OK, "%s", "");
	outcome_wait(&rig, &held);
	outcome_free(&held);
	outcome_call(&rig, "/test.Test/Echo", "x", 1, &out);
	CU_ASSERT_EQUAL(out.code, RPC_OK);
	outcome_free(&out);
	rig_stop(&rig);
}

static void test_large_messages(void)
{
	const size_t size = 4194304;
	struct rig rig;
	struct outcome out;
	uint8_t *bytes = must(malloc(size));
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 1000);
	rig_start(&rig, NULL, NULL);
	outcome_call(&rig, "/test.Test/Echo", bytes, 1048576, &out);
	CU_ASSERT_EQUAL(out.code, RPC_OK);
	CU_ASSERT(out.last_size == 1048576 && memcmp(out.last, bytes, out.last_size) == 0);
	outcome_free(&out);
	outcome_call(&rig, "/test.Test/Echo", bytes, size, &out);
	CU_ASSERT_EQUAL(out.code, RPC_OK);
	CU_ASSERT(out.last_size == size && memcmp(out.last, bytes, size) == 0);
	outcome_free(&out);
	rig_stop(&rig);
	free(bytes);
}

static void test_message_limits(void)
{
	const struct rpc_server_options server = {.limits = {.message_max = 1000}};
	const struct rpc_channel_options client = {.limits = {.message_max = 2000}};
	const struct rpc_call_request too_large = {
		.method = "/test.Test/Echo",
		.message = {(const uint8_t *)"", 2001},
	};
	static const struct rpc_call_events events = {0};
	char *bytes = must(calloc(1, 2000));
	struct rig rig;
	struct outcome out;
	uint8_t request[8];
	rig_start(&rig, &server, &client);
	CU_ASSERT_EQUAL(rpc_call_start(rig.channel, &too_large, &events, NULL, NULL, NULL),
			ERROR_LIMIT);
	outcome_call(&rig, "/test.Test/Echo", bytes, 1001, &out);
	CU_ASSERT_EQUAL(out.code, RPC_RESOURCE_EXHAUSTED);
	CU_ASSERT_EQUAL(rig.handled, 0);
	outcome_free(&out);
	outcome_call(&rig, "/test.Test/Echo", bytes, 1000, &out);
	CU_ASSERT_EQUAL(out.code, RPC_OK);
	outcome_free(&out);
	rig_stop(&rig);
	/* The other way round: the answer is too large for the client. */
	rig_start(&rig, NULL, &client);
	(void)count_request(1, 2001, request);
	outcome_call(&rig, "/test.Test/Count", request, 8, &out);
	CU_ASSERT_EQUAL(out.code, RPC_RESOURCE_EXHAUSTED);
	CU_ASSERT_EQUAL(out.messages, 0);
	outcome_free(&out);
	rig_stop(&rig);
	free(bytes);
}

static void run_many(const struct rpc_server_options *options, size_t count, size_t size)
{
	struct rig rig;
	struct outcome *outs = must(calloc(count, sizeof(*outs)));
	uint8_t *bytes = must(calloc(1, size));
	rig_start(&rig, options, NULL);
	for (size_t i = 0; i < count; i++) {
		const struct rpc_call_request call = {
			.method = "/test.Test/Echo",
			.message = {bytes, size},
		};
		memcpy(bytes, &i, sizeof(i));
		outcome_start(&rig, &call, &outs[i]);
	}
	for (size_t i = 0; i < count; i++) {
		outcome_wait(&rig, &outs[i]);
		CU_ASSERT_EQUAL(outs[i].code, RPC_OK);
		CU_ASSERT_FATAL(outs[i].last_size == size);
		CU_ASSERT(memcmp(outs[i].last, &i, sizeof(i)) == 0);
		outcome_free(&outs[i]);
	}
	rig_stop(&rig);
	free(outs);
	free(bytes);
}

static void test_many_at_once(void)
{
	const struct rpc_server_options few = {.limits = {.concurrent_streams_max = 7}};
	run_many(NULL, 100, 100);
	run_many(NULL, 100, 30000);
	run_many(&few, 100, 30000);
}

UNIT_MAIN("streams", {"streaming", test_streaming}, {"tiny windows", test_tiny_windows},
	  {"pause", test_pause}, {"pause at the end", test_pause_at_the_end},
	  {"deadline", test_deadline}, {"cancel", test_cancel},
	  {"cancel stalled", test_cancel_stalled}, {"deadline stalled", test_deadline_stalled},
	  {"deadline unsent", test_deadline_unsent}, {"large messages", test_large_messages},
	  {"message limits", test_message_limits}, {"many at once", test_many_at_once})
