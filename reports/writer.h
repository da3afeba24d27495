/* SPDX-License-Identifier: MIT */
#pragma once

/* The formats of a report, behind one table. A writer reads a report that report_render() made. */

#include "base/json.h"

struct writer_options {
	bool color;  /* terminal styles */
	int columns; /* of the terminal; 0: texts are not cut to a width */
	const char *
		location; /* where the report is, for people: its folder; NULL when it is nowhere */
};

struct writer {
	const char *name;      /* "json", "junit", "summary" */
	const char *file_name; /* in a report's folder; NULL: not written there */
	const char *media;     /* media type */
	int (*write)(const cJSON *report, const struct writer_options *options, struct text *out,
		     struct error *err);
};

extern const struct writer *const writers[]; /* NULL-ended */

/* ERROR_NOT_FOUND lists the names. */
int writer_find(const char *name, const struct writer **out, struct error *err);

/* Every failure to build the text is ERROR_MEMORY. */
int writer_print(const struct writer *writer, const cJSON *report,
		 const struct writer_options *options, char **out, struct error *err);
