/* SPDX-License-Identifier: MIT */
#pragma once

/* The plan of a small run: three checks, of which the first is expected to fail and the second cannot run. */

#include "base/cleanup.h"
#include "reports/journal.h"

static const struct journal_requirement sample_requirements[] = {
	{.id = "R-1", .level = "must", .sentence = "It holds.", .source = "a text"}};
static const struct journal_planned_check sample_checks[] = {
	{.id = "a.one",
	 .revision = 1,
	 .requirement = "R-1",
	 .severity = "high",
	 .title = "One",
	 .advice = "Do.",
	 .expectation = "entry#1",
	 .expected = REPORT_FAIL},
	{.id = "a.two",
	 .variant = "x",
	 .revision = 2,
	 .severity = "low",
	 .title = "Two",
	 .advice = "Do.",
	 .outcome = REPORT_UNSUPPORTED,
	 .reason = "needs more"},
	{.id = "a.three", .revision = 1, .severity = "low", .title = "Three", .advice = "Do."},
};
static const struct journal_plan sample_plan = {
	.settings = {.launcher = "none", .profile = "1.36"},
	.checks = sample_checks,
	.check_count = ARRAY_SIZE(sample_checks),
	.requirements = sample_requirements,
	.requirement_count = ARRAY_SIZE(sample_requirements),
	.filtered_out = 7,
};
