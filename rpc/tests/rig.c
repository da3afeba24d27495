/* SPDX-License-Identifier: MIT */
#include "rpc/tests/rig.h"

#include "base/file.h"
#include "base/path.h"
#include "rpc/loop.h"
#include "rpc/proto/deviceplugin_v1beta1.pb-c.h"

#include <stdlib.h>
#include <string.h>

enum { PATIENCE_MS = 300000 };

void *must(void *memory)
{
	if (memory == NULL)
		abort();
	return memory;
}

static void check(int rc, const struct error *err)
{
	if (rc < 0)
		(void)fprintf(stderr, "%s\n", err->text);
	CU_ASSERT_FATAL(rc == 0);
}

static void on_echo(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	struct rig *rig = user;
	rig->handled++;
	CU_ASSERT(rpc_stream_send(stream, request, NULL) == 0);
	rpc_stream_finish(stream, RPC_OK, "%s", "");
}

static void on_fail(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	struct rig *rig = user;
	rig->handled++;
	CU_ASSERT_FATAL(request.size >= 1);
	rpc_stream_finish(stream, request.data[0], "%.*s", (int)request.size - 1,
			  (const char *)request.data + 1);
}

/* The state of one call to Count. */
struct counter {
	struct rig *rig;
	uint32_t next, messages, size;
	uint8_t *bytes;
};

static void counter_advance(struct rpc_stream *stream, void *user)
{
	struct counter *counter = user;
	while (counter->next < counter->messages) {
		struct rpc_slice message = {counter->bytes, counter->size};
		int rc = 0;
		if (counter->size >= sizeof(counter->next))
			memcpy(counter->bytes, &counter->next, sizeof(counter->next));
		rc = rpc_stream_send(stream, message, NULL);
		if (rc == ERROR_BUSY)
			return;
		CU_ASSERT(rc == 0);
		counter->next++;
		counter->rig->sent++;
	}
	rpc_stream_finish(stream, RPC_OK, "%s", "");
}

static void counter_drain(struct rpc_stream *stream, void *user)
{
	struct counter *counter = user;
	counter->rig->drained++;
	counter_advance(stream, user);
}

static void counter_end(void *user)
{
	struct counter *counter = user;
	counter->rig->ended++;
	free(counter->bytes);
	free(counter);
}

static void on_count(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	struct counter *counter = must(calloc(1, sizeof(*counter)));
	CU_ASSERT_FATAL(request.size == 8);
	counter->rig = user;
	counter->rig->handled++;
	memcpy(&counter->messages, request.data, 4);
	memcpy(&counter->size, request.data + 4, 4);
	counter->bytes = must(calloc(1, (size_t)counter->size + 1));
	rpc_stream_on_end(stream, counter_end, counter);
	rpc_stream_on_drain(stream, counter_drain, counter);
	counter_advance(stream, counter);
}

static void hold_end(void *user)
{
	struct rig *rig = user;
	rig->held = NULL;
	rig->ended++;
}

static void on_hold(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	struct rig *rig = user;
	(void)request;
	rig->handled++;
	rig->held = stream;
	rig->time_left_ms = rpc_stream_time_left_ms(stream);
	rpc_stream_on_end(stream, hold_end, rig);
}

static void allocate_fill(V1beta1__ContainerAllocateResponse *response,
			  V1beta1__ContainerAllocateResponse__EnvsEntry *env, char *id)
{
	static V1beta1__ContainerAllocateResponse__EnvsEntry *envs[1];
	static char key[] = "DEVICE";
	v1beta1__container_allocate_response__init(response);
	v1beta1__container_allocate_response__envs_entry__init(env);
	env->key = key;
	env->value = id;
	envs[0] = env;
	response->envs = envs;
	response->n_envs = 1;
}

static void on_allocate(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	struct rig *rig = user;
	V1beta1__AllocateResponse answer = V1BETA1__ALLOCATE_RESPONSE__INIT;
	V1beta1__ContainerAllocateResponse response;
	V1beta1__ContainerAllocateResponse *responses[1] = {&response};
	V1beta1__ContainerAllocateResponse__EnvsEntry env;
	V1beta1__AllocateRequest *asked = (V1beta1__AllocateRequest *)rpc_stream_unpack(
		stream, request, &v1beta1__allocate_request__descriptor);
	rig->handled++;
	if (asked == NULL)
		return;
	if (asked->n_container_requests != 1 || asked->container_requests[0]->n_devices_ids != 1) {
		rpc_stream_finish(stream, RPC_INVALID_ARGUMENT, "expected one device");
	} else {
		allocate_fill(&response, &env, asked->container_requests[0]->devices_ids[0]);
		answer.container_responses = responses;
		answer.n_container_responses = 1;
		rpc_stream_reply(stream, &answer.base);
	}
	v1beta1__allocate_request__free_unpacked(asked, NULL);
}

