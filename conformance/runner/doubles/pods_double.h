/* SPDX-License-Identifier: MIT */
#pragma once

/* The part of a kubelet's PodResources v1 that gpucert uses. */

#include "base/text.h"
#include "rpc/server.h"

struct pods_double {
	struct rpc_server *server;
	struct text answer; /* a packed ListPodResourcesResponse */
	int code;	    /* the status; if it is not OK, nothing else is sent */
	bool silent;	    /* no call is answered */
};

/* Serves `method`; NULL: the service's List. rpc_server_close() and text_free() end it. */
int pods_double_open(struct pods_double *pods, uv_loop_t *loop, const char *path,
		     const char *method, struct error *err);

/* "NAMESPACE/POD", a container of it, and a device that it holds. */
void pods_double_add(struct pods_double *pods, const char *pod, const char *container,
		     const char *resource, const char *id);
