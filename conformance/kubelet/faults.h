/* SPDX-License-Identifier: MIT */
#pragma once

/* Named misbehaviour of the kubelet, which lasts or happens `times` times. */

#include "conformance/kubelet/kubelet.h"

/*
 * "NAME", "NAME=VALUE", each optionally followed by "*TIMES":
 *
 *   register-status=CODE[:MESSAGE]  Register is answered with this status ("14", "UNAVAILABLE"),
 *                                   unexamined
 *   register-delay=MS               the answer to Register is held back, and ListAndWatch with it
 *   register-hang                   Register is never answered
 *   connection-silent               kubelet.sock accepts and never says anything
 *   connection-garbage              kubelet.sock accepts, writes bytes that are not HTTP/2, closes
 *   connection-close                kubelet.sock accepts and closes at once
 *   connection-refuse               kubelet.sock is there, but nobody listens
 *   socket-absent                   kubelet.sock is removed
 *   list-stall                      ListAndWatch is not read: flow control stops the plugin
 *
 * The connection-* faults and socket-absent exclude each other: the last one counts.
 * ERROR_ARGUMENT names what is wrong; errors of the file system.
 */
int kubelet_fault_set(struct kubelet *kubelet, const char *spec, struct error *err);

/* Whether `spec` could be set, without setting it. ERROR_ARGUMENT names what is wrong. */
int kubelet_fault_check(const char *spec, struct error *err);

/* Their names, NULL-ended, in the order above. */
const char *const *kubelet_fault_names(void);
