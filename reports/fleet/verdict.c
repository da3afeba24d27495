/* SPDX-License-Identifier: MIT */
#include "reports/fleet/fleet.h"

#include "base/members.h"
#include "reports/environment.h"
#include "reports/view.h"

#include <string.h>

enum { STRING_MAX = 160, FAILED_MAX = 16, REASON_MAX = 600 };

static void add_name(struct members *json, const char *key, const cJSON *report)
{
	struct text name CLEANUP_TEXT = {0};
	environment_add_names(key, cJSON_GetObjectItemCaseSensitive(report, "environment"), &name);
	member_cut(json, key, text_string(&name), STRING_MAX);
}

/* What is long only in a stranger's report. */
static void add_details(struct members *json, const cJSON *report)
{
	struct members failed CLEANUP_MEMBERS = members_new_array();
	size_t count = 0;
	json_each (check, cJSON_GetObjectItemCaseSensitive(report, "checks")) {
		if (report_outcome_is_bad(report_outcome_of(view_string(check, "/outcome"))) &&
		    count++ < FAILED_MAX)
			member_cut(&failed, NULL, view_string(check, "/id"), STRING_MAX);
	}
	member_item(json, "failed", members_take(&failed));
	member_int(json, "failedCount", (int64_t)count);
	add_name(json, "drivers", report);
	add_name(json, "os", report);
	add_name(json, "plugin", report);
}

void fleet_verdict_add(const cJSON *report, int64_t exit_code, const char *why, struct text *out)
{
	for (bool all = true;; all = false) {
		struct members json CLEANUP_MEMBERS = members_new();
		member_string(&json, "schema", FLEET_VERDICT_SCHEMA);
		member_int(&json, "exitCode", exit_code);
		if (report == NULL) {
			member_cut(&json, "error", why, REASON_MAX);
		} else {
			member_cut(&json, "result",
				   view_string(report, "/verdict/conformance/result"), STRING_MAX);
			member_cut(&json, "state", view_string(report, "/run/state"), STRING_MAX);
			member_cut(&json, "started", view_string(report, "/run/started"),
				   STRING_MAX);
			member_int(&json, "checks", view_int(report, "/totals/checks"));
			member_int(&json, "passed", view_int(report, "/totals/outcome/pass"));
			member_cut(&json, "journal", view_string(report, "/run/journal/digest"),
				   STRING_MAX);
			if (all)
				add_details(&json, report);
		}
		cJSON *line CLEANUP_JSON = members_take(&json);
		char *printed CLEANUP_FREE = json_print_compact(line);
		if (all && strlen(printed) >= FLEET_VERDICT_MAX)
			continue;
		text_addf(out, "%s\n", printed);
		return;
	}
}
