/* SPDX-License-Identifier: MIT */
#pragma once

/* The plugin's metrics in the text format of Prometheus (0.0.4), and its health. */

#include "base/text.h"

#include <stdint.h>

/* How long a resource may be without the kubelet before the plugin is unhealthy: kubelets restart, and registrations
 * are retried. */
enum { METRICS_GRACE_MS = 2 * 60 * 1000 };

/* Counters of one resource since the plugin started. */
struct serving_counts {
	uint64_t allocations, allocation_errors;
	uint64_t registrations, registration_errors;
	uint64_t last_error_s; /* Unix time of the last error of any kind; 0: none */
};

/* The state of one resource. */
struct serving_state {
	const char *resource;
	const char *problem; /* the last problem; "" */
	struct serving_counts counts;
	uint64_t healthy, unhealthy; /* devices */
	uint64_t streams;	     /* of ListAndWatch */
	uint64_t connected;	     /* 1: the kubelet has one */
	uint64_t apart_ms;	     /* how long it has had none */
	bool superseded;	     /* a newer instance of the plugin serves the resource */
};

/* Counts an error, and notes when it was. */
void metrics_count_error(struct serving_counts *counts, uint64_t *count);

void metrics_write(const char *program, const struct serving_state *states, size_t count,
		   struct text *out);

/* Does the kubelet have every resource, or had it within `grace_ms`? Adds "ok", or what is wrong. */
bool metrics_health(const struct serving_state *states, size_t count, uint64_t grace_ms,
		    struct text *out);
