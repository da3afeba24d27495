/* SPDX-License-Identifier: MIT */
#pragma once

/* An answer as flags for the programs that start containers. */

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
 * Windows (from the sources of each): ctr accepts IDType://ID, and mounts without a type; so does
 * nerdctl, with --volume because its --mount is not implemented there; docker accepts class/GUID, and no
 * mounts of single files, which the first interface of the Host Compute Service does not have: those of
 * the answer are left out. nerdctl and docker get process isolation, the only one with devices.
 *
 * ERROR_UNSUPPORTED: the tool cannot express a part (ctr: a device node under another path; nerdctl and
 * docker: a colon in a path of Linux; docker: a location path of Windows).
 */
int container_flags_add(struct text_list *flags, enum container_tool tool, bool windows,
			const V1beta1__ContainerAllocateResponse *answer, struct error *err);

/* The members devices, mounts and envs of a ContainerConfig (runtime.v1), as crictl reads them. */
cJSON *container_config(const V1beta1__ContainerAllocateResponse *answer);
