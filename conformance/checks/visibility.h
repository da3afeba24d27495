/* SPDX-License-Identifier: MIT */
#ifndef CONFORMANCE_CHECKS_VISIBILITY_H
#define CONFORMANCE_CHECKS_VISIBILITY_H

/* Reading what probe-visibility saw (workloads/schema/probe.schema.json, docs/probes.md). */

#include "conformance/checks/grant.h"
#include "conformance/runner/check.h"

/* The APIs that probe-visibility asks; NULL-ended. */
extern const char *const visibility_apis[];

/* Devices that the API showed; 0 when it is not there. */
long long visibility_count(const cJSON *document, const char *api);

/* Records that each GPU device node in the container's /dev is one of a granted device, and that
 * each of theirs is there. */
void visibility_expect_nodes(struct check_run *run, const char *label, const cJSON *document,
			     const struct grant *grant);

/* Records that two containers saw the same devices, by the APIs' own identifiers. */
void visibility_expect_same_devices(struct check_run *run, const cJSON *first, const cJSON *second);

#endif
