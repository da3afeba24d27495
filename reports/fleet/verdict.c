/* SPDX-License-Identifier: MIT */
#include "reports/fleet/fleet.h"

#include "base/digest.h"
#include "base/members.h"
#include "reports/environment.h"
#include "reports/view.h"

#include <string.h>

enum { STRING_MAX = 160, WORD_MAX = 96, FAILED_MAX = 16, REASON_MAX = 600, PUSH_REASON_MAX = 240 };

/* Adds the members that are long only in an untrusted report. */
static void add_details(struct members *json, const cJSON *report)
{
	static const char *const sections[] = {"drivers", "os", "plugin"};
	size_t count = 0;
	struct members failed = member_array(json, "failed");
	json_each (check, json_pointer(report, "/checks")) {
		if (report_outcome_is_bad(report_outcome_of(view_string(check, "/outcome"))) &&
		    count++ < FAILED_MAX)
			member_cut(&failed, NULL, view_string(check, "/id"), STRING_MAX);
	}
	member_int(json, "failedCount", (int64_t)count);
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		struct text name CLEANUP_TEXT = {0};
		environment_add_names(sections[i], json_pointer(report, "/environment"), &name);
		member_cut(json, sections[i], text_string(&name), STRING_MAX);
	}
}

static char *verdict(const cJSON *report, int64_t exit_code, const char *why,
		     const struct fleet_push *push, bool details)
{
	static const char *const words[][2] = {{"result", "/verdict/conformance/result"},
					       {"state", "/run/state"},
					       {"started", "/run/started"},
					       {"journal", "/run/journal/digest"}};
	struct members json CLEANUP_MEMBERS = members_new();
	member_string(&json, "schema", FLEET_VERDICT_SCHEMA);
	member_int(&json, "exitCode", exit_code);
	for (size_t i = 0; report != NULL && i < ARRAY_SIZE(words); i++)
		member_cut(&json, words[i][0], view_string(report, words[i][1]), WORD_MAX);
	if (report == NULL) {
		member_cut(&json, "error", why, REASON_MAX);
	} else {
		member_int(&json, "checks", view_int(report, "/totals/checks"));
		member_int(&json, "passed", view_int(report, "/totals/outcome/pass"));
	}
	/* A place has no characters that JSON escapes. */
	if (report != NULL && push != NULL && push->place != NULL)
		member_cut(&json, "pushed", push->place, FLEET_PLACE_MAX + DIGEST_SIZE);
	else if (report != NULL && push != NULL)
		member_cut(&json, "notPushed", push->why, PUSH_REASON_MAX);
	if (details)
		add_details(&json, report);
	return json_print_compact(json.object);
}

void fleet_verdict_add(const cJSON *report, int64_t exit_code, const char *why,
		       const struct fleet_push *push, struct text *out)
{
	char *whole CLEANUP_FREE = verdict(report, exit_code, why, push, report != NULL);
	char *small CLEANUP_FREE = verdict(report, exit_code, why, push, false);
	text_addf(out, "%s\n", strlen(whole) < FLEET_VERDICT_MAX ? whole : small);
}
