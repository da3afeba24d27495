/* SPDX-License-Identifier: MIT */
#ifndef CONFORMANCE_CHECKS_VISIBILITY_H
#define CONFORMANCE_CHECKS_VISIBILITY_H

/* Reading what probe-visibility saw (workloads/schema/probe.schema.json, docs/probes.md). */

#include "conformance/checks/grant.h"
#include "conformance/runner/check.h"

/* The APIs that probe-visibility asks; NULL-ended. */
extern const char *const visibility_apis[];

/* Records that the API could tell its devices (a driver that crashed or hung hides them), that they
 * are as many as were granted for it, and that those whose PCI address it tells are the granted
 * ones. */
void visibility_expect_api(struct check_run *run, const char *label, const cJSON *document,
			   const char *api, const struct grant *grant);

/* The same for DXGI, which lists the adapters that Direct3D can use. Windows' own software renderer
 * (Microsoft Basic Render Driver) is in every container and is not counted. */
void visibility_expect_dxgi(struct check_run *run, const char *label, const cJSON *document,
			    const struct grant *grant);

/* Records that each GPU device node in the container's /dev is one of a granted device, and that
 * each of theirs is there. */
void visibility_expect_nodes(struct check_run *run, const char *label, const cJSON *document,
			     const struct grant *grant);

/* Records that two containers saw the same devices, by the APIs' own identifiers. */
void visibility_expect_same_devices(struct check_run *run, const cJSON *first, const cJSON *second);

#endif
