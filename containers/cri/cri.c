/* SPDX-License-Identifier: MIT */
#include "containers/cri/cri.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "rpc/client.h"
#include "rpc/loop.h"

#include <stdlib.h>
#include <string.h>

enum {
	CONNECT_TIMEOUT_MS = 5000,
	CALL_TIMEOUT_MS = 2 * 60 * 1000,
	SANDBOX_TIMEOUT_MS = 2 * CALL_TIMEOUT_MS,
	PATIENCE_MS = 10 * 1000,
	MESSAGE_MAX = 16 * 1024 * 1024,
};

struct cri {
	struct rpc_channel *channel; /* NULL: the runtime hangs */
	uint64_t time_ns;
	uv_loop_t *loop;
	uv_timer_t watchdog;
	uint64_t patience_ms;
	unsigned waiting;  /* calls that are open */
	unsigned removals; /* sandboxes that are being removed */
	bool hangs;	   /* detected; the channel is closed in the next turn of the loop */
};

static void on_call_silent(uv_timer_t *watchdog);

static void on_version_answered(const struct rpc_status *status, ProtobufCMessage *reply,
				void *user)
{
	struct cri *cri = user;
	if (reply != NULL)
		protobuf_c_message_free_unpacked(reply, NULL);
	if (cri->waiting == 0 || cri->channel == NULL || status->code == RPC_CANCELLED)
		return;
	cri->hangs = status->code == RPC_DEADLINE_EXCEEDED;
	(void)uv_timer_start(&cri->watchdog, on_call_silent, cri->hangs ? 0 : cri->patience_ms, 0);
}

/* A call takes long: a working runtime still answers Version meanwhile; one that does not hangs. */
static void on_call_silent(uv_timer_t *watchdog)
{
	struct cri *cri = watchdog->data;
	Runtime__V1__VersionRequest request = RUNTIME__V1__VERSION_REQUEST__INIT;
	if (cri->hangs)
		rpc_channel_close(STEAL(cri->channel));
	else
		(void)rpc_unary(cri->channel, "/runtime.v1.RuntimeService/Version", &request.base,
				&runtime__v1__version_response__descriptor, cri->patience_ms,
				on_version_answered, cri, NULL, NULL);
}

static void on_closed(uv_handle_t *watchdog)
{
	free(watchdog->data);
}

void cri_limit_waits(struct cri *cri, uint64_t patience_ms)
{
	cri->patience_ms = patience_ms;
}

int cri_open(uv_loop_t *loop, const char *address, struct cri **out, struct error *err)
{
	const struct rpc_channel_options options = {.limits = {.message_max = MESSAGE_MAX}};
	struct cri *cri = memory_allocate(1, sizeof(*cri));
	cri->loop = loop;
	cri->patience_ms = PATIENCE_MS;
	(void)uv_timer_init(loop, &cri->watchdog);
	cri->watchdog.data = cri;
	int rc = rpc_channel_open(loop, address, &options, &cri->channel, err);
	if (rc == 0)
		rc = rpc_channel_connect_wait(cri->channel, CONNECT_TIMEOUT_MS, err);
	if (rc < 0) {
		cri_close(cri);
		return rc;
	}
	*out = cri;
	return 0;
}

void cri_close(struct cri *cri)
{
	if (cri == NULL)
		return;
	rpc_channel_close(STEAL(cri->channel));
	uv_close((uv_handle_t *)&cri->watchdog, on_closed);
}

uv_loop_t *cri_loop(const struct cri *cri)
{
	return cri->loop;
}

int cri_peer(const struct cri *cri)
{
	return cri->channel != NULL ? rpc_channel_peer(cri->channel) : 0;
}

uint64_t cri_time_ms(const struct cri *cri)
{
	return cri->time_ns / 1000000;
}

void cri_reply_free_(void *reply)
{
	ProtobufCMessage *message = *(ProtobufCMessage **)reply;
	if (message != NULL)
		protobuf_c_message_free_unpacked(message, NULL);
}

static int unanswered(const char *path, int code, struct error *err)
{
	int rc = error_set(err, code, "%s: the container runtime does not answer any more", path);
	if (err != NULL)
		err->remote = RPC_UNAVAILABLE;
	return rc;
}

static uint64_t begin_wait(struct cri *cri)
{
	cri->hangs = false;
	cri->waiting++;
	(void)uv_timer_start(&cri->watchdog, on_call_silent, cri->patience_ms, 0);
	return clock_monotonic_ns();
}

static void end_wait(struct cri *cri, uint64_t begin_ns)
{
	if (--cri->waiting == 0)
		(void)uv_timer_stop(&cri->watchdog);
	cri->time_ns += clock_monotonic_ns() - begin_ns;
}

