/* SPDX-License-Identifier: MIT */
#include "reports/pages/compare/compare.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text_index.h"
#include "reports/pages/compare/environments.h"

#include <stdlib.h>
#include <string.h>

const char *const compare_kind_names[] = {"regression",	    "fix",  "changed", "new", "gone",
					  "not-comparable", "same", NULL};

static bool has_no_answer(enum report_outcome outcome)
{
	return outcome == REPORT_BROKEN || outcome == REPORT_NOTRUN;
}

/* Both reports have the check. */
static enum compare_kind kind_of(const struct comparison *it, const struct view_check *from,
				 const struct view_check *to)
{
	if (view_int(from->json, "/revision") != view_int(to->json, "/revision"))
		return COMPARE_NOT_COMPARABLE;
	if (from->outcome == to->outcome)
		return COMPARE_SAME;

	/* Whether a rule applies depends on the system and devices of the node, not on their
	 * versions. */
	if (from->outcome == REPORT_PASS && to->outcome == REPORT_NOT_APPLICABLE) {
		const struct compare_difference *node = &it->differences[COMPARE_NODE];
		const bool another_node = !view_is(it->from, "/environment/os/name",
						   view_string(it->to, "/environment/os/name")) ||
					  it->differences[COMPARE_DEVICE].is ||
					  (node->is && !node->follows);
		return another_node ? COMPARE_CHANGED : COMPARE_REGRESSION;
	}
	if (from->outcome == REPORT_PASS)
		return COMPARE_REGRESSION;
	if (has_no_answer(from->outcome) || has_no_answer(to->outcome))
		return COMPARE_NOT_COMPARABLE;
	if (to->outcome == REPORT_PASS && report_outcome_is_bad(from->outcome))
		return COMPARE_FIX;
	return COMPARE_CHANGED;
}

static void add(struct comparison *it, enum compare_kind kind, const struct view_check *from,
		const struct view_check *to)
{
	it->changes[it->count++] = (struct compare_change){.kind = kind, .from = from, .to = to};
	it->kinds[kind]++;
}

/* By kind, then in the order in which they were added. */
static int by_kind(const void *a, const void *b)
{
	const struct compare_change *x = a;
	const struct compare_change *y = b;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->to == NULL || y->to == NULL)
		return x->from < y->from ? -1 : x->from > y->from;
	return x->to < y->to ? -1 : x->to > y->to;
}

static char *conformance_of(const cJSON *report)
{
	struct text conformance CLEANUP_TEXT = {0};
	view_add_conformance(report, &conformance);
	return text_take(&conformance);
}

int comparison_make(const cJSON *from, const cJSON *to, struct comparison *out, struct error *err)
{
	struct comparison made CLEANUP_COMPARISON = {
		.from = from, .to = to, .from_path = "", .to_path = ""};
	int rc = view_open(from, &made.from_view, err);
	if (rc == 0)
		rc = view_open(to, &made.to_view, err);
	if (rc < 0)
		return rc;

	environments_compare(from, to, made.differences);
	made.conformance.from = conformance_of(from);
	made.conformance.to = conformance_of(to);
	made.conformance.is = !text_equal(made.conformance.from, made.conformance.to);
	made.changes = memory_allocate(made.from_view.count + made.to_view.count + 1,
				       sizeof(*made.changes));

	/* Checks belong together by their ids. */
	struct text_index known CLEANUP_TEXT_INDEX = {0};
	bool *matched CLEANUP_FREE = memory_allocate(made.from_view.count, sizeof(*matched));
	size_t place = 0;
	for (size_t i = 0; i < made.from_view.count; i++)
		(void)text_index_put(&known, made.from_view.checks[i].id, i);
	for (size_t i = 0; i < made.to_view.count; i++) {
		const struct view_check *after = &made.to_view.checks[i];
		if (!text_index_get(&known, after->id, &place) || matched[place]) {
			add(&made, COMPARE_NEW, NULL, after);
			continue;
		}
		const struct view_check *before = &made.from_view.checks[place];
		matched[place] = true;
		add(&made, kind_of(&made, before, after), before, after);
	}
	for (size_t i = 0; i < made.from_view.count; i++) {
		if (!matched[i])
			add(&made, COMPARE_GONE, &made.from_view.checks[i], NULL);
	}
	qsort(made.changes, made.count, sizeof(*made.changes), by_kind);
	*out = STEAL(made);
	return 0;
}

/* The check that kept this one from running in one of the reports; "": none. */
static const char *cause_of(const struct compare_change *change)
{
	const char *cause = change->to != NULL ? change->to->cause : "";
	return cause[0] == '\0' && change->from != NULL ? change->from->cause : cause;
}

static const struct view_check *shown_of(const struct compare_change *change)
{
	return change->to != NULL ? change->to : change->from;
}

static bool outcomes_equal(const struct view_check *a, const struct view_check *b)
{
	return a == NULL || b == NULL ? a == b : a->outcome == b->outcome;
}

size_t comparison_alike(const struct comparison *comparison, size_t index)
{
	const struct compare_change *change = &comparison->changes[index];
	const char *cause = cause_of(change);
	const struct view_check *shown = shown_of(change);
	const bool suite = cause[0] == '\0' && shown->reason[0] == '\0';
	size_t alike = 0;
	if (suite && change->from != NULL && change->to != NULL)
		return 1;
	for (size_t i = 0; i < comparison->count; i++) {
		const struct compare_change *other = &comparison->changes[i];
		if (other->kind != change->kind || !text_equal(cause_of(other), cause) ||
		    (cause[0] == '\0' && !text_equal(shown_of(other)->reason, shown->reason)) ||
		    (suite &&
		     strncmp(shown_of(other)->id, shown->id, shown->suite_size + 1) != 0) ||
		    !outcomes_equal(other->from, change->from) ||
		    !outcomes_equal(other->to, change->to))
			continue;
		if (i < index)
			return 0;
		alike++;
	}
	return alike;
}

void comparison_free(struct comparison *comparison)
{
	for (size_t i = 0; i < COMPARE_PART_COUNT; i++) {
		free(comparison->differences[i].from);
		free(comparison->differences[i].to);
	}
	free(comparison->conformance.from);
	free(comparison->conformance.to);
	view_free(&comparison->from_view);
	view_free(&comparison->to_view);
	free(comparison->changes);
	*comparison = (struct comparison){0};
}

enum compare_part comparison_only_part(const struct comparison *comparison)
{
	enum compare_part only = COMPARE_PART_COUNT;
	for (size_t i = 0; i < COMPARE_PART_COUNT; i++) {
		if (!comparison->differences[i].is || comparison->differences[i].follows)
			continue;
		if (only != COMPARE_PART_COUNT)
			return COMPARE_PART_COUNT;
		only = (enum compare_part)i;
	}
	return only;
}
