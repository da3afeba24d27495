/* SPDX-License-Identifier: MIT */
#include "base/members.h"
#include "reports/render.h"
#include "reports/view.h"
#include "reports/writer.h"

#include <string.h>

enum { REASON_MAX = 2000 }; /* bytes; report.json has the rest */

static const char failed[] = "failed", passed[] = "passed", unknown[] = "unknown";

static const char *status_of(const struct view_check *check)
{
	static const char *const statuses[REPORT_OUTCOME_COUNT] = {
		[REPORT_PASS] = passed,		  [REPORT_FAIL] = failed,
		[REPORT_UNSUPPORTED] = "skipped", [REPORT_NOT_APPLICABLE] = "skipped",
		[REPORT_CRASH] = failed,	  [REPORT_TIMEOUT] = "timeout",
		[REPORT_BROKEN] = unknown,	  [REPORT_NOTRUN] = unknown,
	};
	if (check->disposition == REPORT_EXPECTED_FAIL)
		return "skipped";
	if (check->disposition == REPORT_UNEXPECTED_IMPROVEMENT)
		return failed;
	return statuses[check->outcome];
}

/* Sonobuoy does not compute the status of the whole from the items, but believes this one. */
static const char *status_of_run(const struct view *view, int exit_code)
{
	bool any_passed = false;
	for (size_t i = 0; i < view->count; i++) {
		const char *status = status_of(&view->checks[i]);
		if (status == failed || text_equal(status, "timeout"))
			return failed;
		any_passed = any_passed || status == passed;
	}
	if (exit_code == REPORT_EXIT_UNEXPECTED)
		return failed;
	return exit_code == REPORT_EXIT_EXPECTED && any_passed ? passed : unknown;
}

int sonobuoy_write(const cJSON *report, const struct writer_options *options, struct text *out,
		   struct error *err)
{
	struct view view CLEANUP_VIEW = {0};
	struct members root CLEANUP_MEMBERS = members_new();
	struct text conformance CLEANUP_TEXT = {0};
	const int exit_code = report_exit_code(report);
	int rc = view_open(report, &view, err);
	(void)options;
	if (rc < 0)
		return rc;

	member_string(&root, "name", "gpucert");
	member_string(&root, "status", status_of_run(&view, exit_code));
	view_add_conformance(report, &conformance);
	struct members run = member_object(&root, "details");
	member_string(&run, "conformance", text_string(&conformance));
	member_int(&run, "exitCode", exit_code);
	member_string(&run, "journal", view_string(report, "/run/journal/digest"));

	struct members items = member_array(&root, "items");
	for (size_t i = 0; i < view.count; i++) {
		const struct view_check *check = &view.checks[i];
		struct members item = member_object(&items, NULL);
		member_string(&item, "name", check->id);
		member_string(&item, "status", status_of(check));
		struct members details = member_object(&item, "details");
		member_string(&details, "title", view_string(check->json, "/title"));
		member_string(&details, "outcome", report_outcome_names[check->outcome]);
		member_optional(&details, "disposition", view_string(check->json, "/disposition"));
		member_cut(&details, "reason", check->reason, REASON_MAX);
		member_optional(&details, "requirement", view_string(check->json, "/requirement"));
		member_int(&details, "durationMs", check->duration_ms);
		member_copy(&details, "evidence", json_pointer(check->json, "/evidence"));
	}

	char *json CLEANUP_FREE = json_print(root.object);

	/* YAML refuses U+FFFE and U+FFFF, which JSON contains unescaped. */
	for (char *at = json; (at = strstr(at, "\xef\xbf")) != NULL; at += 3) {
		if ((unsigned char)at[2] > 0xbd)
			at[2] = '\xbd';
	}
	text_add(out, json);
	return 0;
}
