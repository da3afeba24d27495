/* SPDX-License-Identifier: MIT */
#pragma once

/* The items of a check's arrays, which are the same in journal and report. Each is a copy_item_fn.
 */

#include "reports/copy.h"

/* {what, wanted, saw, ok, at, varies}; `at` may be absent or null, `varies` absent. */
int item_copy_assertion(const struct json_at *item, cJSON *array, struct error *err);

/* {name, media, path, digest, bytes, truncated}. An item whose path is in the array already is not
 * added. */
int item_copy_evidence(const struct json_at *item, cJSON *array, struct error *err);
