/* SPDX-License-Identifier: MIT */
/* What a kubelet says of pods, and what a hostile one does. */
#include "base/memory.h"
#include "base/tests/own_directory.h"
#include "conformance/runner/doubles/pods_double.h"
#include "conformance/runner/pod_resources.h"
#include "rpc/loop.h"

enum { PATIENCE_MS = 30000, SHORT_MS = 200, DRAIN_MS = 10000, MANY = 1000000 };

static struct {
	uv_loop_t loop;
	char *socket;
	struct pods_double pods;
	struct held_devices held;
	struct error err;
} fixture;

static void open_with(const char *method)
{
	begin();
	fixture.socket = in("pods.sock");
	UNIT_INT(loop_open(&fixture.loop, NULL), 0);
	UNIT_INT(pods_double_open(&fixture.pods, &fixture.loop, fixture.socket, method, NULL), 0);
}

static void close_all(void)
{
	rpc_server_close(fixture.pods.server);
	text_free(&fixture.pods.answer);
	held_devices_free(&fixture.held);
	UNIT_INT(loop_drain(&fixture.loop, DRAIN_MS, NULL), 0);
	free(fixture.socket);
	memset(&fixture, 0, sizeof(fixture));
	end();
}

static int list(uint64_t timeout_ms)
{
	return pod_resources_list(&fixture.loop, fixture.socket, timeout_ms, &fixture.held,
				  &fixture.err);
}

/* The error names the socket; nothing is held. */
static void expect_error(uint64_t timeout_ms, int rc, const char *why)
{
	UNIT_INT(list(timeout_ms), rc);
	UNIT_CONTAINS(fixture.err.text, fixture.socket);
	UNIT_CONTAINS(fixture.err.text, why);
	UNIT_INT(fixture.held.count, 0);
	CU_ASSERT_PTR_NULL(fixture.held.items);
}

static void test_devices(void)
{
	open_with(NULL);
	UNIT_INT(list(PATIENCE_MS), 0);
	UNIT_INT(fixture.held.count, 0);
	pods_double_add(&fixture.pods, "default/train", "main", "example.com/gpu", "gpu-0");
	pods_double_add(&fixture.pods, "team/", "", "", "\xc3\xa9");
	UNIT_INT(list(PATIENCE_MS), 0);
	UNIT_INT(fixture.held.count, 2);
	UNIT_STRING(fixture.held.items[0].resource, "example.com/gpu");
	UNIT_STRING(fixture.held.items[0].id, "gpu-0");
	UNIT_STRING(fixture.held.items[0].pod, "default/train");
	UNIT_STRING(fixture.held.items[0].container, "main");
	UNIT_STRING(fixture.held.items[1].pod, "team/");
	UNIT_STRING(fixture.held.items[1].id, "\xc3\xa9");
	held_devices_free(&fixture.held);

	/* as an address, too */
	char *address CLEANUP_FREE = text_format("unix://%s", fixture.socket);
	UNIT_INT(pod_resources_list(&fixture.loop, address, PATIENCE_MS, &fixture.held, NULL), 0);
	UNIT_INT(fixture.held.count, 2);
	close_all();
}

/* Fields that the project does not name: cpu_ids, memory, topology, and one of a later version. */
static void test_unknown_fields(void)
{
	static const char pod[] = "\x0a\x1e"
				  "\x0a\x01p\x12\x01n\x22\x02\x01\x02\x2a\x03\x0a\x01m"
				  "\x1a\x0d\x0a\x01"
				  "c\x12\x08\x0a\x01r\x12\x01"
				  "d\x1a\x00"
				  "\xf8\x07\x05";
	open_with(NULL);
	text_append(&fixture.pods.answer, pod, sizeof(pod) - 1);
	UNIT_INT(list(PATIENCE_MS), 0);
	UNIT_INT(fixture.held.count, 1);
	if (fixture.held.count == 1) {
		UNIT_STRING(fixture.held.items[0].pod, "n/p");
		UNIT_STRING(fixture.held.items[0].id, "d");
	}
	close_all();
}

