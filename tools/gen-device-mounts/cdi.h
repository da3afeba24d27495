/* SPDX-License-Identifier: MIT */
#pragma once

/* Specs of the Container Device Interface: one for devices of a node, and a check of those of
 * others. */

#include "base/error.h"
#include "base/text.h"
#include "reference-plugin/answer/answer.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

#define CDI_KIND ANSWER_CDI_KIND
#define CDI_FILE "gpucert.internal-gpu.json" /* as SPEC.md names the file of that kind */

/*
 * A Spec of kind CDI_KIND for the request's devices: each is a device with the edits that make a
 * container's answer for it alone, named by its id; "all" has the answer for all of them, which is
 * more than theirs side by side, because variables that list drivers are joined in it. The Spec
 * declares the least version of CDI with what it uses.
 *
 * Where the devices contradict each other there is no "all", and `notes` says why.
 *
 * ERROR_UNSUPPORTED: devices of Windows; those of answer_build() for one device; ERROR_MEMORY.
 * Caller owns *out.
 */
int cdi_write(const struct answer_request *request, struct text_list *notes, cJSON **out,
	      struct error *err);

/*
 * Checks files and folders, later ones with priority, and says in `report` of each file whether a
 * runtime takes it ("FILE: ok: ..." or "FILE: DEFECT: why"), and which devices are in conflict.
 * *usable: nothing is wrong. Errors are those of cdi_registry_read().
 */
int cdi_check(const struct text_list *places, bool *usable, struct text *report, struct error *err);
