/* SPDX-License-Identifier: MIT */
#pragma once

/* Asking one API for its devices in a process of its own, so that a driver that crashes, exits or
 * hangs costs the answer of that API and no other. */

#include "workloads/common/api.h"

/* An element of `apis`: {api, platforms?, devices}. The process is this program once more, with
 * "--api NAME" and the present environment; one that does not answer becomes an API whose status is
 * "failed", with what happened to it as reason. ERROR_MEMORY. */
int isolate_enumerate(const struct api_driver *api, uint64_t timeout_ms, cJSON **out,
		      struct error *err);

/* The same element, asked in this process. The session is left open: what a driver does at its end
 * is not asked. ERROR_MEMORY. */
int isolate_ask(const struct api_driver *api, cJSON **out, struct error *err);