static void test_statuses(void)
{
	open_with(NULL);
	fixture.pods.code = RPC_PERMISSION_DENIED;
	expect_error(PATIENCE_MS, ERROR_REMOTE,
		     "/v1.PodResourcesLister/List: PERMISSION_DENIED: not today");
	fixture.pods.code = RPC_OK;
	fixture.pods.silent = true;
	UNIT_INT(list(SHORT_MS) < 0, 1);
	UNIT_CONTAINS(fixture.err.text, fixture.socket);
	close_all();

	open_with("/v1beta1.DevicePlugin/Allocate");
	expect_error(PATIENCE_MS, ERROR_REMOTE, "UNIMPLEMENTED");
	close_all();
}

static void test_no_server(void)
{
	open_with(NULL);
	rpc_server_close(fixture.pods.server);
	fixture.pods.server = NULL;
	loop_run_for(&fixture.loop, 0);
	UNIT_INT(list(PATIENCE_MS) < 0, 1);
	UNIT_CONTAINS(fixture.err.text, fixture.socket);
	free(fixture.socket);
	fixture.socket = memory_copy("tcp://10.0.0.1:80");
	UNIT_INT(list(PATIENCE_MS), ERROR_ARGUMENT);
	UNIT_CONTAINS(fixture.err.text, fixture.socket);
	close_all();
}

static void on_connection(uv_stream_t *listener, int status)
{
	(void)listener;
	(void)status;
}

/* A socket that is listened on, where nobody says anything. */
static void test_silence(void)
{
	uv_pipe_t listener;
	begin();
	fixture.socket = in("pods.sock");
	UNIT_INT(loop_open(&fixture.loop, NULL), 0);
	UNIT_INT(uv_pipe_init(&fixture.loop, &listener, 0), 0);
	UNIT_INT(uv_pipe_bind(&listener, fixture.socket), 0);
	UNIT_INT(uv_listen((uv_stream_t *)&listener, 1, on_connection), 0);
	expect_error(SHORT_MS, ERROR_TIMEOUT, "");
	uv_close((uv_handle_t *)&listener, NULL);
	close_all();
}

static void test_hostile(void)
{
	static const char *const cut[] = {
		"\x0a\xff\xff\xff\xff\x0f", /* a pod of 4 GiB */
		"\x0a\x08\x0a\xff\xff\xff\xff\x0f",
		"\x0a\x03\x0a\x01\xff", /* not UTF-8 */
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
	};
	open_with(NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cut); i++) {
		text_reset(&fixture.pods.answer);
		text_add(&fixture.pods.answer, cut[i]);
		expect_error(PATIENCE_MS, ERROR_REMOTE, "INTERNAL");
	}

	/* A million pods without a device hold nothing; with one each the answer is too long. */
	text_reset(&fixture.pods.answer);
	for (size_t i = 0; i < MANY; i++)
		text_append(&fixture.pods.answer, "\x0a\x00", 2);
	UNIT_INT(list(PATIENCE_MS), 0);
	UNIT_INT(fixture.held.count, 0);
	text_reset(&fixture.pods.answer);
	for (size_t i = 0; i < MANY; i++)
		text_append(&fixture.pods.answer, "\x0a\x06\x1a\x04\x12\x02\x12\x00", 8);
	expect_error(PATIENCE_MS, ERROR_REMOTE, "RESOURCE_EXHAUSTED");

	text_reset(&fixture.pods.answer);
	for (size_t i = 0; i <= POD_RESOURCES_HELD_MAX; i++)
		pods_double_add(&fixture.pods, "n/p", "c", "r", "d");
	expect_error(PATIENCE_MS, ERROR_LIMIT, "pods hold more than 4096 devices");

	char name[POD_RESOURCES_NAME_MAX + 2];
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	text_reset(&fixture.pods.answer);
	pods_double_add(&fixture.pods, "n/p", name, "r", "d");
	expect_error(PATIENCE_MS, ERROR_LIMIT, "a name of 1025 bytes, at most 1024 are expected");
	close_all();
}

UNIT_MAIN("pod resources", {"devices", test_devices}, {"unknown fields", test_unknown_fields},
	  {"statuses", test_statuses}, {"no server", test_no_server}, {"silence", test_silence},
	  {"hostile", test_hostile})
