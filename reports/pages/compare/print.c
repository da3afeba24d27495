/* SPDX-License-Identifier: MIT */
#include "base/members.h"
#include "base/style.h"
#include "reports/pages/compare/compare.h"

#include <string.h>

enum { LABEL_COLUMNS = 15, REASON_MAX = 300 };

static const enum style tones[COMPARE_KIND_COUNT] = {
	[COMPARE_REGRESSION] = STYLE_RED,
	[COMPARE_CHANGED] = STYLE_YELLOW,
	[COMPARE_FIX] = STYLE_GREEN,
	[COMPARE_NOT_COMPARABLE] = STYLE_YELLOW,
};

/* One and several of a kind, in the order in which a headline counts them. */
static const struct {
	enum compare_kind kind;
	const char *one, *several;
} counted[] = {
	{COMPARE_REGRESSION, "regression", "regressions"},
	{COMPARE_FIX, "fix", "fixes"},
	{COMPARE_CHANGED, "other change", "other changes"},
	{COMPARE_NEW, "new check", "new checks"},
	{COMPARE_GONE, "check gone", "checks gone"},
	{COMPARE_NOT_COMPARABLE, "not comparable", "not comparable"},
};

/* "A → B", or A and `same` when they are equal. */
static void add_move(const char *from, const char *to, const char *same, struct text *out)
{
	if (strcmp(from, to) == 0)
		text_addf(out, "%s%s", from, same);
	else
		text_addf(out, "%s → %s", from, to);
}

static void add_difference(const struct compare_difference *difference, struct text *out)
{
	add_move(difference->from, difference->to, " (the same name, other content)", out);
}

/* "OS, driver and plugin": the parts that differ, or those that do not. */
static void add_parts(const struct comparison *comparison, bool differing, struct text *out)
{
	size_t left = 0;
	for (size_t i = 0; i < COMPARE_PART_COUNT; i++)
		left += comparison->differences[i].is == differing;
	for (size_t i = 0; i < COMPARE_PART_COUNT; i++) {
		if (comparison->differences[i].is != differing)
			continue;
		left--;
		text_addf(out, "%s%s", compare_part_names[i],
			  left > 1    ? ", "
			  : left == 1 ? " and "
				      : "");
	}
}

void comparison_add_headline(const struct comparison *comparison, struct text *out)
{
	const enum compare_part part = comparison_only_part(comparison);
	const char *separator = ": ";
	struct text parts CLEANUP_TEXT = {0};
	add_parts(comparison, true, &parts);
	if (part != COMPARE_PART_COUNT) {
		text_addf(out, "%s ", compare_part_names[part]);
		add_difference(&comparison->differences[part], out);
	} else if (parts.size == 0) {
		text_add(out, "the same environment");
	} else {
		text_addf(out, "%s differ", text_string(&parts));
	}
	for (size_t i = 0; i < ARRAY_SIZE(counted); i++) {
		const size_t count = comparison->kinds[counted[i].kind];
		if (count == 0)
			continue;
		text_addf(out, "%s%zu %s", separator, count,
			  count == 1 ? counted[i].one : counted[i].several);
		separator = ", ";
	}
	text_add(out, separator[0] == ':' ? ": every outcome is the same" : "");
}

/* Escapes the body, and empties it. */
static void add_line(struct text *out, bool color, enum style tone, const char *label,
		     struct text *body)
{
	text_addf(out, "%s%-*s%s", style(color, tone), LABEL_COLUMNS, label,
		  style(color, STYLE_RESET));
	view_add_escaped(out, text_string(body));
	text_add(out, "\n");
	text_reset(body);
}

static const char *outcome_of(const struct view_check *check)
{
	return check != NULL ? report_outcome_names[check->outcome] : "-";
}

