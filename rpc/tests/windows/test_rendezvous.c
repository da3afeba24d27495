/* SPDX-License-Identifier: MIT */
/* Rendezvous files, where AF_UNIX is missing: who does not know the nonce, and files that are
 * wrong. */
#include "base/file.h"
#include "base/tests/unit.h"
#include "rpc/loop.h"
#include "rpc/tests/raw.h"
#include "rpc/windows/winsock.h"

#include <stdlib.h>

/* A connection to the port alone. */
static struct raw connect_port(const struct rendezvous *rendezvous)
{
	union winsock_address address;
	int size = winsock_port_address(rendezvous->port, &address);
	SOCKET made = socket(AF_INET, SOCK_STREAM, 0);
	CU_ASSERT_FATAL(connect(made, &address.any, size) == 0);
	return (struct raw){.object = (intptr_t)made};
}

static bool can_read(void *user)
{
	const struct raw *raw = user;
	u_long waiting = 0;
	(void)ioctlsocket((SOCKET)raw->object, FIONREAD, &waiting);
	return waiting > 0;
}

static bool was_closed(void *user)
{
	const struct raw *raw = user;
	return raw_was_closed(*raw);
}

static void test_wrong_nonce(void)
{
	struct rig rig;
	struct raw raw;
	struct rendezvous rendezvous;
	struct outcome out;
	struct error err = {0};
	rig_start(&rig, NULL, NULL);
	CU_ASSERT_EQUAL_FATAL(rendezvous_read(rig.path, &rendezvous, &err), 0);
	raw = connect_port(&rendezvous);
	rendezvous.nonce[0] ^= 1;
	raw_write(raw, rendezvous.nonce, sizeof(rendezvous.nonce) - 1);
	loop_run_for(&rig.loop, 20);
	CU_ASSERT(!can_read(&raw)); /* not a word before the greeting */
	raw_write(raw, rendezvous.nonce + 15, 1);
	raw_write(raw, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24);
	rig_until(&rig, was_closed, &raw, "the connection to be dropped");
	CU_ASSERT(!can_read(&raw));
	raw_close(raw);
	/* The others are not disturbed. */
	outcome_call(&rig, "/test.Test/Echo", "x", 1, &out);
	CU_ASSERT_EQUAL(out.code, RPC_OK);
	outcome_free(&out);
	rig_stop(&rig);
}

static void test_nonce_in_pieces(void)
{
	struct rig rig;
	struct raw raw;
	struct rendezvous rendezvous;
	struct error err = {0};
	rig_start(&rig, NULL, NULL);
	CU_ASSERT_EQUAL_FATAL(rendezvous_read(rig.path, &rendezvous, &err), 0);
	raw = connect_port(&rendezvous);
	for (size_t i = 0; i < sizeof(rendezvous.nonce); i++) {
		raw_write(raw, rendezvous.nonce + i, 1);
		(void)uv_run(&rig.loop, UV_RUN_NOWAIT);
	}
	rig_until(&rig, can_read, &raw, "the server's SETTINGS");
	raw_close(raw);
	rig_stop(&rig);
}

/* Opens a channel to a path that holds `content`; the reason that it cannot be. */
static void check_refusal(const char *content, const char *reason)
{
	struct rig rig;
	struct error err = {0};
	rig_start(&rig, NULL, NULL);
	rpc_server_close(rig.server);
	rpc_channel_close(rig.channel);
	rig.server = NULL;
	CU_ASSERT_EQUAL(file_write_atomic(rig.path, content, strlen(content), 0600, &err), 0);
	CU_ASSERT_EQUAL_FATAL(rpc_channel_open(&rig.loop, rig.address, NULL, &rig.channel, &err),
			      0);
	CU_ASSERT_EQUAL(rpc_channel_connect_wait(rig.channel, 5000, &err), ERROR_UNAVAILABLE);
	UNIT_CONTAINS(err.text, rig.path);
	UNIT_CONTAINS(err.text, reason);
	rig_stop(&rig);
}

static void test_wrong_files(void)
{
	check_refusal("", "not a rendezvous file");
	check_refusal("something else\n", "not a rendezvous file");
	check_refusal("gpucert-rendezvous 1 70000 00112233445566778899aabbccddeeff\n",
		      "not a rendezvous file");
	/* Nobody listens on the reserved port 1. */
	check_refusal("gpucert-rendezvous 1 1 00112233445566778899aabbccddeeff\n", "refused");
}

static void test_long_path(void)
{
	struct rig rig;
	struct rpc_server *server = NULL;
	struct error err = {0};
	char *address = NULL;
	rig_start(&rig, NULL, NULL);
	address = must(text_format("%s%0100d", rig.address, 1));
	CU_ASSERT_EQUAL_FATAL(rpc_server_new(&rig.loop, NULL, &server, &err), 0);
	CU_ASSERT_EQUAL(rpc_server_listen(server, address, &err), ERROR_LIMIT);
	UNIT_CONTAINS(err.text, "at most 107");
	rpc_server_close(server);
	free(address);
	rig_stop(&rig);
}

int main(void)
{
	static CU_TestInfo tests[] = {
		{"wrong nonce", test_wrong_nonce},
		{"nonce in pieces", test_nonce_in_pieces},
		{"wrong files", test_wrong_files},
		{"long path", test_long_path},
		CU_TEST_INFO_NULL,
	};
	if (winsock_has_unix()) {
		(void)printf("AF_UNIX is there: rendezvous files are not used\n");
		return 77;
	}
	return unit_run("rendezvous", tests);
}
