/* SPDX-License-Identifier: MIT */
/* print_report FORMAT FILE [reproducible]: prints the report of a journal, or one that was stored, for tests of
 * the formats. */

#include "reports/report_file.h"
#include "reports/tests/cases.h"

#include <stdio.h>

static int read_report(const char *path, cJSON **report, struct error *err)
{
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	if (text_ends_with(path, ".json"))
		return report_file_read(path, NULL, report, err);
	int rc = journal_read(path, &log, err);
	return rc == 0 ? report_render(&log, report, err) : rc;
}

int main(int argc, char **argv)
{
	const struct writer_options plain = {0};
	cJSON *report CLEANUP_JSON = NULL;
	char *text CLEANUP_FREE = NULL;
	struct error err = {0};
	if (argc < 3 || writer_find(argv[1]) == NULL)
		return 2;
	int rc = read_report(argv[2], &report, &err);
	if (rc == 0 && argc > 3)
		report_make_reproducible(report);
	if (rc == 0)
		rc = writer_print(writer_find(argv[1]), report, &plain, &text, &err);
	if (rc < 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return fputs(text, stdout) < 0 ? 1 : 0;
}
