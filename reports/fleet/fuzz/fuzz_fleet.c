/* SPDX-License-Identifier: MIT */
/* One document as a list of nodes, as pods and their plan, and as a report: everything derived from it is
 * printed. */
#include "reports/fleet/fleet.h"

#include "base/members.h"
#include "reports/view.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void make_plan(const cJSON *document)
{
	const struct text_list nothing = {0};
	const struct fleet_plan plan = {.name = "f",
					.image = "x",
					.name_space = "n",
					.folder = "/x",
					.max_unavailable = "50%",
					.arguments = &nothing,
					.allow_tag = true,
					.wave = 1,
					.retries = 1};
	struct fleet_wave wave CLEANUP_FLEET_WAVE = {0};
	cJSON *jobs CLEANUP_JSON = NULL;
	if (fleet_plan_make(document, &plan, &wave, NULL) == 0 &&
	    json_parse(text_string(&wave.jobs), wave.jobs.size, &jobs, NULL) < 0)
		__builtin_trap();
}

static void merge(const cJSON *document)
{
	const struct writer_options plain = {0};
	struct fleet_merge merge CLEANUP_FLEET_MERGE = {0};
	struct text out CLEANUP_TEXT = {0};
	(void)fleet_merge_add("r/a/report.json", document, &merge, NULL);
	(void)fleet_merge_add("r/b/report.json", document, &merge, NULL);
	(void)fleet_merge_add("s/a/report.json", document, &merge, NULL);
	fleet_merge_finish(&merge);
	fleet_merge_add_text(&merge, &plain, &out);
	char *json CLEANUP_FREE = fleet_merge_json(&merge);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cJSON *document CLEANUP_JSON = NULL;
	struct text out CLEANUP_TEXT = {0};
	if (json_parse((const char *)data, size, &document, NULL) < 0)
		return 0;
	make_plan(document);
	merge(document);
	(void)fleet_status_add(document, document, &out, NULL);
	fleet_add_refusal(document, &out);
	text_reset(&out);
	const struct fleet_push push = {.why = view_string(document, "/why")};
	fleet_verdict_add(document, 1, "", &push, &out);
	if (out.size > FLEET_VERDICT_MAX)
		__builtin_trap();
	return 0;
}
