/* SPDX-License-Identifier: MIT */
#pragma once

/* Attempts to register (registration.c), also those of the plugin watcher (watcher.c). */

#include "conformance/kubelet/state.h"

void registration_handle(struct rpc_stream *stream, struct rpc_slice bytes, void *user);
typedef void registration_done(const struct kubelet_registration *registration, void *user);
/* An attempt of the plugin watcher; `done` tells the outcome and may be called before this returns.
 */
int registration_by_watcher(struct kubelet *kubelet, const char *resource, const char *endpoint,
			    const char *versions, registration_done *done, void *user,
			    struct error *err);
void registrations_forget_user(struct kubelet *kubelet, const void *user);
void registrations_stop(struct kubelet *kubelet); /* nothing runs any more */
void registrations_free(struct kubelet *kubelet);

int watcher_start(struct kubelet *kubelet, struct error *err);
void watcher_stop(struct kubelet *kubelet);