void comparison_print(const struct comparison *comparison, bool color, struct text *out)
{
	struct text body CLEANUP_TEXT = {0};
	comparison_add_headline(comparison, &body);
	text_add(out, style(color, STYLE_BOLD));
	view_add_escaped(out, text_string(&body));
	text_addf(out, "%s\n", style(color, STYLE_RESET));
	text_reset(&body);

	if (comparison->from_path != NULL) {
		add_move(comparison->from_path, comparison->to_path, "", &body);
		add_line(out, color, STYLE_BOLD, "reports", &body);
	}
	for (size_t i = 0; i < COMPARE_PART_COUNT; i++) {
		if (!comparison->differences[i].is)
			continue;
		add_difference(&comparison->differences[i], &body);
		add_line(out, color, STYLE_BOLD, compare_part_names[i], &body);
	}
	add_parts(comparison, false, &body);
	if (body.size > 0)
		add_line(out, color, STYLE_BOLD, "same", &body);

	for (size_t i = 0; i < comparison->count; i++) {
		const struct compare_change *change = &comparison->changes[i];
		const struct view_check *shown = change->to != NULL ? change->to : change->from;
		const size_t alike = comparison_alike(comparison, i);
		if (change->kind == COMPARE_SAME || alike == 0)
			continue;
		const size_t size = strlen(shown->reason);
		const size_t fits = text_fit(shown->reason, size, REASON_MAX);
		text_add(&body, shown->id);
		if (alike > 1)
			text_addf(&body, " and %zu more", alike - 1);
		text_addf(&body, "  %s → %s%s", outcome_of(change->from), outcome_of(change->to),
			  size > 0 ? ": " : "");
		text_append(&body, shown->reason, fits);
		text_add(&body, fits == size ? "" : "...");
		add_line(out, color, tones[change->kind], compare_kind_names[change->kind], &body);
	}

	add_move(comparison->conformance.from, comparison->conformance.to, "", &body);
	add_line(out, color, STYLE_BOLD, "conformance", &body);
}

static cJSON *report_json(const cJSON *report)
{
	struct members json CLEANUP_MEMBERS = members_new();
	member_string(&json, "run", view_string(report, "/run/id"));
	member_string(&json, "started", view_string(report, "/run/started"));
	member_string(&json, "environment", view_string(report, "/environment/digest"));
	member_string(&json, "conformance", view_string(report, "/verdict/conformance/result"));
	return members_take(&json);
}

cJSON *comparison_to_json(const struct comparison *comparison)
{
	struct members json CLEANUP_MEMBERS = members_new();
	struct members environment CLEANUP_MEMBERS = members_new();
	struct members counts CLEANUP_MEMBERS = members_new();
	struct members changes CLEANUP_MEMBERS = members_new_array();
	struct text headline CLEANUP_TEXT = {0};
	const enum compare_part only = comparison_only_part(comparison);

	comparison_add_headline(comparison, &headline);
	member_string(&json, "schema", "gpucert-comparison/1");
	member_string(&json, "headline", text_string(&headline));
	member_item(&json, "from", report_json(comparison->from));
	member_item(&json, "to", report_json(comparison->to));
	member_string(&json, "onlyDifference",
		      only != COMPARE_PART_COUNT ? compare_part_names[only] : NULL);
	for (size_t i = 0; i < COMPARE_PART_COUNT; i++) {
		const struct compare_difference *difference = &comparison->differences[i];
		struct members part CLEANUP_MEMBERS = members_new();
		member_bool(&part, "differs", difference->is);
		member_bool(&part, "follows", difference->follows);
		member_string(&part, "from", difference->from);
		member_string(&part, "to", difference->to);
		member_item(&environment, compare_part_names[i], members_take(&part));
	}
	member_item(&json, "environment", members_take(&environment));

	for (size_t i = 0; i < COMPARE_KIND_COUNT; i++)
		member_int(&counts, compare_kind_names[i], (int64_t)comparison->kinds[i]);
	member_item(&json, "counts", members_take(&counts));
	for (size_t i = 0; i < comparison->count; i++) {
		const struct compare_change *change = &comparison->changes[i];
		const struct view_check *const sides[] = {change->from, change->to};
		struct members item CLEANUP_MEMBERS = members_new();
		if (change->kind == COMPARE_SAME)
			continue;
		const struct view_check *shown = change->to != NULL ? change->to : change->from;
		member_string(&item, "kind", compare_kind_names[change->kind]);
		member_string(&item, "check", shown->id);
		for (size_t k = 0; k < ARRAY_SIZE(sides); k++)
			member_string(&item, k == 0 ? "from" : "to",
				      sides[k] != NULL ? report_outcome_names[sides[k]->outcome]
						       : NULL);
		member_string(&item, "reason", shown->reason);
		member_item(&changes, NULL, members_take(&item));
	}
	member_item(&json, "changes", members_take(&changes));
	return members_take(&json);
}
