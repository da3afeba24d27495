/* SPDX-License-Identifier: MIT */
#pragma once

/* Runs the program as a Windows service. Windows only. */

#include "base/error.h"

/*
 * Runs `run` for the service control manager, which started this process, and returns when the
 * service has stopped. `run` is called in another thread; *code is what it returned, and a code other
 * than 0 is reported to the manager as the service's own error. A stop or a shutdown is a request to
 * end (base/termination.h); one that arrives before `run` handles such requests is kept for it.
 *
 * ERROR_UNSUPPORTED: the service control manager did not start this process.
 */
int windows_service_run(int (*run)(void *user), void *user, int *code, struct error *err);
