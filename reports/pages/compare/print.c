/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/members.h"
#include "reports/pages/compare/compare.h"
#include "reports/pages/html.h"
#include "reports/pages/page.h"
#include "reports/report_link.h"

enum {
	CHANGES_MAX = 300
}; /* in Markdown: a CI system cuts a summary that is too long, or drops it */

#define SAME_NAME "the same name, other content"

static const enum doc_tone tones[COMPARE_KIND_COUNT] = {
	[COMPARE_REGRESSION] = DOC_BAD, [COMPARE_CHANGED] = DOC_WARN,
	[COMPARE_FIX] = DOC_GOOD,	[COMPARE_NEW] = DOC_QUIET,
	[COMPARE_GONE] = DOC_WARN,	[COMPARE_NOT_COMPARABLE] = DOC_WARN,
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

void comparison_add_headline(const struct comparison *comparison, struct text *out)
{
	const enum compare_part only = comparison_only_part(comparison);
	const struct compare_difference *part = &comparison->differences[only];
	const char *separator = ": ";
	size_t left = 0;
	for (size_t i = 0; i < COMPARE_PART_COUNT; i++)
		left += comparison->differences[i].is;
	if (only != COMPARE_PART_COUNT) {
		text_addf(out, "%s %s", compare_part_names[only], part->from);
		if (text_equal(part->from, part->to))
			text_add(out, " (" SAME_NAME ")");
		else
			text_addf(out, " → %s", part->to);
	} else if (left == 0) {
		text_add(out, "the same environment");
	}
	for (size_t i = 0; only == COMPARE_PART_COUNT && i < COMPARE_PART_COUNT; i++) {
		if (!comparison->differences[i].is)
			continue;
		left--;
		text_addf(out, "%s%s", compare_part_names[i],
			  left > 1    ? ", "
			  : left == 1 ? " and "
				      : " differ");
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

static void add_side(struct doc *doc, const cJSON *report, const char *path)
{
	struct text link CLEANUP_TEXT = {0};
	const char *id = view_string(report, "/run/id");
	report_add_link(path, &link);
	doc_add(doc, "<td><a href=%s>%s</a>, %.10s", text_string(&link),
		doc_is(doc, DOC_FORM_HTML) && id[0] != '\0' ? id : path,
		view_string(report, "/run/started"));
}

static void add_part(struct doc *doc, const char *name, const struct compare_difference *part)
{
	const bool equal = text_equal(part->from, part->to);
	if (part->is)
		doc_add(doc, "<tr class=differs><th><b>%s</b> <badge class=%s>%s</badge>", name,
			part->follows ? "quiet" : "warn", part->follows ? "follows" : "differs");
	else
		doc_add(doc, "<tr class=same><th>%s", name);
	doc_add(doc, "<td>%s<td>%s", part->from,
		!equal	   ? part->to
		: part->is ? SAME_NAME
			   : "the same");
}

/* The outcome, which links to the check in its report. */
static void add_outcome(struct doc *doc, const struct view_check *check, const char *path)
{
	struct text link CLEANUP_TEXT = {0};
	if (check == NULL) {
		doc_add(doc, "<td>-");
		return;
	}
	report_add_link(path, &link);
	doc_add(doc, "<td><a href=%s#c-%s>", text_string(&link), check->id);
	doc_outcome(doc, check->outcome);
}

/* `alike`: how many checks changed in the same way. */
static void add_change(struct doc *doc, const struct comparison *comparison, size_t index,
		       size_t alike)
{
	const struct compare_change *change = &comparison->changes[index];
	const struct view_check *shown = change->to != NULL ? change->to : change->from;
	const char *before = change->from != NULL ? change->from->reason : "";
	const char *kind = compare_kind_names[change->kind];
	const char *tone = doc_tone_names[tones[change->kind]];
	const bool follows = shown->reason[0] != '\0' && !doc_is(doc, DOC_FORM_HTML);
	doc_add(doc,
		"<tr class=%s data-facet=%s><td class=%s><badge class=%s>%s</badge><th class=id>%s",
		tone, kind, tone, tone, kind, shown->id);
	if (alike > 1)
		doc_add(doc, " and %zu more", alike - 1);
	add_outcome(doc, change->from, comparison->from_path);
	add_outcome(doc, change->to, comparison->to_path);
	doc_add(doc, "<td>%s", shown->reason);
	if (before[0] != '\0' && !text_equal(before, shown->reason))
		doc_add(doc, "<span class=why>%sbefore: %s</span>", follows ? "; " : "", before);
}

/* A page has every change; elsewhere those with one reason are one row. */
static void add_changes(struct doc *doc, const struct comparison *comparison, const char *list)
{
	static const char *const headings[] = {"change", "check", "before", "after", "why", NULL};
	const size_t count = comparison->count - comparison->kinds[COMPARE_SAME];
	const bool is_html = doc_is(doc, DOC_FORM_HTML);
	size_t rows = 0;
	if (count == 0) {
		doc_add(doc, "<p>All %zu checks ended as before.</p>", comparison->count);
		return;
	}
	doc_add(doc, "<p class=soft>%zu of %zu checks changed.</p>", count, comparison->count);
	html_filter(doc, list, "changes");
	doc_table(doc, "changes", "Changes", list, headings);
	for (size_t i = 0; i < count; i++) { /* unchanged checks come last */
		const size_t alike = is_html ? 1 : comparison_alike(comparison, i);
		if (alike > 0 && (rows++ < CHANGES_MAX || !doc_is(doc, DOC_FORM_MARKDOWN)))
			add_change(doc, comparison, i, alike);
	}
	doc_end(doc, DOC_BOX);
	if (rows > CHANGES_MAX && doc_is(doc, DOC_FORM_MARKDOWN))
		doc_add(doc,
			"<p>%zu more check%s changed: <code>gpucert compare</code> lists them "
			"all.</p>",
			rows - CHANGES_MAX, rows - CHANGES_MAX == 1 ? "" : "s");
}

void comparison_write(const struct comparison *comparison, size_t number, struct doc *doc)
{
	static const char *const headings[] = {"part", "before", "after", NULL};
	const bool is_part = number > 0 && doc_is(doc, DOC_FORM_HTML);
	struct text headline CLEANUP_TEXT = {0};
	char *title CLEANUP_FREE = text_format("%zu reports compared with one", number);
	char *id CLEANUP_FREE = text_format("comparison-%zu", number);
	char *list CLEANUP_FREE = text_format("changes-%zu", number);
	comparison_add_headline(comparison, &headline);
	doc_title(doc, is_part ? title : text_string(&headline));
	doc_section(doc, is_part ? id : "checks", is_part ? text_string(&headline) : "Checks", 0,
		    NULL);
	add_changes(doc, comparison, list);
	if (!is_part) {
		doc_end(doc, DOC_SECTION);
		doc_section(doc, "environment", "Environment", 0, NULL);
	}

	doc_table(doc, "sides", "What the reports are about", NULL, headings);
	doc_add(doc, "<tr><th>report");
	add_side(doc, comparison->from, comparison->from_path);
	add_side(doc, comparison->to, comparison->to_path);
	add_part(doc, "conformance", &comparison->conformance);
	/* Parts that differ come first; parts that neither report knows are left out. */
	for (int differs = 1; differs >= 0; differs--) {
		for (size_t i = 0; i < COMPARE_PART_COUNT; i++) {
			const struct compare_difference *part = &comparison->differences[i];
			if (part->is == (differs == 1) &&
			    (part->is || !text_equal(part->to, "unknown")))
				add_part(doc, compare_part_names[i], part);
		}
	}
	doc_end(doc, DOC_BOX);
	doc_end(doc, DOC_SECTION);
}

void comparison_print(const struct doc *doc, struct text *out)
{
	page_print(doc, "Comparison", out);
}

static void add_report(struct members *comparison, const char *key, const cJSON *report)
{
	struct members json = member_object(comparison, key);
	member_string(&json, "run", view_string(report, "/run/id"));
	member_string(&json, "started", view_string(report, "/run/started"));
	member_string(&json, "environment", view_string(report, "/environment/digest"));
	member_string(&json, "conformance", view_string(report, "/verdict/conformance/result"));
}

cJSON *comparison_to_json(const struct comparison *comparison)
{
	struct members json CLEANUP_MEMBERS = members_new();
	struct text headline CLEANUP_TEXT = {0};
	const enum compare_part only = comparison_only_part(comparison);

	comparison_add_headline(comparison, &headline);
	member_string(&json, "schema", "gpucert-comparison/1");
	member_string(&json, "headline", text_string(&headline));
	add_report(&json, "from", comparison->from);
	add_report(&json, "to", comparison->to);
	member_string(&json, "onlyDifference",
		      only != COMPARE_PART_COUNT ? compare_part_names[only] : NULL);
	struct members environment = member_object(&json, "environment");
	for (size_t i = 0; i < COMPARE_PART_COUNT; i++) {
		const struct compare_difference *difference = &comparison->differences[i];
		struct members part = member_object(&environment, compare_part_names[i]);
		member_bool(&part, "differs", difference->is);
		member_bool(&part, "follows", difference->follows);
		member_string(&part, "from", difference->from);
		member_string(&part, "to", difference->to);
	}

	struct members counts = member_object(&json, "counts");
	for (size_t i = 0; i < COMPARE_KIND_COUNT; i++)
		member_int(&counts, compare_kind_names[i], (int64_t)comparison->kinds[i]);
	struct members changes = member_array(&json, "changes");
	for (size_t i = 0; i < comparison->count; i++) {
		const struct compare_change *change = &comparison->changes[i];
		const struct view_check *const sides[] = {change->from, change->to};
		if (change->kind == COMPARE_SAME)
			continue;
		const struct view_check *shown = change->to != NULL ? change->to : change->from;
		struct members item = member_object(&changes, NULL);
		member_string(&item, "kind", compare_kind_names[change->kind]);
		member_string(&item, "check", shown->id);
		for (size_t k = 0; k < ARRAY_SIZE(sides); k++)
			member_string(&item, k == 0 ? "from" : "to",
				      sides[k] != NULL ? report_outcome_names[sides[k]->outcome]
						       : NULL);
		member_string(&item, "reason", shown->reason);
	}
	return members_take(&json);
}
