/* SPDX-License-Identifier: MIT */
#pragma once

/* Reports that can be compared byte by byte: members that differ between two runs in one
 * environment get fixed values. reports/schema/report.schema.json marks exactly these members with
 * x-volatile. What an assertion saw is "*" where the assertion says that it varies, and so in the
 * reasons that are made of it. */

#include "base/json.h"

struct volatile_member {
	const char *pointer; /* JSON pointer in which "*" is every item or member */
	const char *value;   /* its fixed value, as JSON */
};

extern const struct volatile_member volatile_members[]; /* ended by {NULL, NULL} */

int report_make_reproducible(cJSON *report, struct error *err);
