/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What containers with one device each, and one without, were seen to be: by the document of
 * probe-visibility and from the host. Several checks judge the same containers. The first check that
 * looks keeps what it saw in the run's folder (sights.json), and the others read it there:
 *
 *   [{"label": "bare", "devices": [], "byRuntime": false, "document": {}, "container": {}}, ...]
 *
 * The first element is the container without devices. "devices" are ids of granted devices of the
 * node, "byRuntime" says that the answer holds what a runtime may act on, and "container", null where
 * the host cannot look into it, is:
 *
 *   {"mounts": [{"path", "type", "hostPath", "readOnly", "shared", "granted"}],
 *    "nodes": [{"path", "type", "number"}], "usable": [...] or null, "usableUntold": null,
 *    "capabilities": 0, "seccomp": 2, "noNewPrivileges": true, "shared": ["pid"]}
 *
 * Mounts that others cover are left out; "granted" is a mount of the answer, or below one. "usable" are
 * nodes of the host that the device cgroup lets it use (containers/inspect/inspect.h).
 */

#include "conformance/checks/visibility.h"

/* Adds a container to `sights`, an array, and keeps what the host saw as evidence. False: recorded. */
bool sights_add(struct check_run *run, cJSON *sights, const char *label, const struct sight *sight,
		const struct granted *granted, const struct grant *grant);

/* Keeps them for the checks to come. False: recorded. */
bool sights_save(struct check_run *run, const cJSON *sights);

/* What an earlier check of this run kept; NULL: none did. */
cJSON *sights_read(struct check_run *run);

/* The same, or else what containers of the first ids are seen to be (isolation.c). NULL: recorded. */
cJSON *sights_take(struct check_run *run);
