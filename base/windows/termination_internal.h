/* SPDX-License-Identifier: MIT */
#ifndef BASE_WINDOWS_TERMINATION_INTERNAL_H
#define BASE_WINDOWS_TERMINATION_INTERNAL_H

/* Hands a request to the open termination, or keeps it for the next one to open. Any thread. `what`
 * is borrowed for ever. */
void termination_request_kept(const char *what);

#endif
