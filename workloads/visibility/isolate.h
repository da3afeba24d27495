/* SPDX-License-Identifier: MIT */
#ifndef WORKLOADS_VISIBILITY_ISOLATE_H
#define WORKLOADS_VISIBILITY_ISOLATE_H

/* Asking one API for its devices in a child process, so that a driver that crashes, exits or hangs
 * costs the answer of that API and no other. */

#include "workloads/common/program.h"

#include <cjson/cJSON.h>

/* An element of `apis`: {api, platforms?, devices}. A child that does not answer becomes an API
 * whose status is "failed", with what happened to it as reason. To be called while the process has
 * one thread. ERROR_IO: no pipe or no process. ERROR_MEMORY. */
int isolate_enumerate(const struct api_driver *api, uint64_t timeout_ms, cJSON **out,
		      struct error *err);

#endif
