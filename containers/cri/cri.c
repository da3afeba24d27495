/* SPDX-License-Identifier: MIT */
#include "containers/cri/cri.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "containers/cri/call.h"
#include "rpc/client.h"

#include <stdlib.h>
#include <string.h>

struct cri {
	struct rpc_channel *channel;
	char *address;
	uint64_t time_ns;
	uint64_t calls;
};

int cri_open(uv_loop_t *loop, const char *address, struct cri **out, struct error *err)
{
	const struct rpc_channel_options options = {.limits = {.message_max = CRI_MESSAGE_MAX}};
	struct cri *cri = calloc(1, sizeof(*cri));
	int rc = 0;

	if (cri == NULL)
		return error_memory(err);
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
	rpc_channel_close(cri->channel);
	free(cri->address);
	free(cri);
}

uv_loop_t *cri_loop(const struct cri *cri)
{
	return rpc_channel_loop(cri->channel);
}

int cri_peer(const struct cri *cri)
{
	return rpc_channel_peer(cri->channel);
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
	int rc = rpc_unary_wait(cri->channel, method, request, reply_type, timeout_ms, &reply,
				&failure);

	cri->time_ns += clock_monotonic_ns() - begin;
	cri->calls++;
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
