/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The event "Local\gpucert-stop-PID": asks a process to end that shares no console with the asking
 * one, as under Wine, in services and in HostProcess containers. Programs that accept such requests
 * (base/termination.h) own one; only their owner, SYSTEM and Administrators can set it.
 */

#include <stdbool.h>
#include <windows.h>

/* This process' event; NULL when there is none. CloseHandle() it. */
HANDLE stop_event_create(void);

/* False when the process has no such event, or access is denied. */
bool stop_event_set(DWORD process);

/* Hands a request to the open termination, or keeps it for the next one to open. Any thread. `what`
 * must live for ever. */
void termination_request_kept(const char *what);
