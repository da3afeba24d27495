/* SPDX-License-Identifier: MIT */
#pragma once

#include "conformance/runner/check.h"

/* Every suite of a normal run, in the order in which they run; NULL-ended. */
extern const struct check_suite *const suites[];

extern const struct check_suite suite_environment;
extern const struct check_suite suite_registration;
extern const struct check_suite suite_list_and_watch;
extern const struct check_suite suite_allocate;
extern const struct check_suite suite_windows;
extern const struct check_suite suite_restart;
extern const struct check_suite suite_api;
extern const struct check_suite suite_isolation;

/* Bodies that stand in a file of their own (list_devices.c, isolation_files.c). */
check_body list_devices_present, isolation_node_files;
