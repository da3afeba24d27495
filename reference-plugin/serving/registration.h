/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Registering one endpoint with the kubelet, until it succeeds.
 *
 * The kubelet dials the endpoint and asks for its options before it answers, so the endpoint must
 * be served and the loop must run. A failure (no kubelet, refused, time-out) is retried with
 * back-off (backoff.h), for ever: a node without a kubelet is waiting for one. Two attempts are
 * never less than BACKOFF_FIRST_MS apart.
 */

#include "base/error.h"

#include <stdint.h>
#include <uv.h>

struct registration;

struct registration_options {
	uv_loop_t *loop;
	const char *kubelet_socket; /* path; all strings are borrowed for the registration's life */
	const char *resource_name;
	uint64_t timeout_ms;		/* of one attempt */
	void (*on_attempt)(void *user); /* before the kubelet's socket is connected to */
	void (*on_success)(void *user);
	void (*on_failure)(const struct error *why, uint64_t retry_ms, void *user);
	void *user;
};

/* ERROR_MEMORY. */
int registration_new(const struct registration_options *options, struct registration **out,
		     struct error *err);

/* Registers `endpoint` (a file name beside the kubelet's socket; borrowed until the next start or
 * stop) from now on, instead of the one before. */
void registration_start(struct registration *registration, const char *endpoint);

/* Gives up what is under way. Neither callback runs any more until the next start. */
void registration_stop(struct registration *registration);

/* registration_stop(); the memory is freed when libuv has closed its timer. NULL is allowed. */
void registration_close(struct registration *registration);
