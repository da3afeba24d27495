/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/members.h"
#include "base/style.h"
#include "containers/judging/selection/selection.h"

#include <string.h>

static void print_item(const struct selection_item *item, size_t rank, bool color, struct text *out)
{
	struct arena arena __attribute__((cleanup(arena_free))) = {0};
	const struct compat_finding *finding = &item->finding;
	const char *platform = image_platform_name(&item->entry->image.platform, &arena);
	text_addf(out, "%s%zu. ", rank > 1 ? "\n" : "", rank);
	text_add(out, style(color, rank == 1 ? STYLE_BOLD : STYLE_RESET));
	text_add_escaped(out, item->entry->reference, strlen(item->entry->reference));
	text_addf(out, "%s (", style(color, STYLE_RESET));
	text_add_escaped(out, platform, strlen(platform));
	text_addf(out, "): %s\n", compat_verdict_words(item->verdict));
	if (finding->rule != NULL) {
		text_add_line(out, "   %s: %s", finding->rule, finding->reason);
		if (finding->advice[0] != '\0')
			text_add_line(out, "   To do:  %s", finding->advice);
		text_add_line(out, "   Source: %s", finding->source);
	}
	if (item->reason[0] != '\0' && item->reason != finding->reason)
		text_add_line(out, "   After the first: %s", item->reason);
	out->failed = out->failed || arena.failed;
}

void selection_print(const struct selection *selection, bool color, struct text *out)
{
	if (selection->count == 0)
		text_add(out, "The catalogue has no image.\n");
	for (size_t i = 0; i < selection->count; i++)
		print_item(&selection->items[i], i + 1, color, out);
}

static cJSON *item_to_json(const struct selection_item *item)
{
	struct members json CLEANUP_MEMBERS = members_new();
	struct arena arena __attribute__((cleanup(arena_free))) = {0};
	const struct compat_finding *finding = &item->finding;
	member_string(&json, "reference", item->entry->reference);
	member_string(&json, "platform", image_platform_name(&item->entry->image.platform, &arena));
	member_string(&json, "verdict", compat_verdict_name(item->verdict));
	member_string(&json, "rule", finding->rule);
	member_string(&json, "finding", finding->reason);
	member_optional(&json, "advice", finding->rule != NULL ? finding->advice : "");
	member_string(&json, "source", finding->source);
	member_optional(&json, "step", item->step);
	member_optional(&json, "reason", item->reason);
	return members_take(&json);
}

cJSON *selection_to_json(const struct selection *selection, const char *catalogue)
{
	struct members json CLEANUP_MEMBERS = members_new();
	struct members images CLEANUP_MEMBERS = members_new_array();
	enum compat_verdict verdict = selection_verdict(selection);
	for (size_t i = 0; i < selection->count; i++)
		member_item(&images, NULL, item_to_json(&selection->items[i]));
	member_string(&json, "schema", "gpucert-image-select/1");
	member_string(&json, "catalogue", catalogue);
	member_string(&json, "verdict", compat_verdict_name(verdict));
	member_string(&json, "selected",
		      verdict == COMPAT_WORKS ? selection->items[0].entry->reference : NULL);
	member_item(&json, "images", members_take(&images));
	return members_take(&json);
}
