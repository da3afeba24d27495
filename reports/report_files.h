/* SPDX-License-Identifier: MIT */
#pragma once

/* Many stored reports, several at a time. */

#include "base/json.h"

struct report_files {
	const char *const *without; /* members that are not needed: report_file_read() */
	/* Called with each report, one call at a time, in any order. The report is freed afterwards. A negative code makes the
	 * file unread. */
	int (*use)(const char *path, const cJSON *report, void *user, struct error *err);
	/* Called after each file; may be NULL. */
	void (*progress)(size_t done, size_t all);
	void *user;
};

/*
 * Reads every report.json below the folders, and every file that is named directly. Links are not followed. A file
 * that cannot be read or is not a report becomes a line of `unread`, "path: why", and so does a link named
 * report.json. ERROR_NOT_FOUND: there is no report.
 */
int report_files_read(const struct text_list *paths, const struct report_files *files,
		      struct text_list *unread, struct error *err);
