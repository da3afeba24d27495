/* SPDX-License-Identifier: MIT */
#include "reports/pages/matrix/matrix.h"

#include "reports/report_files.h"

/* Most of a report: nothing of it is counted. */
static const char *const unneeded[] = {
	"assertions", "attempts", "evidence",	  "notes",	 "events",	 "phases",
	"phasesMs",   "time",	  "observations", "predictions", "requirements", "totals",
	"invocation", "advice",	  "title",	  "reason",	 "cause",	 "unproven",
	"watched",    "expected", "level",	  "severity",	 "requirement",	 "disposition",
	"leftOut",    NULL};

static int use_report(const char *path, const cJSON *report, void *user, struct error *err)
{
	return matrix_add(user, path, report, err);
}

int matrix_read(struct matrix *matrix, const struct text_list *paths, matrix_progress *progress,
		struct text_list *unread, struct error *err)
{
	const struct report_files files = {
		.without = unneeded, .use = use_report, .progress = progress, .user = matrix};
	return report_files_read(paths, &files, unread, err);
}
