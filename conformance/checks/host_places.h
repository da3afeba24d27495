/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What of the node no container may be given: whoever holds it holds the node (its root, the files
 * of its kernel, its configuration, the sockets and folders of kubelet and container runtime), or
 * may write to it (its programs, accounts, timers, boot files).
 */

#include "base/error.h"

#include <stdbool.h>

struct host_places;

#define CLEANUP_HOST_PLACES __attribute__((cleanup(host_places_free)))

/* `cri_address` is the address of this run's container runtime, "" without one. ERROR_MEMORY. */
int host_places_new(const char *cri_address, struct host_places **out, struct error *err);
void host_places_free(struct host_places **places);

/* The place that a mount of `path` hands out: "/etc", "/run/containerd"; NULL: none. `path` is the
 * node's, by any name: symbolic links are followed, and another mount of a place is that place.
 * ERROR_MEMORY. */
int host_places_given(const struct host_places *places, const char *path, bool read_only,
		      const char **given, struct error *err);
