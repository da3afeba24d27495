/* SPDX-License-Identifier: MIT */
#pragma once

/* An answer in the words of the programs that start containers. */

#include "base/error.h"
#include "base/text.h"
#include "reference-plugin/answer/answer.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

enum container_tool { TOOL_CTR, TOOL_NERDCTL, TOOL_DOCKER, TOOL_CDI /* no flags: see cdi.h */ };

extern const char *const container_tools[]; /* their names, NULL-ended */

/*
 * The flags for `TOOL run`, one string each, appended. All mounts are read-only.
 *
 * Windows (from the sources of each): ctr takes IDType://ID, and mounts without a type; nerdctl the
 * same, and
 * --volume because its --mount is not implemented there; docker takes class/GUID, and no mounts of
 * single files, which the first interface of the Host Compute Service does not have: those of the
 * answer are left out. nerdctl and docker are told to use process isolation, the only one with
 * devices.
 *
 * ERROR_UNSUPPORTED: what the tool cannot express (ctr: a device node under another path; nerdctl
 * and docker: a colon in a path of Linux; docker: a location path of Windows); ERROR_MEMORY.
 */
int container_flags_add(struct text_list *flags, enum container_tool tool, bool windows,
			const V1beta1__ContainerAllocateResponse *answer, struct error *err);

/* The members devices, mounts and envs of a ContainerConfig (runtime.v1), as crictl reads them.
 * NULL: out of memory. */
cJSON *container_config(const V1beta1__ContainerAllocateResponse *answer);
