/* SPDX-License-Identifier: MIT */
/* The project's client against the grpc-js server of server.mjs, whose address is in
 * RPC_INTEROP_ADDRESS; common.mjs says what the server does. */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "rpc/client.h"
#include "rpc/loop.h"
#include "rpc/proto/deviceplugin_v1beta1.pb-c.h"

#include <stdio.h>
#include <string.h>

static uv_loop_t loop;
static struct rpc_channel *channel;

static const char allocate_method[] = "/v1beta1.DevicePlugin/Allocate";
static const char list_method[] = "/v1beta1.DevicePlugin/ListAndWatch";

/* What came back. */
struct outcome {
	bool done;
	int code;
	char message[256];
	unsigned lists;
	bool in_order;
	char *id; /* of the env of Allocate; free */
	struct rpc_call *call;
};

static void on_allocated(const struct rpc_status *status, ProtobufCMessage *reply, void *user)
{
	const V1beta1__AllocateResponse *answer = (const V1beta1__AllocateResponse *)reply;
	struct outcome *out = user;
	out->done = true;
	out->code = status->code;
	(void)snprintf(out->message, sizeof(out->message), "%s", status->message);
	if (reply == NULL)
		return;
	CU_ASSERT_EQUAL_FATAL(answer->n_container_responses, 1);
	CU_ASSERT_EQUAL_FATAL(answer->container_responses[0]->n_envs, 1);
	out->id = strdup(answer->container_responses[0]->envs[0]->value);
	protobuf_c_message_free_unpacked(reply, NULL);
}

static void start_allocate(const char *id, uint64_t timeout_ms, struct outcome *out)
{
	V1beta1__AllocateRequest request = V1BETA1__ALLOCATE_REQUEST__INIT;
	V1beta1__ContainerAllocateRequest container = V1BETA1__CONTAINER_ALLOCATE_REQUEST__INIT;
	char *copy CLEANUP_FREE = strdup(id);
	struct error err = {0};
	*out = (struct outcome){0};
	container.n_devices_ids = 1;
	container.devices_ids = &copy;
	request.n_container_requests = 1;
	request.container_requests = (V1beta1__ContainerAllocateRequest *[]){&container};
	CU_ASSERT_EQUAL_FATAL(rpc_unary(channel, allocate_method, &request.base,
					&v1beta1__allocate_response__descriptor, timeout_ms,
					on_allocated, out, &out->call, &err),
			      0);
}

static bool is_done(void *user)
{
	const struct outcome *out = user;
	return out->done;
}

static void wait_for(struct outcome *out)
{
	CU_ASSERT_EQUAL_FATAL(loop_wait(&loop, is_done, out, 20000, "a call", NULL), 0);
}

static void allocate(const char *id, struct outcome *out)
{
	start_allocate(id, 0, out);
	wait_for(out);
}

static unsigned long count_ended(void)
{
	struct outcome out;
	allocate("ended", &out);
	if (out.id == NULL)
		abort();
	unsigned long count = strtoul(out.id, NULL, 10);
	free(out.id);
	return count;
}

static void until_ended(unsigned long count)
{
	for (int i = 0; i < 1000 && count_ended() < count; i++)
		continue; /* each is a round trip */
	CU_ASSERT_EQUAL(count_ended(), count);
}

static void test_unary(void)
{
	struct outcome out;
	CU_ASSERT_EQUAL(rpc_channel_connect_wait(channel, 10000, NULL), 0);
	allocate("gpu-0", &out);
	CU_ASSERT_EQUAL(out.code, RPC_OK);
	CU_ASSERT_STRING_EQUAL(out.id, "gpu-0");
	free(out.id);
}

static void test_typed_wait(void)
{
	V1beta1__Empty request = V1BETA1__EMPTY__INIT;
	ProtobufCMessage *reply = NULL;
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(
		rpc_unary_wait(channel, "/v1beta1.DevicePlugin/GetDevicePluginOptions",
			       &request.base, &v1beta1__device_plugin_options__descriptor, 20000,
			       &reply, &err),
		0);
	const V1beta1__DevicePluginOptions *options = (const V1beta1__DevicePluginOptions *)reply;
	CU_ASSERT(options->pre_start_required && !options->get_preferred_allocation_available);
	protobuf_c_message_free_unpacked(reply, NULL);
	CU_ASSERT_EQUAL(rpc_unary_wait(channel, "/v1beta1.DevicePlugin/Nothing", &request.base,
				       &v1beta1__empty__descriptor, 20000, &reply, &err),
			ERROR_REMOTE);
	CU_ASSERT_EQUAL(err.remote, RPC_UNIMPLEMENTED);
}

static void test_status_codes(void)
{
	static const char text[] = "100 % of \xe2\x82\xac\n\xf0\x9f\x96\xa5 is gone";
	for (int code = RPC_CANCELLED; code <= RPC_UNAUTHENTICATED; code++) {
		char *id CLEANUP_FREE = text_format("fail:%d:%s", code, text);
		struct outcome out;
		allocate(id, &out);
		CU_ASSERT_EQUAL(out.code, code);
		CU_ASSERT_STRING_EQUAL(out.message, text);
	}
}

static void on_list(struct rpc_call *call, struct rpc_slice message, void *user)
{
	V1beta1__ListAndWatchResponse *list =
		v1beta1__list_and_watch_response__unpack(NULL, message.size, message.data);
	struct outcome *out = user;
	char id[24] = "";
	(void)call;
	CU_ASSERT_FATAL(list != NULL && list->n_devices == 1);
	(void)snprintf(id, sizeof(id), "gpu-%u", out->lists++);
	out->in_order = out->in_order && strcmp(list->devices[0]->id, id) == 0;
	v1beta1__list_and_watch_response__free_unpacked(list, NULL);
}

