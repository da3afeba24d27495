/* SPDX-License-Identifier: MIT */
#pragma once

/* Exit codes of Windows programs that an unhandled exception ended: its NTSTATUS. Built on every
 * system, because Windows containers are also inspected from others. */

#include <stdbool.h>
#include <stdint.h>

/* Is the exit code the status of an error of the system (0xC0000000 to 0xCFFFFFFF)? Not
 * STATUS_CONTROL_C_EXIT, which ends programs that were asked to end. */
bool nt_status_is_exception(int exit_code);

/* "access violation"; "unhandled exception" for unlisted ones. */
const char *nt_status_name(int exit_code);
