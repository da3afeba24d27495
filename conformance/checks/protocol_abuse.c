/* SPDX-License-Identifier: MIT */
/* Clients that are broken, slow or hostile. None of them may harm the kubelet's connection. */
#include "base/memory.h"
#include "conformance/checks/protocol.h"

#include <string.h>

enum {
	LONG_ID = 8192,	  /* bytes */
	LONG_CALLS = 12,  /* more than a connection's window together */
	CLOSE_MS = 10000, /* for the end of a connection that is not HTTP/2 */
	SLOW_CLIENTS = 20,
	ABRUPT_ENDS = 25, /* at each step */
	ABRUPT_ENDS_THOROUGH = 1000,
	ABRUPT_THREADS = 32,
	RESETS = 2000,
	RESETS_AT_ONCE = 100,
	HEADER_BLOCKS = 2048, /* of 16 KiB each: 32 MiB */
	BLOCK_SIZE = 16384,
	FLOOD_MS = 10000,
	HEADERS_KIB = 24 << 10, /* of memory that a flood may cost */
	RESETS_KIB = 256 << 10,
	FLOOD_THREADS = 64,
};

void protocol_expect_window(struct rig *rig)
{
	char id[LONG_ID + 1] = {0};
	const char *const ids[] = {id};
	memset(id, 'x', LONG_ID);
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < LONG_CALLS; i++) {
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		struct error err = {0};
		rc = rig_allocate(rig, rig->resources.items[0], ids, 1, &reply, &err);
		const char *what = check_format(rig->run, "Allocate of a long id, after %zu KiB",
						i * LONG_ID / 1024);
		(void)check_expect_ok(rig->run, rc, what, &err);
	}
}

void protocol_foreign_bytes(struct check_run *run)
{
	static const char hello[] = "\x16\x03\x01\x00\x70\x01\x00\x00\x6c\x03\x03"
				    "0123456789abcdef0123456789abcdef0123456789abcdef"
				    "0123456789abcdef0123456789abcdef0123456789abcdef\r\n\r\n";
	static const struct {
		const char *what, *bytes;
		size_t size;
		bool closes;
	} all[] = {
#define FOREIGN(what, bytes, closes) {what, bytes, sizeof(bytes) - 1, closes}
		FOREIGN("garbage", "\xff\xfe\0\1\2 this is not HTTP, and longer than a preface\r\n",
			true),
		/* Some servers speak that as well. */
		FOREIGN("an HTTP/1.1 request",
			"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
			true),
		{"a TLS hello", hello, sizeof(hello) - 1, true},
		FOREIGN("half a preface", "PRI * HTTP/2", false),
		/* Some servers judge the length when all of it is there. */
		FOREIGN("the header of a frame of 16 MiB",
			NGHTTP2_CLIENT_MAGIC "\0\0\0\4\0\0\0\0\0\xff\xff\xff\0\0\0\0\0\1", false),
#undef FOREIGN
	};
	struct rig *rig = rig_ready(run);
	for (size_t i = 0; rig != NULL && i < ARRAY_SIZE(all); i++) {
		struct raw_client *client CLEANUP_RAW = protocol_open(rig, "a connection");
		if (client == NULL)
			return;
		raw_bytes(client, all[i].bytes, all[i].size);
		if (all[i].closes) {
			int rc = raw_wait_closed(client, context_wait_ms(rig->context, CLOSE_MS),
						 NULL);
			(void)check_expect_is(
				run, rc == 0,
				check_format(run, "the connection after %s", all[i].what), "closed",
				"open");
		}
		protocol_expect_unharmed(rig, all[i].what);
	}
}