static void on_listed(const struct rpc_status *status, void *user)
{
	struct outcome *out = user;
	out->done = true;
	out->code = status->code;
	(void)snprintf(out->message, sizeof(out->message), "%s", status->message);
}

static void start_list(struct outcome *out)
{
	static const struct rpc_call_events events = {on_list, on_listed};
	const struct rpc_call_request request = {.method = list_method};
	*out = (struct outcome){.in_order = true};
	CU_ASSERT_EQUAL_FATAL(rpc_call_start(channel, &request, &events, out, &out->call, NULL), 0);
}

static bool has_list(void *user)
{
	const struct outcome *out = user;
	return out->lists > 0 || out->done;
}

/* A list that stays open; `wish` is the id of the Allocate that asks for it. */
static void start_open_list(const char *wish, struct outcome *out)
{
	struct outcome asked;
	allocate(wish, &asked);
	free(asked.id);
	start_list(out);
	CU_ASSERT_EQUAL_FATAL(loop_wait(&loop, has_list, out, 20000, "a list", NULL), 0);
}

static void test_stream(void)
{
	struct outcome out;
	start_list(&out);
	wait_for(&out);
	CU_ASSERT_EQUAL(out.code, RPC_OK);
	CU_ASSERT_EQUAL(out.lists, 100);
	CU_ASSERT(out.in_order);
}

static void test_paused_stream(void)
{
	struct outcome out;
	start_list(&out);
	rpc_call_pause(out.call);
	loop_run_for(&loop, 20);
	CU_ASSERT(out.lists == 0 && !out.done);
	rpc_call_resume(out.call);
	wait_for(&out);
	CU_ASSERT(out.lists == 100 && out.in_order && out.code == RPC_OK);
}

static void test_deadline(void)
{
	unsigned long before = count_ended();
	struct outcome out;
	start_allocate("hold", 50, &out);
	wait_for(&out);
	CU_ASSERT_EQUAL(out.code, RPC_DEADLINE_EXCEEDED);
	until_ended(before + 1);
}

static void test_cancellation(void)
{
	unsigned long before = count_ended();
	struct outcome out;
	start_allocate("hold", 0, &out);
	CU_ASSERT_EQUAL(count_ended(), before); /* the held call is at the server by now */
	rpc_call_cancel(out.call);
	CU_ASSERT(out.done && out.code == RPC_CANCELLED);
	until_ended(before + 1);
	start_open_list("forever", &out);
	rpc_call_cancel(out.call);
	CU_ASSERT(out.done && out.code == RPC_CANCELLED);
	until_ended(before + 2);
}

static void test_large_messages(void)
{
	struct text id CLEANUP_TEXT = {0};
	struct outcome out;
	for (size_t i = 0; i < 65536; i++)
		text_add(&id, "0123456789abcdef");
	allocate(text_string(&id), &out);
	CU_ASSERT_EQUAL(out.code, RPC_OK);
	CU_ASSERT_FATAL(out.id != NULL);
	CU_ASSERT(strcmp(out.id, text_string(&id)) == 0);
	free(out.id);
}

static void test_many_at_once(void)
{
	static struct outcome calls[100];
	static struct outcome streams[100];
	for (size_t i = 0; i < 100; i++) {
		char *id CLEANUP_FREE = text_format("gpu-%zu-%0*d", i, (int)(i * 100), 0);
		start_allocate(id, 0, &calls[i]);
		start_list(&streams[i]);
	}
	for (size_t i = 0; i < 100; i++) {
		char *id CLEANUP_FREE = text_format("gpu-%zu-%0*d", i, (int)(i * 100), 0);
		wait_for(&calls[i]);
		CU_ASSERT_EQUAL(calls[i].code, RPC_OK);
		CU_ASSERT_FATAL(calls[i].id != NULL);
		CU_ASSERT_STRING_EQUAL(calls[i].id, id);
		free(calls[i].id);
		wait_for(&streams[i]);
		CU_ASSERT(streams[i].code == RPC_OK && streams[i].lists == 100 &&
			  streams[i].in_order);
	}
}

/* The server says GOAWAY while a stream is open: the stream goes on, new calls do not start. */
static void test_goaway(void)
{
	struct outcome out;
	struct outcome late;
	start_open_list("shutdown", &out);
	for (int i = 0; i < 1000; i++) {
		allocate("gpu-0", &late);
		free(late.id);
		if (late.code != RPC_OK)
			break;
	}
	CU_ASSERT_EQUAL(late.code, RPC_UNAVAILABLE);
	CU_ASSERT(!out.done);
	rpc_call_cancel(out.call);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"unary", test_unary},
		{"typed wait", test_typed_wait},
		{"status codes", test_status_codes},
		{"stream", test_stream},
		{"paused stream", test_paused_stream},
		{"deadline", test_deadline},
		{"cancellation", test_cancellation},
		{"large messages", test_large_messages},
		{"many at once", test_many_at_once},
		{"goaway", test_goaway},
		CU_TEST_INFO_NULL,
	};
	struct error err = {0};
	const char *address = getenv("RPC_INTEROP_ADDRESS");
	if (address == NULL || uv_loop_init(&loop) < 0 ||
	    rpc_channel_open(&loop, address, NULL, &channel, &err) < 0) {
		(void)fprintf(stderr, "no server in RPC_INTEROP_ADDRESS: %s\n", err.text);
		return 2;
	}
	int rc = unit_run("client against grpc-js", tests);
	rpc_channel_close(channel);
	return rc != 0 || loop_drain(&loop, 5000, NULL) < 0;
}
