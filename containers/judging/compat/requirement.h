/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The conditions that an image puts on the driver in its NVIDIA_REQUIRE_* variables
 * (nvidia-container-toolkit, internal/requirements):
 *
 *   requirement = term { " " term }             one of the terms holds
 *   term        = condition { "," condition }   all conditions hold
 *   condition   = property operator value       "cuda>=12.4", "brand=tesla"
 *
 * Properties are cuda, driver and arch, which are versions, and brand, a word; operators are >=, <=,
 * !=, =, > and <. Conditions on other properties are ignored, and so are empty ones.
 */

#include "base/error.h"

/* An unknown property is "". */
struct requirement_facts {
	const char *cuda, *driver, *arch, *brand;
	/* NULL: `cuda` is exact. Otherwise the driver runs at least `cuda` and less than this; "": no upper
	 * limit. */
	const char *cuda_below;
};

enum requirement_answer { REQUIREMENT_MET, REQUIREMENT_UNKNOWN, REQUIREMENT_NOT_MET };

enum { REQUIREMENT_SIZE_MAX = 64 * 1024 };

/* *answer is UNKNOWN when it depends on an unknown property. ERROR_FORMAT: "invalid constraint:
 * 'cuda'", as the toolkit refuses it; ERROR_LIMIT: longer than REQUIREMENT_SIZE_MAX. */
int requirement_evaluate(const char *requirement, const struct requirement_facts *facts,
			 enum requirement_answer *answer, struct error *err);