void protocol_slow_clients(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct raw_client *clients[SLOW_CLIENTS] = {NULL};
	for (size_t i = 0; rig != NULL && i < SLOW_CLIENTS; i++) {
		struct raw_client *client = clients[i] = protocol_open(rig, "a connection");
		if (client == NULL)
			break;
		/* It stops in the preface, in a header block, or in a message. */
		if (i % 3 == 0) {
			raw_bytes(client, NGHTTP2_CLIENT_MAGIC, 1 + i);
			continue;
		}
		raw_greet(client, UINT32_MAX);
		if (i % 3 == 1) {
			raw_frame(client, NGHTTP2_HEADERS, 0, 1, "\x83", 1);
		} else {
			raw_request(client, 1, PROTOCOL_ALLOCATE, NULL);
			raw_frame(client, NGHTTP2_DATA, 0, 1, "\0\0\0\0\x20\x0a", 6);
			(void)raw_ping(client, context_wait_ms(rig->context, CLOSE_MS), NULL);
		}
	}
	if (rig != NULL && clients[SLOW_CLIENTS - 1] != NULL)
		protocol_expect_unharmed(rig, "clients that stopped half-way");
	items_each (client, clients, SLOW_CLIENTS)
		raw_close(client);
}

/* Leaves a new connection at the step. False: recorded. */
static bool end_abruptly(struct rig *rig, unsigned step)
{
	struct raw_client *client CLEANUP_RAW = NULL;
	if (raw_open(&rig->loop, protocol_socket(rig), &client, NULL) < 0) {
		protocol_await_return(rig);
		client = protocol_open(rig, "one more connection");
	}
	if (client == NULL)
		return false;
	if (step >= 1)
		raw_greet(client, UINT32_MAX);
	if (step >= 2)
		raw_request(client, 1,
			    step == 4 ? DEVICE_PLUGIN_SERVICE "ListAndWatch" : PROTOCOL_ALLOCATE,
			    NULL);
	if (step == 3)
		raw_frame(client, NGHTTP2_DATA, 0, 1, "\0\0\0\0\x20\x0a", 6);
	if (step == 4) {
		raw_message(client, 1, "", 0);
		(void)raw_ping(client, context_wait_ms(rig->context, CLOSE_MS), NULL);
	}
	return raw_flush(client, context_wait_ms(rig->context, CLOSE_MS), NULL) == 0 ||
	       check_expect(rig->run, false, "what a client sends", "read", "not read");
}

void protocol_abrupt_ends(struct check_run *run)
{
	enum { STEPS = 5 };
	struct rig *rig = rig_ready(run);
	struct rig_footprint before = {0};
	if (rig == NULL)
		return;
	/* First fills pools of threads and buffers. */
	for (unsigned step = 0; step < STEPS; step++) {
		if (!end_abruptly(rig, step))
			return;
	}
	protocol_expect_served(rig, "one abrupt end at each step");
	(void)rig_footprint(rig, &before);
	unsigned count = (rig->context->thorough ? ABRUPT_ENDS_THOROUGH : ABRUPT_ENDS) * STEPS;
	for (unsigned i = 0; i < count; i++) {
		if (!end_abruptly(rig, i % STEPS))
			return;
	}
	protocol_expect_served(rig, "many abrupt ends");
	rig_expect_footprint(rig, &before, ABRUPT_THREADS);
}

void protocol_client_goaway(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct raw_client *client CLEANUP_RAW = protocol_greeted(rig);
	if (client == NULL)
		return;
	raw_request(client, 1, PROTOCOL_OPTIONS, NULL);
	raw_frame(client, NGHTTP2_GOAWAY, 0, 0, "\0\0\0\0\0\0\0\0", 8);
	raw_message(client, 1, "", 0);
	(void)raw_wait(client, 1, context_wait_ms(rig->context, CLOSE_MS), NULL);
	const struct raw_stream *stream = raw_stream(client, 1);
	/* Some servers close the connection. */
	(void)check_expect(run, protocol_ending(client, stream) != ENDS_NEVER,
			   "a call that was open at GOAWAY", "ended", "%s",
			   protocol_ending_text(run, client, stream));
	protocol_expect_unharmed(rig, "GOAWAY from a client");
}