int cri_call_wait(struct cri *cri, const char *method, const ProtobufCMessage *request, void *reply,
		  struct error *err)
{
	const ProtobufCServiceDescriptor *service = &runtime__v1__runtime_service__descriptor;
	const ProtobufCMethodDescriptor *found =
		protobuf_c_service_descriptor_get_method_by_name(service, method);
	if (found == NULL) {
		service = &runtime__v1__image_service__descriptor;
		found = protobuf_c_service_descriptor_get_method_by_name(service, method);
	}
	if (found == NULL)
		return error_set(err, ERROR_UNSUPPORTED, "%s: not a method of CRI", method);
	char *path CLEANUP_FREE = text_format("/%s/%s", service->name, method);
	if (cri->channel == NULL)
		return unanswered(path, ERROR_UNAVAILABLE, err);

	ProtobufCMessage *answer CLEANUP_CRI_REPLY = NULL;
	struct error failure = {0};
	bool sandbox = strcmp(method, "RunPodSandbox") == 0;
	uint64_t begin = begin_wait(cri);
	int rc = rpc_unary_wait(cri->channel, path, request, found->output,
				sandbox ? SANDBOX_TIMEOUT_MS : CALL_TIMEOUT_MS, &answer, &failure);
	end_wait(cri, begin);

	if (rc < 0 && cri->channel == NULL)
		return unanswered(path, ERROR_TIMEOUT, err);
	if (rc < 0) {
		/* Some gRPC statuses have an error code of their own. */
		if (rc == ERROR_REMOTE && failure.remote == RPC_UNIMPLEMENTED)
			failure.code = ERROR_UNSUPPORTED;
		else if (rc == ERROR_REMOTE && failure.remote == RPC_DEADLINE_EXCEEDED)
			failure.code = ERROR_TIMEOUT;
		else if (rc == ERROR_REMOTE && failure.remote == RPC_UNAVAILABLE)
			failure.code = ERROR_UNAVAILABLE;
		return error_copy(err, &failure);
	}
	if (reply != NULL)
		*(ProtobufCMessage **)reply = STEAL(answer);
	return 0;
}

struct removal {
	struct cri *cri;
	char *sandbox_id;
};

static void end_removal(struct removal *removal)
{
	removal->cri->removals--;
	free(removal->sandbox_id);
	free(removal);
}

static void on_removed(const struct rpc_status *status, ProtobufCMessage *reply, void *user)
{
	(void)status;
	cri_reply_free_(&reply);
	end_removal(user);
}

static void on_stopped(const struct rpc_status *status, ProtobufCMessage *reply, void *user)
{
	Runtime__V1__RemovePodSandboxRequest request =
		RUNTIME__V1__REMOVE_POD_SANDBOX_REQUEST__INIT;
	struct removal *removal = user;
	cri_reply_free_(&reply);
	request.pod_sandbox_id = wire_string(removal->sandbox_id);
	if ((status->code != RPC_OK && status->code != RPC_NOT_FOUND) ||
	    rpc_unary(removal->cri->channel, "/runtime.v1.RuntimeService/RemovePodSandbox",
		      &request.base, &runtime__v1__remove_pod_sandbox_response__descriptor,
		      CALL_TIMEOUT_MS, on_removed, removal, NULL, NULL) < 0)
		end_removal(removal);
}

void cri_begin_removal(struct cri *cri, const char *sandbox_id)
{
	Runtime__V1__StopPodSandboxRequest request = RUNTIME__V1__STOP_POD_SANDBOX_REQUEST__INIT;
	struct removal *removal = memory_allocate(1, sizeof(*removal));
	*removal = (struct removal){.cri = cri, .sandbox_id = memory_copy(sandbox_id)};
	cri->removals++;
	request.pod_sandbox_id = wire_string(sandbox_id);
	if (cri->channel == NULL ||
	    rpc_unary(cri->channel, "/runtime.v1.RuntimeService/StopPodSandbox", &request.base,
		      &runtime__v1__stop_pod_sandbox_response__descriptor, CALL_TIMEOUT_MS,
		      on_stopped, removal, NULL, NULL) < 0)
		end_removal(removal);
}

static bool are_removed(void *user)
{
	const struct cri *cri = user;
	return cri->removals == 0;
}

void cri_removals_wait(struct cri *cri)
{
	uint64_t begin = begin_wait(cri);
	(void)loop_wait(cri->loop, are_removed, cri, UINT64_MAX, "removals", NULL);
	end_wait(cri, begin);
}
