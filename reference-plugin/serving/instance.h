/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * One resource: its service on a socket, and its registration with the kubelet.
 *
 * The kubelet removes the sockets of all plugins when it starts, then makes its own. So when the instance's socket is
 * gone, or kubelet.sock was replaced, everything starts over: the streams end, a new socket with a new name is served
 * and registered. The old streams end before the new registration, because a kubelet up to 1.36 mistakes their end for
 * the end of the endpoint registered under the name.
 *
 * Where the kubelet still runs and ended the stream, the endpoint is registered again, with back-off; among several
 * instances that serve one resource by the newest, even as the last one left, and by the next one when the newest ends.
 * While the kubelet has a stream and no other instance was seen, nothing is registered.
 *
 * The kubelet dials the endpoint and asks for its options before it answers a registration, so the loop must run. A
 * failure (no kubelet, refused, time-out) is retried with back-off, for ever, because a kubelet may start at any time.
 * The plugin registers with a restarted kubelet at once: REGISTER_BURST attempts may follow each other, then one each
 * BACKOFF_FIRST_MS.
 */

#include "reference-plugin/serving/service.h"

struct instance;

/* Serves and begins to register; without the plugin directory, once that exists (instance_check()).
 * Errors: those of service_open(). */
int instance_open(const struct serving *serving, struct instance **out, struct error *err);

/* Checks whether its socket and the kubelet's are still the same. */
void instance_check(struct instance *instance);

/* The inventory changed. */
void instance_refresh(struct instance *instance);

/* For metrics and health; borrowed until the loop runs again. */
void instance_state(const struct instance *instance, struct serving_state *out);

/* Ends the streams with trailers and removes the socket. The instance is gone when `closed` runs,
 * which is not before this returns. */
void instance_close(struct instance *instance, void (*closed)(void *user), void *user);

enum { BACKOFF_FIRST_MS = 500, BACKOFF_LAST_MS = 30 * 1000, REGISTER_BURST = 4 };

/* Milliseconds to wait after the failure number `failures`, counted from 1: doubling from
 * BACKOFF_FIRST_MS to BACKOFF_LAST_MS, and up to a quarter more by `random`, so that the plugins of
 * a node do not come back in step. Never less than BACKOFF_FIRST_MS. */
uint64_t backoff_ms(unsigned failures, uint32_t random);