/* Expects that the flood cost no more memory and threads than a server may spend on one connection. */
static void expect_bounded(struct rig *rig, const struct rig_footprint *before, long long kib,
			   const char *what)
{
	struct rig_footprint after = {0};
	if (!protocol_measure(rig, before, &after))
		return;
	(void)check_expect_at_most(rig->run,
				   check_format(rig->run, "KiB of memory that %s took", what),
				   after.resident_kib - before->resident_kib, kib);
	rig_expect_footprint(rig, before, FLOOD_THREADS);
}

void protocol_reset_flood(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct raw_client *client CLEANUP_RAW = protocol_open(rig, "a connection");
	struct rig_footprint before = {0};
	if (client == NULL)
		return;
	(void)rig_footprint(rig, &before);
	raw_greet(client, UINT32_MAX);
	for (uint32_t i = 0; i < RESETS && !client->closed; i++) {
		raw_call(client, 2 * i + 1, DEVICE_PLUGIN_SERVICE "ListAndWatch", "", 0);
		raw_frame(client, NGHTTP2_RST_STREAM, 0, 2 * i + 1, "\0\0\0\x08", 4);
		if (i % RESETS_AT_ONCE == 0)
			(void)uv_run(&rig->loop, UV_RUN_NOWAIT);
	}
	/* It either reads all of it, or ends the connection. */
	(void)raw_ping(client, context_wait_ms(rig->context, FLOOD_MS), NULL);
	check_note(run, client->closed || client->goaways != 0 ? "the connection was ended"
							       : "the connection survived");
	protocol_expect_served(rig, "a flood of cancelled calls");
	expect_bounded(rig, &before, RESETS_KIB, "a flood of cancelled calls");
}

/* Sends a header block that never ends: its fields are literals "x: yyy...", which no table holds. */
static bool flood_headers(struct rig *rig, unsigned blocks)
{
	static const char begin[] = {0, 1, 'x', 60};
	struct raw_client *client CLEANUP_RAW = protocol_greeted(rig);
	struct text block CLEANUP_TEXT = {0};
	if (client == NULL)
		return false;
	raw_request_block(client, PROTOCOL_OPTIONS, NULL, &block);
	raw_frame(client, NGHTTP2_HEADERS, 0, 1, block.data, block.size);
	char *fields CLEANUP_FREE = memory_allocate(1, BLOCK_SIZE);
	for (size_t i = 0; i + 64 <= BLOCK_SIZE; i += 64) {
		memcpy(fields + i, begin, sizeof(begin));
		memset(fields + i + sizeof(begin), 'y', 60);
	}
	for (unsigned i = 0; i < blocks && !client->closed; i++) {
		raw_frame(client, NGHTTP2_CONTINUATION, 0, 1, fields, BLOCK_SIZE);
		(void)uv_run(&rig->loop, UV_RUN_NOWAIT);
	}
	(void)raw_flush(client, context_wait_ms(rig->context, FLOOD_MS), NULL);
	protocol_expect_unharmed(rig, "endless headers, which still come");
	return true;
}

/* What a server reads ahead varies. One that keeps everything needs more for a longer flood. */
void protocol_header_flood(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct rig_footprint before = {0};
	struct rig_footprint after = {0};
	if (rig == NULL)
		return;
	(void)rig_footprint(rig, &before);
	if (!flood_headers(rig, HEADER_BLOCKS))
		return;
	if (before.descriptors >= 0 && rig_footprint(rig, &after) &&
	    after.resident_kib - before.resident_kib > HEADERS_KIB) {
		before.resident_kib = after.resident_kib;
		if (!flood_headers(rig, HEADER_BLOCKS * 3))
			return;
	}
	protocol_expect_unharmed(rig, "a flood of headers");
	expect_bounded(rig, &before, HEADERS_KIB, "a flood of headers");
}
