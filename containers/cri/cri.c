/* SPDX-License-Identifier: MIT */
#include "containers/cri/cri.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "containers/cri/call.h"
#include "rpc/client.h"

#include <stdlib.h>
#include <string.h>

#define CRI_HANGS "the container runtime does not answer any more"

struct cri {
	struct rpc_channel *channel; /* NULL: the runtime hangs */
	char *address;
	uint64_t time_ns;
	uint64_t calls;
	uv_loop_t *loop;
	uv_timer_t watchdog;
	uint64_t patience_ms;
	unsigned waiting; /* calls that are open */
	bool hangs;	  /* found out; the channel is closed in the next turn of the loop */
};

static void cri_on_quiet(uv_timer_t *watchdog);

static void cri_on_life(const struct rpc_status *status, ProtobufCMessage *reply, void *user)
{
	struct cri *cri = user;

	if (reply != NULL)
		protobuf_c_message_free_unpacked(reply, NULL);
	if (cri->waiting == 0 || cri->channel == NULL || status->code == RPC_CANCELLED)
		return;
	cri->hangs = status->code == RPC_DEADLINE_EXCEEDED;
	(void)uv_timer_start(&cri->watchdog, cri_on_quiet, cri->hangs ? 0 : cri->patience_ms, 0);
}

/* A call takes long. A runtime that works answers Version meanwhile; from one that hangs nothing is
 * waited for any more. */
static void cri_on_quiet(uv_timer_t *watchdog)
{
	struct cri *cri = watchdog->data;
	Runtime__V1__VersionRequest request = {0};

	if (cri->hangs) {
		rpc_channel_close(STEAL(cri->channel));
		return;
	}
	runtime__v1__version_request__init(&request);
	(void)rpc_unary(cri->channel, CRI_RUNTIME_METHOD("Version"), &request.base,
			&runtime__v1__version_response__descriptor, cri->patience_ms, cri_on_life,
			cri, NULL, NULL);
}

static void cri_on_closed(uv_handle_t *watchdog)
{
	struct cri *cri = watchdog->data;

	free(cri->address);
	free(cri);
}

void cri_hurry(struct cri *cri, uint64_t patience_ms)
{
	cri->patience_ms = patience_ms;
}

int cri_open(uv_loop_t *loop, const char *address, struct cri **out, struct error *err)
{
	const struct rpc_channel_options options = {.limits = {.message_max = CRI_MESSAGE_MAX}};
	struct cri *cri = calloc(1, sizeof(*cri));
	int rc = 0;

	if (cri == NULL)
		return error_memory(err);
	cri->loop = loop;
	cri->patience_ms = CRI_PATIENCE_MS;
	(void)uv_timer_init(loop, &cri->watchdog);
	cri->watchdog.data = cri;
	cri->address = strdup(address);
	rc = cri->address != NULL ? rpc_channel_open(loop, address, &options, &cri->channel, err)
				  : error_memory(err);
	if (rc == 0)
		rc = rpc_channel_connect_wait(cri->channel, CRI_CONNECT_TIMEOUT_MS, err);
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
	uv_close((uv_handle_t *)&cri->watchdog, cri_on_closed);
}

uv_loop_t *cri_loop(const struct cri *cri)
{
	return cri->loop;
}

int cri_peer(const struct cri *cri)
{
	return cri->channel != NULL ? rpc_channel_peer(cri->channel) : 0;
}

const char *cri_address(const struct cri *cri)
{
	return cri->address;
}

uint64_t cri_time_ms(const struct cri *cri)
{
	return cri->time_ns / 1000000;
}

uint64_t cri_call_count(const struct cri *cri)
{
	return cri->calls;
}

void cri_reply_free_(void *reply)
{
	ProtobufCMessage *message = *(ProtobufCMessage **)reply;

	if (message != NULL)
		protobuf_c_message_free_unpacked(message, NULL);
}

/* Statuses that have an error code of their own. */
static int cri_error_code(const struct error *failure)
{
	if (failure->code != ERROR_REMOTE)
		return failure->code;
	switch (failure->remote) {
	case RPC_UNIMPLEMENTED:
		return ERROR_UNSUPPORTED;
	case RPC_DEADLINE_EXCEEDED:
		return ERROR_TIMEOUT;
	case RPC_UNAVAILABLE:
		return ERROR_UNAVAILABLE;
	default:
		return ERROR_REMOTE;
	}
}

int cri_call_wait(struct cri *cri, const char *method, const ProtobufCMessage *request,
		  const ProtobufCMessageDescriptor *reply_type, uint64_t timeout_ms, void *out,
		  struct error *err)
{
	ProtobufCMessage *reply CLEANUP_CRI_REPLY = NULL;
	struct error failure = {0};
	uint64_t begin = clock_monotonic_ns();
	int rc = 0;

	if (cri->channel == NULL)
		return error_set(err, ERROR_UNAVAILABLE, "%s: %s", method, CRI_HANGS);
	cri->waiting++;
	(void)uv_timer_start(&cri->watchdog, cri_on_quiet, cri->patience_ms, 0);
	rc = rpc_unary_wait(cri->channel, method, request, reply_type, timeout_ms, &reply,
			    &failure);
	if (--cri->waiting == 0)
		(void)uv_timer_stop(&cri->watchdog);
	cri->time_ns += clock_monotonic_ns() - begin;
	cri->calls++;
	if (rc < 0 && cri->channel == NULL)
		return error_set(err, ERROR_TIMEOUT, "%s: %s", method, CRI_HANGS);
	if (rc < 0) {
		failure.code = cri_error_code(&failure);
		return error_copy(err, &failure);
	}
	if (out != NULL)
		*(ProtobufCMessage **)out = STEAL(reply);
	return 0;
}

int cri_call_id_wait(struct cri *cri, const char *method, const ProtobufCMessage *request,
		     const ProtobufCMessageDescriptor *reply_type, struct error *err)
{
	struct error failure = {0};
	int rc = cri_call_wait(cri, method, request, reply_type, CRI_TIMEOUT_MS, NULL, &failure);

	if (rc == 0 || failure.remote == RPC_NOT_FOUND)
		return 0;
	return error_copy(err, &failure);
}
