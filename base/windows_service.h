/* SPDX-License-Identifier: MIT */
#pragma once

/* The program as a Windows service: Windows alone. */

#include "base/error.h"

/*
 * Runs `run` for the service control manager, which started this process, and returns when the
 * service has stopped. `run` is called in another thread; *code is what it returned, and the
 * manager is told of a code other than 0 as the service's own error. A stop or a shutdown is a
 * request to end (base/termination.h); what comes before `run` takes such requests is kept for it.
 *
 * ERROR_UNSUPPORTED: the service control manager did not start this process.
 */
int windows_service_run(int (*run)(void *user), void *user, int *code, struct error *err);