static void rig_find_address(struct rig *rig)
{
	struct error err = {0};
	check(file_make_temporary(NULL, "rpc-test-", &rig->directory, &err), &err);
	rig->path = path_join(rig->directory, "socket");
	rig->address = text_format("unix:%s", rig->path);
}

void rig_serve(struct rig *rig, const struct rpc_server_options *server)
{
	static const struct {
		const char *method;
		rpc_handler *handler;
	} methods[] = {
		{"/test.Test/Echo", on_echo},
		{"/test.Test/Fail", on_fail},
		{"/test.Test/Count", on_count},
		{"/test.Test/Hold", on_hold},
		{"/v1beta1.DevicePlugin/Allocate", on_allocate},
	};
	struct error err = {0};
	check(rpc_server_new(&rig->loop, server, &rig->server, &err), &err);
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		check(rpc_server_add(rig->server, methods[i].method, methods[i].handler, rig, &err),
		      &err);
	check(rpc_server_listen(rig->server, rig->address, &err), &err);
}

void rig_start(struct rig *rig, const struct rpc_server_options *server,
	       const struct rpc_channel_options *client)
{
	struct error err = {0};
	*rig = (struct rig){0};
	check(uv_loop_init(&rig->loop), &err);
	rig_find_address(rig);
	rig_serve(rig, server);
	check(rpc_channel_open(&rig->loop, rig->address, client, &rig->channel, &err), &err);
}

void rig_stop(struct rig *rig)
{
	struct error err = {0};
	rpc_channel_close(rig->channel);
	rpc_server_close(rig->server);
	check(loop_drain(&rig->loop, PATIENCE_MS, &err), &err);
	check(file_remove_tree(rig->directory, &err), &err);
	free(rig->directory);
	free(rig->path);
	free(rig->address);
}

static void on_message(struct rpc_call *call, struct rpc_slice message, void *user)
{
	struct outcome *out = user;
	uint32_t index = 0;
	(void)call;
	if (message.size >= sizeof(index)) {
		memcpy(&index, message.data, sizeof(index));
		out->in_order = out->in_order && index == out->messages;
	}
	out->messages++;
	out->bytes += message.size;
	free(out->last);
	out->last = must(malloc(message.size + 1));
	if (message.size > 0)
		memcpy(out->last, message.data, message.size);
	out->last_size = message.size;
}

static void on_done(const struct rpc_status *status, void *user)
{
	struct outcome *out = user;
	CU_ASSERT(!out->done);
	out->done = true;
	out->call = NULL;
	out->code = status->code;
	(void)snprintf(out->message, sizeof(out->message), "%s", status->message);
}

void outcome_start(struct rig *rig, const struct rpc_call_request *request, struct outcome *out)
{
	static const struct rpc_call_events events = {on_message, on_done};
	struct error err = {0};
	*out = (struct outcome){.in_order = true};
	check(rpc_call_start(rig->channel, request, &events, out, &out->call, &err), &err);
	CU_ASSERT(!out->done);
}

static bool outcome_is_done(void *user)
{
	const struct outcome *out = user;
	return out->done;
}

void rig_until(struct rig *rig, bool (*condition)(void *user), void *user, const char *what)
{
	struct error err = {0};
	check(loop_wait(&rig->loop, condition, user, PATIENCE_MS, what, &err), &err);
}

void outcome_wait(struct rig *rig, struct outcome *out)
{
	rig_until(rig, outcome_is_done, out, "the end of a call");
}

void outcome_call(struct rig *rig, const char *method, const void *bytes, size_t size,
		  struct outcome *out)
{
	const struct rpc_call_request request = {.method = method, .message = {bytes, size}};
	outcome_start(rig, &request, out);
	outcome_wait(rig, out);
}

void outcome_free(struct outcome *out)
{
	free(out->last);
}

struct rpc_slice count_request(uint32_t messages, uint32_t size, uint8_t buffer[8])
{
	memcpy(buffer, &messages, 4);
	memcpy(buffer + 4, &size, 4);
	return (struct rpc_slice){buffer, 8};
}
