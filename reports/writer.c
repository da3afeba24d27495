/* SPDX-License-Identifier: MIT */
#include "reports/writer.h"

#include "reports/junit.h"
#include "reports/summary.h"

#include <string.h>

static int writer_write_json(const cJSON *report, const struct writer_options *options,
			     struct text *out, struct error *err)
{
	char *json CLEANUP_FREE = json_print(report);

	(void)options;
	if (json == NULL)
		return error_memory(err);
	text_add(out, json);
	return 0;
}

static const struct writer writer_json = {
	.name = "json",
	.file_name = "report.json",
	.media = "application/json",
	.write = writer_write_json,
};

const struct writer *const writers[] = {&writer_json, &writer_junit, &writer_summary, NULL};

int writer_find(const char *name, const struct writer **out, struct error *err)
{
	struct text names CLEANUP_TEXT = {0};

	for (const struct writer *const *writer = writers; *writer != NULL; writer++) {
		if (strcmp((*writer)->name, name) == 0) {
			*out = *writer;
			return 0;
		}
		text_addf(&names, "%s%s", names.size != 0 ? ", " : "", (*writer)->name);
	}
	return error_set(err, ERROR_NOT_FOUND, "there is no format '%s' (there are: %s)", name,
			 text_string(&names));
}

int writer_print(const struct writer *writer, const cJSON *report,
		 const struct writer_options *options, char **out, struct error *err)
{
	struct text text CLEANUP_TEXT = {0};
	int rc = writer->write(report, options, &text, err);

	if (rc < 0)
		return rc;
	*out = text_take(&text);
	return *out != NULL ? 0 : error_memory(err);
}
