/* SPDX-License-Identifier: MIT */
#pragma once

/* Which checks `gpucert run` selects beyond its patterns. */

#include "base/text.h"
#include "conformance/runner/plan.h"

/* --shard: "I/N". ERROR_ARGUMENT. */
int run_selection_shard(const char *shard_of, struct plan_filter *filter, struct error *err);

/* --from and --only: adds the checks of a report that ended with one of the outcomes `only` (commas
 * between them; NULL: those that did not pass) to `include`, which must be empty. ERROR_ARGUMENT,
 * also when there is none; those of report_file_read(). */
int run_selection_from(const char *from, const char *only, struct text_list *include,
		       struct error *err);
