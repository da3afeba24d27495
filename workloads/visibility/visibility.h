/* SPDX-License-Identifier: MIT */
#pragma once

/* probe-visibility: what a container shows of GPUs, without working on them: the devices that each
 * API tells, and the device nodes. */

#include "workloads/common/api.h"

/* isolate.c: an element of `apis`, {api, platforms?, devices}, asked in a process of its own, so that
 * a driver that crashes, exits or hangs costs the answer of that API and no other. The process is
 * this program once more, with "--api NAME" and the present environment; one that does not answer
 * becomes an API whose status is "failed", with what happened to it as reason. NULL: out of memory. */
cJSON *isolate_enumerate(const struct api_driver *api, uint64_t timeout_ms);

/* The same element, asked in this process. The session is left open: what a driver does at its end
 * is not asked. NULL: out of memory. */
cJSON *isolate_ask(const struct api_driver *api);

/* The `nodes` of a document: what is below `root` (normally "/dev"), told as below /dev, in a
 * fixed order: by directory, then by name. With `try_open` each device node is opened and closed
 * again; otherwise the results are null. ERROR_MEMORY; ERROR_IO: a directory cannot be read. */
int nodes_list(const char *root, bool try_open, cJSON **out, struct error *err);

/*
 * The `reach` of a document: tries what a container must not be able to do, and undoes it. Makes a
 * device node and opens it; tries to read and to write each node in the folder `planted` (NULL: none;
 * those of DRM are opened, of others the kernel is asked); opens each mounted file for writing and makes a file in each mounted
 * folder, if need be after a remount without "read-only"; looks through /proc/1/root. Only for a
 * container that is thrown away: where there is no isolation it acts on the host. null on Windows.
 * ERROR_MEMORY; ERROR_IO: the mounts cannot be listed.
 */
int reach_try(const char *planted, cJSON **out, struct error *err);

/* Removes every variable from the environment of this process that is not an image's or the system's
 * own (PATH, HOME, LD_LIBRARY_PATH, ...): any other may hide a device. *steered: there were some.
 * ERROR_MEMORY. */
int steering_remove(bool *steered, struct error *err);

/* Makes a folder for the caches of drivers and names it in their variables. *folder: for the caller to
 * remove and to free; NULL: none can be made. ERROR_MEMORY. */
int steering_make_caches(char **folder, struct error *err);
