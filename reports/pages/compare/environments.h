/* SPDX-License-Identifier: MIT */
#pragma once

#include "reports/pages/compare/compare.h"

/* Compares what two reports are about, part by part. The caller frees the names. */
void environments_compare(const cJSON *from, const cJSON *to,
			  struct compare_difference out[COMPARE_PART_COUNT]);
