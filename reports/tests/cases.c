/* SPDX-License-Identifier: MIT */
#include "reports/tests/cases.h"

#include <stdio.h>
#include <string.h>

const char *const golden_cases[] = {
	"complete",    "killed",  "killed-early", "outcomes", "broken",
	"interrupted", "hostile", "partial",	  NULL,
};

char *golden_path(const char *name, const char *file)
{
	return text_format("%s/%s/%s", GOLDEN, name, file);
}

cJSON *golden_report(const char *name)
{
	char *path CLEANUP_FREE = golden_path(name, JOURNAL_FILE_NAME);
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	cJSON *report = NULL;
	struct error err = {0};
	if (journal_read(path, &log, &err) < 0 || report_render(&log, &report, &err) < 0)
		(void)fprintf(stderr, "%s\n", err.text);
	return report;
}

cJSON *report_of_lines(const char *const *lines, struct error *err)
{
	struct text journal CLEANUP_TEXT = {0};
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	cJSON *report = NULL;
	for (int i = 0; lines[i] != NULL; i++)
		text_addf(&journal, "{\"seq\":%d,\"atMs\":%d,\"time\":\"t\",%s}\n", i + 1, i,
			  lines[i]);
	if (journal_parse("j", journal.data, journal.size, &log, err) == 0)
		(void)report_render(&log, &report, err);
	return report;
}
