/* SPDX-License-Identifier: MIT */
#pragma once

/* Reports that were stored. */

#include "base/json.h"

/* Reads the report of a folder (its report.json, or where that is missing its journal), or a report.json.
 * What is read was perhaps made by a stranger: it says that it is of this schema, and may
 * hold anything (view_open() checks what it reads). Of a
 * report.json the strings, objects and arrays that `without` names (NULL: none) are empty (json_drop_members()), which
 * is much faster. Caller owns *report. ERROR_FORMAT: not a report; ERROR_UNSUPPORTED: of a schema that is not known; errors of
 * json_read_file() and report_read_directory(). */
int report_file_read(const char *path, const char *const *without, cJSON **report,
		     struct error *err);
