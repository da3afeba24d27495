/* SPDX-License-Identifier: MIT */
#include "conformance/cli/run_selection.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "reports/model.h"
#include "reports/report_file.h"

#include <string.h>

int run_selection_shard(const char *shard_of, struct plan_filter *filter, struct error *err)
{
	const char *slash = strchr(shard_of, '/');
	long long shard = 0, count = 0;
	char *first CLEANUP_FREE =
		memory_copy_start(shard_of, slash != NULL ? (size_t)(slash - shard_of) : 0);
	if (slash == NULL || text_to_int64(slash + 1, "N", 1, 100000, &count, NULL) != 0 ||
	    text_to_int64(first, "I", 1, count, &shard, NULL) != 0)
		return error_set(err, ERROR_ARGUMENT,
				 "--shard: '%s' is not I/N with I from 1 to N, such as 2/3",
				 shard_of);
	filter->shard = (size_t)shard - 1;
	filter->shard_count = (size_t)count;
	return 0;
}

int run_selection_from(const char *from, const char *only, struct text_list *include,
		       struct error *err)
{
	static const char *const without[] = {"predictions", NULL};
	bool wanted[REPORT_OUTCOME_COUNT] = {false};
	struct text_list names CLEANUP_TEXT_LIST = {0};
	cJSON *report CLEANUP_JSON = NULL;
	int rc = report_file_read(from, without, &report, err);
	if (rc < 0)
		return error_wrap(err, rc, "--from");
	if (include->count != 0)
		return error_set(err, ERROR_ARGUMENT, "--from and patterns exclude each other");

	for (enum report_outcome i = 0; i < REPORT_OUTCOME_COUNT; i++)
		wanted[i] = only == NULL && (report_outcome_is_bad(i) || i == REPORT_NOTRUN);
	if (only != NULL)
		text_list_split(&names, only, ',');
	text_each (name, &names) {
		enum report_outcome outcome = report_outcome_of(name);
		if (outcome == REPORT_OUTCOME_COUNT)
			return error_set(err, ERROR_ARGUMENT, "--only: unknown outcome '%s'", name);
		wanted[outcome] = true;
	}

	json_each (check, cJSON_GetObjectItemCaseSensitive(report, "checks")) {
		const char *id = json_pointer_string(check, "/id");
		const char *name = json_pointer_string(check, "/outcome");
		enum report_outcome outcome =
			name != NULL ? report_outcome_of(name) : REPORT_OUTCOME_COUNT;
		if (id != NULL && outcome != REPORT_OUTCOME_COUNT && wanted[outcome])
			text_list_add(include, id);
	}
	if (include->count == 0)
		return error_set(err, ERROR_ARGUMENT,
				 "--from: no check in %s has one of these outcomes", from);
	return 0;
}
