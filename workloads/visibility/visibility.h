/* SPDX-License-Identifier: MIT */
#pragma once

/* probe-visibility: the GPUs that a container shows, without working on them: the devices that each
 * API lists, and the device nodes. */

#include "workloads/common/api.h"

/* isolate.c: an element of `apis`, {api, platforms?, devices}, asked in a separate process, so that a
 * driver that crashes, exits or hangs costs only the answer of that API. The process runs this program
 * with "--api NAME" and the present environment; one that does not answer becomes an API whose status is
 * "failed", with its end as the reason. */
cJSON *isolate_enumerate(const struct api_driver *api, uint64_t timeout_ms);

/* The same element, asked in this process. The session is left open: a driver's clean-up is not
 * tested. */
cJSON *isolate_ask(const struct api_driver *api);

/* The `nodes` of a document: the nodes below `root` (normally "/dev"), reported as below /dev, in a
 * fixed order: by directory, then by name. With `try_open` each device node is opened and closed
 * again; otherwise the results are null. ERROR_IO: a directory cannot be read. */
int nodes_list(const char *root, bool try_open, cJSON **out, struct error *err);

/*
 * The `reach` of a document: tries operations that a container must not be able to do, and undoes them.
 * Makes a device node and opens it; tries to read and to write each node in the folder `planted` (NULL:
 * none; DRM nodes are opened, for others the kernel is asked); opens each mounted file for writing and
 * makes a file in each mounted folder, if need be after a remount without "read-only"; inspects
 * /proc/1/root. Only for a container that is thrown away: without isolation it acts on the host. null on
 * Windows. ERROR_IO: the mounts cannot be listed.
 */
int reach_try(const char *planted, cJSON **out, struct error *err);

/* posix/nodes.c, for this folder: adds "ok", or the name of errno: "EPERM". */
void member_outcome(struct members *members, const char *key, bool held);
/* The same of open(), with these flags. */
void member_try_open(struct members *members, const char *key, const char *path, int flags);

/* Removes every variable from the environment of this process that is not an image's or the system's
 * own (PATH, HOME, LD_LIBRARY_PATH, ...): any other may hide a device. Returns whether some were set. */
bool steering_remove(void);

/* Makes a folder for the caches of drivers and names it in their variables. For the caller to remove and
 * to free; NULL: none can be made. */
char *steering_make_caches(void);
