/* SPDX-License-Identifier: MIT */
#include "base/members.h"
#include "workloads/common/render.h"

static cJSON *first_json(const struct render_report *report)
{
	struct members first CLEANUP_MEMBERS = members_new();
	char expected[RENDER_COLOUR_TEXT] = "";
	char actual[RENDER_COLOUR_TEXT] = "";

	if (report->mismatches == 0)
		return cJSON_CreateNull();
	render_colour_text(report->expected, expected);
	render_colour_text(report->actual, actual);
	member_number(&first, "x", (double)report->x);
	member_number(&first, "y", (double)report->y);
	member_string(&first, "expected", expected);
	member_string(&first, "actual", actual);
	return members_take(&first);
}

cJSON *render_report_json(const struct render_report *report)
{
	struct members render CLEANUP_MEMBERS = members_new();

	if (!report->done)
		return cJSON_CreateNull();
	member_number(&render, "pixels", RENDER_SIZE * RENDER_SIZE);
	member_number(&render, "mismatches", (double)report->mismatches);
	member_item(&render, "firstMismatch", first_json(report));
	return members_take(&render);
}
