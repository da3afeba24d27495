/* SPDX-License-Identifier: MIT */
#pragma once

/* Hands a request to the open termination, or keeps it for the next one to open. Any thread. `what`
 * is borrowed for ever. */
void termination_request_kept(const char *what);
