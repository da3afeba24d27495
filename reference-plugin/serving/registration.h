/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Registering one endpoint with the kubelet, until it succeeds.
 *
 * The kubelet dials the endpoint and asks for its options before it answers, so the endpoint must
 * be served and the loop must run. A failure (no kubelet, refused, time-out) is retried with
 * back-off, for ever: a node without a kubelet is waiting for one. Two attempts are never less than
 * BACKOFF_FIRST_MS apart.
 */

#include "base/error.h"
#include "reference-plugin/serving/socket_file.h"

#include <uv.h>

struct registration;

struct registration_options {
	uv_loop_t *loop;
	const char *kubelet_socket; /* path; all strings are borrowed for the registration's life */
	const char *resource_name;
	uint64_t timeout_ms; /* of one attempt */
	/* `kubelet` is the socket as it was before it was connected to. */
	void (*on_success)(struct socket_file kubelet, void *user);
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

enum { BACKOFF_FIRST_MS = 1000, BACKOFF_LAST_MS = 30 * 1000 };

/* Milliseconds to wait after the failure number `failures`, counted from 1: doubling from
 * BACKOFF_FIRST_MS to BACKOFF_LAST_MS, and up to a quarter more by `random`, so that the plugins of
 * a node do not come back in step. Never less than BACKOFF_FIRST_MS. */
uint64_t backoff_ms(unsigned failures, uint32_t random);
