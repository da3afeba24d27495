/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Which mounts of the node's files expose the node. The rule is by places, and the most specific one that holds the
 * path applies:
 *
 *   - Whatever is writable is a finding, except data of drivers and plugins: what lies below /run,
 *     /var/lib, /var/tmp, /tmp, /opt, /srv, /mnt, /dev/shm and /usr/local in a folder that is not the
 *     system's, or outside the system's folders (/data/driver). These folders themselves are everybody's.
 *   - Read-only mounts are harmless where every user of the node may read the files: /usr, /sys and /dev,
 *     and in /etc, /var, /home and /boot the files whose permissions allow it. Drivers lie in all of these (GKE: below /home),
 *     so a plugin that mounts more public files than a driver needs exposes nothing.
 *   - Nothing of /proc, of /root, of kubelet, container runtimes and service managers, of credentials, or
 *     of this run is harmless: their sockets and secrets control the node.
 *   - Instances of the kernel's own file systems are findings wherever they are mounted.
 */

#include "base/error.h"
#include "conformance/runner/context.h"

#include <stdbool.h>

struct host_places;

#define CLEANUP_HOST_PLACES __attribute__((cleanup(host_places_free)))

/* The folders of the run and the address of its container runtime are places as well. */
struct host_places *host_places_new(const struct context *context);
void host_places_free(struct host_places **places);

/* The place that a mount of `path` exposes: "/etc", "/run/containerd", "the proc file system"; NULL:
 * none. `path` is the node's, by any name: symbolic links are followed, and another mount of a place is
 * that place. `type` is its file system; NULL: unknown. The result lives as long as the places. */
const char *host_places_given(struct host_places *places, const char *path, const char *type,
			      bool read_only);

/* Is it a file system of the kernel itself ("proc", "tracefs")? */
bool host_places_is_kernel_type(const char *type);
