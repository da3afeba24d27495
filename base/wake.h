/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Calls back on a libuv loop when an object of the operating system is ready: a descriptor that is
 * readable on POSIX systems, a waitable HANDLE that is signalled on Windows. As long as it stays
 * ready it calls again; the callback makes it unready (reads, resets the event) or frees the wake.
 */

#include "base/error.h"

#include <stdint.h>
#include <uv.h>

struct wake;

/* The object stays the caller's and must outlive the wake. ERROR_IO, ERROR_MEMORY. */
int wake_start(uv_loop_t *loop, intptr_t object, void (*on_wake)(void *user), void *user,
	       struct wake **out, struct error *err);

/* No callback afterwards; the memory is freed with the handles, in the next iterations of the loop.
 * NULL is allowed. */
void wake_free(struct wake *wake);
