/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/members.h"
#include "base/style.h"
#include "containers/judging/selection/selection.h"

#include <string.h>

void selection_print(const struct selection *selection, bool color, struct text *out)
{
	struct arena arena CLEANUP(arena_free) = {0};
	if (selection->count == 0)
		text_add(out, "The catalogue has no image.\n");
	for (size_t i = 0; i < selection->count; i++) {
		const struct selection_item *item = &selection->items[i];
		const struct compat_finding *finding = &item->finding;
		const char *platform = image_platform_name(&item->entry->image.platform, &arena);
		text_addf(out, "%s%zu. ", i > 0 ? "\n" : "", i + 1);
		text_add(out, style(color, i == 0 ? STYLE_BOLD : STYLE_RESET));
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
	}
}

cJSON *selection_to_json(const struct selection *selection, const char *catalogue)
{
	struct members json CLEANUP_MEMBERS = members_new();
	struct arena arena CLEANUP(arena_free) = {0};
	enum compat_verdict verdict = selection_verdict(selection);
	member_string(&json, "schema", "gpucert-image-select/1");
	member_string(&json, "catalogue", catalogue);
	member_string(&json, "verdict", compat_verdict_name(verdict));
	member_string(&json, "selected",
		      verdict == COMPAT_WORKS ? selection->items[0].entry->reference : NULL);
	struct members images = member_array(&json, "images");
	for (size_t i = 0; i < selection->count; i++) {
		const struct selection_item *item = &selection->items[i];
		const struct compat_finding *finding = &item->finding;
		struct members image = member_object(&images, NULL);
		member_string(&image, "reference", item->entry->reference);
		member_string(&image, "platform",
			      image_platform_name(&item->entry->image.platform, &arena));
		member_string(&image, "verdict", compat_verdict_name(item->verdict));
		member_string(&image, "rule", finding->rule);
		member_string(&image, "finding", finding->reason);
		member_optional(&image, "advice", finding->rule != NULL ? finding->advice : "");
		member_string(&image, "source", finding->source);
		member_optional(&image, "step", item->step);
		member_optional(&image, "reason", item->reason);
	}
	return members_take(&json);
}
