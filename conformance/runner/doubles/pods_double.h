/* SPDX-License-Identifier: MIT */
#pragma once

/* A kubelet's PodResources v1, as far as gpucert asks it. */

#include "base/text.h"
#include "rpc/server.h"

struct pods_double {
	struct rpc_server *server;
	struct text answer; /* a packed ListPodResourcesResponse */
	int code;	    /* the status; of another one than OK nothing else is sent */
	bool silent;	    /* no call is answered */
};

/* Serves `method`, the service's List where that is NULL. rpc_server_close() and text_free() end it. */
int pods_double_open(struct pods_double *pods, uv_loop_t *loop, const char *path,
		     const char *method, struct error *err);

/* "NAMESPACE/POD", a container of it, and a device that it holds. */
void pods_double_add(struct pods_double *pods, const char *pod, const char *container,
		     const char *resource, const char *id);
