/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What may pass is tried again: no connection, a cut or stalled transfer, status 408, 429, 500, 502, 503, 504. Up
 * to REGISTRY_RETRIES times, after a random time that grows, or after what Retry-After asks for.
 */

#include "containers/registry/http.h"

enum {
	REGISTRY_RETRIES = 4,
	REGISTRY_WAIT_FIRST_MS = 500, /* doubled each time */
	REGISTRY_WAIT_MAX_MS = 60000,
};

/* Time, for tests. */
struct registry_clock {
	uint64_t (*now_ms)(void *user); /* monotonic */
	void (*wait_ms)(uint64_t duration_ms, void *user);
	void *user;
};

/* Of one server. */
struct registry_retries {
	const struct registry_clock *clock; /* NULL: the system's */
	uint64_t retry_after_ms;	    /* that the last answer asked for; 0: nothing */
};

/* How often something failed already, and how the last time. */
struct registry_patience {
	unsigned failures;
	struct error failure;
};

uint64_t registry_now_ms(const struct registry_clock *clock);

/* Is it the code of a failure that may pass? */
bool registry_may_pass(int rc);

/* May the failure pass, and is there patience left? Then waits, forgets the failure and is true. */
bool registry_try_again(struct registry_retries *retries, struct registry_patience *patience);

/* An answer that is not 2xx, as an error; remembers what it says of Retry-After. ERROR_NOT_FOUND: 404;
 * ERROR_PERMISSION: 401, 403; ERROR_BUSY: 429; ERROR_UNAVAILABLE: 408, 5xx; else ERROR_REMOTE with err->remote. */
int registry_refusal(struct registry_retries *retries, struct http_exchange *answer,
		     struct error *err);
