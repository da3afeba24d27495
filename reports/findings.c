/* SPDX-License-Identifier: MIT */
#include "reports/findings.h"

#include "base/memory.h"

static size_t rank_of(const struct view_check *check)
{
	return text_position(report_level_names, view_string(check->json, "/level")) * 8 +
	       text_position(report_severity_names, view_string(check->json, "/severity"));
}

/* By rank, then in the order of the report. */
static int compare(const void *a, const void *b)
{
	const struct view_check *left = ((const struct finding *)a)->check;
	const struct view_check *right = ((const struct finding *)b)->check;
	if (rank_of(left) != rank_of(right))
		return rank_of(left) < rank_of(right) ? -1 : 1;
	return left < right ? -1 : left > right;
}

static bool is_problem(const struct view_check *check)
{
	return check->disposition == REPORT_UNEXPECTED_FAIL ||
	       check->disposition == REPORT_UNEXPECTED_IMPROVEMENT;
}

bool finding_has(const struct finding *finding, const struct view_check *check)
{
	return finding->check->outcome == check->outcome &&
	       finding->check->disposition == check->disposition &&
	       text_equal(finding->check->reason, check->reason);
}

/* The finding that the check belongs to; the end of `items`: none yet. */
static struct finding *place_of(const struct finding_list *list, const struct view_check *check)
{
	struct finding *item = list->items;
	while (item < list->items + list->count && !finding_has(item, check))
		item++;
	return item;
}

static struct finding *add(struct finding_list *list, const struct view_check *check)
{
	struct finding *finding = place_of(list, check);
	if (finding->alike++ == 0) {
		finding->check = check;
		list->count++;
	}
	list->checks++;
	return finding;
}

int findings_open(const cJSON *report, struct findings *findings, struct error *err)
{
	const struct view *view = &findings->view;
	struct finding_list *problems = &findings->problems;
	int rc = view_open(report, &findings->view, err);
	if (rc < 0)
		return rc;
	problems->items = memory_allocate(view->count + 1, sizeof(*problems->items));
	findings->expected.items = memory_allocate(view->count + 1, sizeof(*problems->items));
	findings->untested.items = memory_allocate(view->count + 1, sizeof(*problems->items));

	for (size_t i = 0; i < view->count; i++) {
		const struct view_check *check = &view->checks[i];
		if (is_problem(check)) {
			struct finding *problem = add(problems, check);
			if (rank_of(check) < rank_of(problem->check))
				problem->check = check;
		}
		if (check->disposition == REPORT_EXPECTED_FAIL)
			(void)add(&findings->expected, check);
	}

	for (size_t i = 0; i < view->count; i++) {
		const struct view_check *check = &view->checks[i];
		struct finding *holder = NULL;
		if (check->outcome != REPORT_UNSUPPORTED && check->outcome != REPORT_NOTRUN &&
		    !check->unproven)
			continue;
		/* The problem that kept the check from running. */
		for (size_t k = 0; check->cause[0] != '\0' && k < view->count; k++) {
			const struct view_check *cause = &view->checks[k];
			if (is_problem(cause) && text_equal(cause->id, check->cause)) {
				holder = place_of(problems, cause);
				break;
			}
		}
		if (holder != NULL) {
			holder->held++;
			findings->untested.checks++;
		} else {
			(void)add(&findings->untested, check);
		}
	}

	qsort(problems->items, problems->count, sizeof(*problems->items), compare);
	return 0;
}

void findings_free(struct findings *findings)
{
	free(findings->problems.items);
	free(findings->expected.items);
	free(findings->untested.items);
	view_free(&findings->view);
}

struct findings_headline findings_headline_of(const cJSON *report)
{
	bool violated = view_is(report, "/verdict/conformance/result", "violated");
	bool conformant = view_is(report, "/verdict/conformance/result", "conformant");
	bool unexpected = view_is(report, "/verdict/expectation/result", "unexpected");
	switch (view_int(report, "/verdict/exitCode")) {
	case REPORT_EXIT_EXPECTED:
		if (conformant)
			return (struct findings_headline){DOC_GOOD, "PASSED"};
		return (struct findings_headline){DOC_WARN, violated ? "EXPECTED" : "PARTIAL"};
	case REPORT_EXIT_UNEXPECTED:
		return (struct findings_headline){DOC_BAD,
						  violated || unexpected ? "FAILED" : "PARTIAL"};
	case REPORT_EXIT_INCOMPLETE:
		return (struct findings_headline){DOC_WARN, "INCOMPLETE"};
	case REPORT_EXIT_TOO_FEW:
		return (struct findings_headline){DOC_WARN, "TOO FEW"};
	default:
		return (struct findings_headline){DOC_BAD, "BROKEN"};
	}
}

void findings_add_verdict(const cJSON *report, struct text *out)
{
	const char *state = view_string(report, "/run/state");
	const cJSON *outcomes = json_pointer(report, "/totals/outcome");
	const int64_t known = view_int(report, "/totals/disposition/expected-fail");
	if (text_equal(findings_headline_of(report).word, "EXPECTED"))
		text_addf(out, "%lld known failure%s; ", (long long)known, known == 1 ? "" : "s");
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
	if (!text_equal(state, "complete"))
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

bool findings_add_kubelets(const cJSON *report, struct text *out)
{
	struct text failing CLEANUP_TEXT = {0};
	json_each (kubelet, json_pointer(report, "/verdict/kubelets")) {
		const char *version = view_string(kubelet, "/version");
		const char *before = " but for ";
		const cJSON *failed = json_pointer(kubelet, "/failed");
		if (json_first(failed) == NULL) {
			text_addf(out, "%s%s", out->size != 0 ? " and " : "", version);
			continue;
		}
		text_addf(&failing, "%s%s", failing.size != 0 ? "; " : "", version);
		json_each (check, failed) {
			text_addf(&failing, "%s%s", before, view_string(check, ""));
			before = ", ";
		}
	}
	/* A plugin that violates a MUST works correctly with none of them. */
	if (failing.size == 0 && view_is(report, "/verdict/conformance/result", "violated"))
		text_reset(out);
	if (failing.size == 0)
		return true;
	text_addf(out, "%s%s", out->size != 0 ? "; " : "", text_string(&failing));
	return false;
}

static void add_alike(const struct finding *finding, struct text *out)
{
	if (finding->alike > 1)
		text_addf(out, " and %zu more", finding->alike - 1);
}

void finding_add_name(const struct finding *finding, struct text *out)
{
	text_add(out, finding->check->id);
	add_alike(finding, out);
}

void finding_add_story(const struct finding *finding, struct text *out)
{
	const cJSON *check = finding->check->json;
	const enum report_disposition disposition = finding->check->disposition;
	const char *requirement = view_string(check, "/requirement");
	const char *entry = view_string(check, "/expected/entry");

	add_alike(finding, out);
	if (requirement[0] != '\0')
		text_addf(out, " (%s %s)", view_string(check, "/level"), requirement);
	if (finding->held > 0)
		text_addf(out, ", %zu check%s not run because of it", finding->held,
			  finding->held == 1 ? "" : "s");
	if (disposition == REPORT_UNEXPECTED_IMPROVEMENT)
		text_addf(out, ", better than expected, remove the expectation %s", entry);
	if (disposition == REPORT_EXPECTED_FAIL)
		text_addf(out, ", expected by %s", view_expected_by(check));
}
