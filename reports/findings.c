/* SPDX-License-Identifier: MIT */
#include "reports/findings.h"

#include <string.h>

static size_t rank_of(const struct view_check *check)
{
	return text_position(report_level_names, view_string(check->json, "/level")) * 8 +
	       text_position(report_severity_names, view_string(check->json, "/severity"));
}

static int compare(const void *a, const void *b)
{
	const struct view_check *left = *(const struct view_check *const *)a;
	const struct view_check *right = *(const struct view_check *const *)b;
	if (rank_of(left) != rank_of(right))
		return rank_of(left) < rank_of(right) ? -1 : 1;
	return left < right ? -1 : left > right;
}

static bool is_untested(const struct view_check *check)
{
	return check->outcome == REPORT_UNSUPPORTED || check->outcome == REPORT_NOTRUN ||
	       check->unproven;
}

int findings_open(const cJSON *report, struct findings *findings, struct error *err)
{
	const struct view *view = &findings->view;
	struct finding_list *lists[] = {&findings->problems, &findings->expected,
					&findings->untested};
	int rc = view_open(report, &findings->view, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		lists[i]->checks = calloc(view->count + 1, sizeof(*lists[i]->checks));
		if (lists[i]->checks == NULL)
			return error_memory(err);
	}
	for (size_t i = 0; i < view->count; i++) {
		const struct view_check *check = &view->checks[i];
		if (check->disposition == REPORT_UNEXPECTED_FAIL ||
		    check->disposition == REPORT_UNEXPECTED_IMPROVEMENT)
			findings->problems.checks[findings->problems.count++] = check;
		if (check->disposition == REPORT_EXPECTED_FAIL)
			findings->expected.checks[findings->expected.count++] = check;
		if (is_untested(check))
			findings->untested.checks[findings->untested.count++] = check;
	}
	qsort(findings->problems.checks, findings->problems.count,
	      sizeof(*findings->problems.checks), compare);
	return 0;
}

void findings_free(struct findings *findings)
{
	free(findings->problems.checks);
	free(findings->expected.checks);
	free(findings->untested.checks);
	view_free(&findings->view);
}

struct findings_headline findings_headline_of(const cJSON *report)
{
	const char *result = view_string(report, "/verdict/conformance/result");
	bool violated = strcmp(result, "violated") == 0;
	bool conformant = strcmp(result, "conformant") == 0;
	bool unexpected =
		strcmp(view_string(report, "/verdict/expectation/result"), "unexpected") == 0;
	switch (view_int(report, "/verdict/exitCode")) {
	case REPORT_EXIT_EXPECTED:
		if (conformant)
			return (struct findings_headline){FINDINGS_GOOD, "PASSED"};
		return (struct findings_headline){FINDINGS_OPEN, violated ? "EXPECTED" : "PARTIAL"};
	case REPORT_EXIT_UNEXPECTED:
		return (struct findings_headline){FINDINGS_BAD,
						  violated || unexpected ? "FAILED" : "PARTIAL"};
	case REPORT_EXIT_INCOMPLETE:
		return (struct findings_headline){FINDINGS_OPEN, "INCOMPLETE"};
	case REPORT_EXIT_TOO_FEW:
		return (struct findings_headline){FINDINGS_OPEN, "TOO FEW"};
	default:
		return (struct findings_headline){FINDINGS_BAD, "BROKEN"};
	}
}

void findings_add_verdict(const cJSON *report, struct text *out)
{
	const char *state = view_string(report, "/run/state");
	const cJSON *outcomes = json_pointer(report, "/totals/outcome");
	text_addf(out, "%lld of %lld checks passed",
		  (long long)view_int(report, "/totals/outcome/pass"),
		  (long long)(view_int(report, "/totals/checks") -
			      view_int(report, "/totals/outcome/not-applicable")));
	for (int i = REPORT_PASS + 1; i < REPORT_OUTCOME_COUNT; i++) {
		const cJSON *count =
			cJSON_GetObjectItemCaseSensitive(outcomes, report_outcome_names[i]);
		if (count != NULL && count->valueint != 0)
			text_addf(out, ", %d %s", count->valueint, report_outcome_names[i]);
	}
	if (strcmp(state, "complete") != 0)
		text_addf(out, "; run %s", state);
	text_add(out, "; ");
	view_add_conformance(report, out);
}

bool findings_add_fixed(const struct findings *findings, struct text *out)
{
	const struct view_check *first = NULL;
	size_t more = 0;
	for (size_t i = 0; i < findings->view.count; i++) {
		const struct view_check *check = &findings->view.checks[i];
		if (check->disposition != REPORT_UNEXPECTED_IMPROVEMENT)
			continue;
		more += first != NULL;
		first = first != NULL ? first : check;
	}
	if (first == NULL)
		return false;
	text_addf(out, "%s %s now: remove the expectation %s", first->id,
		  first->outcome == REPORT_PASS ? "passes" : "ends better",
		  view_string(first->json, "/expected/entry"));
	if (more > 0)
		text_addf(out, " (and %zu more)", more);
	const char *why = view_string(first->json, "/expected/why");
	text_addf(out, "%s%s", why[0] != '\0' ? "; it was expected because: " : "", why);
	return true;
}

static bool same_reason(const struct view_check *a, const struct view_check *b)
{
	return a->outcome == b->outcome && strcmp(a->reason, b->reason) == 0;
}

size_t findings_alike(const struct finding_list *list, size_t index)
{
	size_t alike = 0;
	for (size_t i = 0; i < list->count; i++) {
		if (!same_reason(list->checks[i], list->checks[index]))
			continue;
		if (i < index)
			return 0;
		alike++;
	}
	return alike;
}

size_t findings_left(const struct finding_list *list)
{
	return list->count > list->told ? list->count - list->told : 0;
}

size_t findings_held(const struct findings *findings, const struct view_check *problem)
{
	size_t count = 0;
	for (size_t i = 0; i < findings->problems.count; i++) {
		const struct view_check *cause = findings->problems.checks[i];
		for (size_t k = 0; same_reason(cause, problem) && k < findings->view.count; k++)
			count += strcmp(findings->view.checks[k].cause, cause->id) == 0 ? 1 : 0;
	}
	return count;
}

bool findings_is_held(const struct findings *findings, const struct view_check *check)
{
	for (size_t i = 0; i < findings->problems.count; i++) {
		if (strcmp(check->cause, findings->problems.checks[i]->id) == 0)
			return true;
	}
	return false;
}
