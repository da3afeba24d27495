/* SPDX-License-Identifier: MIT */
/* print_report FORMAT JOURNAL [reproducible]: prints the report of a journal, for tests of the
 * formats. */

#include "reports/tests/cases.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	const struct writer_options plain = {0};
	cJSON *report CLEANUP_JSON = NULL;
	char *text CLEANUP_FREE = NULL;
	struct error err = {0};
	if (argc < 3 || writer_find(argv[1]) == NULL)
		return 2;
	if (journal_read(argv[2], &log, &err) < 0 || report_render(&log, &report, &err) < 0 ||
	    (argc > 3 && report_make_reproducible(report, &err) < 0) ||
	    writer_print(writer_find(argv[1]), report, &plain, &text, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return fputs(text, stdout) < 0 ? 1 : 0;
}
