/* SPDX-License-Identifier: MIT */
#pragma once

/* Asking one API for its devices in a child process, so that a driver that crashes, exits or hangs
 * costs the answer of that API and no other. */

#include "workloads/common/program.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* An element of `apis`: {api, platforms?, devices}. A child that does not answer becomes an API
 * whose status is "failed", with what happened to it as reason. To be called while the process has
 * one thread. `anew`: by this program, started once more with the present environment, which
 * the dynamic linker reads at a start alone. ERROR_MEMORY. */
int isolate_enumerate(const struct api_driver *api, uint64_t timeout_ms, bool anew, cJSON **out,
		      struct error *err);

/* The same element, asked in this process. The session is left open: what a driver does at its end
 * is not asked. ERROR_MEMORY. */
int isolate_ask(const struct api_driver *api, cJSON **out, struct error *err);

/* isolate_ask() in a child process: a copy of this one, or, `anew` and on Windows, this program
 * once more with "--api NAME". ERROR_TIMEOUT; ERROR_REMOTE: it crashed or exited; ERROR_LIMIT;
 * ERROR_IO: there is no process; ERROR_MEMORY. */
int isolate_run(const struct api_driver *api, uint64_t timeout_ms, bool anew, cJSON **out,
		struct error *err);
