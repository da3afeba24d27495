/* SPDX-License-Identifier: MIT */
#pragma once

/* Reports that were stored. */

#include "reports/view.h"

/* Reads the report of a folder (its report.json, or where that is missing its journal), or a report.json. The content
 * is untrusted: it claims this schema, but may be anything (view_open() checks what it reads). The members of a
 * report.json that `without` names (NULL: none) are dropped (json_drop_members()), which is much faster. Caller owns
 * *report. ERROR_FORMAT: not a report, a repeated member, or not a regular file: in a folder links are not followed;
 * ERROR_NOT_FOUND; ERROR_LIMIT: longer than JSON_FILE_MAX, more values than JSON_VALUES_MAX, or nested too deep;
 * ERROR_UNSUPPORTED: of another version; errors of report_read_directory(). */
int report_file_read(const char *path, const char *const *without, cJSON **report,
		     struct error *err);

/* The same with its checks; errors of view_open(), too, which name the path. Caller frees both. */
int report_file_open(const char *path, cJSON **report, struct view *view, struct error *err);

/* The text of a report.json; with `without` the text is changed. */
int report_parse(char *data, size_t size, const char *const *without, cJSON **report,
		 struct error *err);
