/* SPDX-License-Identifier: MIT */
#pragma once

/* Times the reference plugin on bench/node.json with a fake kubelet. */

#include "base/process.h"
#include "bench/figures.h"
#include "conformance/kubelet/kubelet.h"

#define BENCH_DEVICE "0000:03:00.0::0" /* its first one, as the plugin lists it */

struct bench_plugin {
	char *directory;
	struct kubelet *kubelet;
	struct process *process;
	uint64_t started_ns;	/* when the process was started */
	uint64_t registered_ns; /* when the first Register arrived */
	size_t device_count;
	struct rpc_channel *channel; /* borrowed from the kubelet */
};

/* Starts the plugin with `replicas` replicas and waits for its first device list. End it with
 * bench_plugin_stop(), also after an error. */
int bench_plugin_start(uv_loop_t *loop, unsigned replicas, struct bench_plugin *plugin,
		       struct error *err);
void bench_plugin_stop(uv_loop_t *loop, struct bench_plugin *plugin);

/* Resident memory in KiB. */
int bench_plugin_memory(const struct bench_plugin *plugin, double *kib, struct error *err);

/* The packed messages of a call with their gRPC prefix. */
struct bench_sizes {
	size_t request, reply;
};

/* Calls Allocate for BENCH_DEVICE `calls` times, after a tenth as many to warm up. */
int bench_allocate(struct rpc_channel *channel, size_t calls, struct samples *out,
		   struct bench_sizes *sizes, struct error *err);
