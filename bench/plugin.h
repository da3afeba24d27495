/* SPDX-License-Identifier: MIT */
#pragma once

/* The reference plugin on a recorded node, registered with a minimal kubelet, and timed. */

#include "base/process.h"
#include "bench/samples.h"
#include "rpc/client.h"
#include "rpc/server.h"

#include <stdbool.h>

struct bench_plugin {
	uv_loop_t *loop;
	char *directory;
	struct rpc_server *kubelet;
	struct process *process;
	char *endpoint;		/* of the first Register call; NULL until then */
	uint64_t started_ns;	/* when the process was started */
	uint64_t registered_ns; /* when Register arrived */
	struct rpc_channel *channel;
	char *device_id; /* first of the list */
	size_t device_count;
};

/* Starts the plugin on the node file with `replicas` replicas and waits until it has registered. */
int bench_plugin_start(uv_loop_t *loop, const char *node_file, unsigned replicas,
		       struct bench_plugin *plugin, struct error *err);

/* Connects and reads the first device list. */
int bench_plugin_connect(struct bench_plugin *plugin, struct error *err);

/* Resident memory in KiB. */
int bench_plugin_memory(const struct bench_plugin *plugin, double *kib, struct error *err);
void bench_plugin_stop(struct bench_plugin *plugin);

/* Calls Allocate for one id `calls` times on a channel, after a tenth as many to warm up. The sizes
 * are those of the packed messages with their gRPC prefix; both may be NULL. */
int bench_allocate(struct rpc_channel *channel, const char *id, size_t calls, struct samples *out,
		   size_t *request_size, size_t *reply_size, struct error *err);
