/* SPDX-License-Identifier: MIT */
#include "reports/markdown.h"
#include "reports/pages/compare/compare.h"

#include <string.h>

enum { CHANGES_MAX = 300 }; /* a CI system cuts a summary that is too long, or drops it */

static void add_row(struct text *out, const char *what, const char *from, const char *to)
{
	text_addf(out, "| %s | ", what);
	markdown_add(out, from);
	text_add(out, " | ");
	markdown_add(out, to);
	text_add(out, " |\n");
}

static const char *outcome_of(const struct view_check *check)
{
	return check != NULL ? report_outcome_names[check->outcome] : "-";
}

void comparison_print_markdown(const struct comparison *comparison, struct text *out)
{
	struct text headline CLEANUP_TEXT = {0};
	size_t changes = 0;
	comparison_add_headline(comparison, &headline);
	text_add(out, "## ");
	markdown_add(out, text_string(&headline));

	text_add(out, "\n\n| environment | before | after |\n| --- | --- | --- |\n");
	if (comparison->from_path != NULL)
		add_row(out, "report", comparison->from_path, comparison->to_path);
	for (size_t i = 0; i < COMPARE_PART_COUNT; i++) {
		const struct compare_difference *difference = &comparison->differences[i];
		struct text part CLEANUP_TEXT = {0};
		text_addf(&part, difference->is ? "**%s** (differs)" : "%s", compare_part_names[i]);
		if (difference->from[0] != '\0' || difference->to[0] != '\0')
			add_row(out, text_string(&part), difference->from, difference->to);
	}
	add_row(out, "conformance", comparison->conformance.from, comparison->conformance.to);

	for (size_t i = 0; i < comparison->count; i++) {
		const struct compare_change *change = &comparison->changes[i];
		const struct view_check *shown = change->to != NULL ? change->to : change->from;
		const size_t alike = comparison_alike(comparison, i);
		if (change->kind == COMPARE_SAME || alike == 0)
			continue;
		if (changes == 0)
			text_add(out, "\n| change | check | before | after | why |\n"
				      "| --- | --- | --- | --- | --- |\n");
		if (changes++ >= CHANGES_MAX)
			continue;
		text_addf(out, "| %s | ", compare_kind_names[change->kind]);
		markdown_add(out, shown->id);
		if (alike > 1)
			text_addf(out, " and %zu more", alike - 1);
		text_addf(out, " | %s | %s | ", outcome_of(change->from), outcome_of(change->to));
		markdown_add(out, shown->reason);
		text_add(out, " |\n");
	}
	if (changes > CHANGES_MAX)
		text_addf(out, "\n%zu more check%s changed: `gpucert compare` lists them all.\n",
			  changes - CHANGES_MAX, changes - CHANGES_MAX == 1 ? "" : "s");
}
