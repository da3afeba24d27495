/* SPDX-License-Identifier: MIT */
#pragma once

#include "reports/pages/compare/compare.h"

/* Fills all of `out`, whose names the caller frees, also after an error. ERROR_MEMORY. */
int environments_compare(const cJSON *from, const cJSON *to,
			 struct compare_difference out[COMPARE_PART_COUNT], struct error *err);
