/* SPDX-License-Identifier: MIT */
#pragma once

/* Specs of the Container Device Interface: writes one for devices of a node, and checks existing ones. */

#include "base/error.h"
#include "base/text.h"
#include "reference-plugin/answer/answer.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

#define CDI_KIND ANSWER_CDI_KIND
#define CDI_FILE "gpucert.internal-gpu.json" /* the file name of that kind according to SPEC.md */

/*
 * A Spec of kind CDI_KIND for the request's devices: each is a device, named by its id, with the edits
 * of the answer for it; "all" has the answer for all of them, which joins variables that list drivers.
 * The Spec declares the oldest version of CDI that has its fields.
 *
 * Where the devices contradict each other there is no "all", and `notes` has the reason.
 *
 * ERROR_UNSUPPORTED: devices of Windows; those of answer_build() for one device. Caller owns *out.
 */
int cdi_write(const struct answer_request *request, struct text_list *notes, cJSON **out,
	      struct error *err);

/*
 * Checks files and folders, later ones with priority, and adds to `report` for each file whether a
 * runtime accepts it ("FILE: ok: ..." or "FILE: DEFECT: why"), and the devices in conflict. *usable:
 * nothing is wrong. Errors are those of cdi_registry_read().
 */
int cdi_check(const struct text_list *places, bool *usable, struct text *report, struct error *err);
