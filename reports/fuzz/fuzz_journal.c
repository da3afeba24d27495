/* SPDX-License-Identifier: MIT */
/* A journal of any bytes is refused with an error, or gives a report that every writer can print.
 */

#include "reports/render.h"
#include "reports/writer.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_all(const cJSON *report)
{
	const struct writer_options options = {.color = true, .columns = 80};
	for (const struct writer *writer = writers; writer->name != NULL; writer++) {
		char *text CLEANUP_FREE = NULL;
		struct error err = {0};
		if (writer_print(writer, report, &options, &text, &err) < 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	cJSON *report CLEANUP_JSON = NULL;
	struct error err = {0};
	if (journal_parse("journal", (const char *)data, size, &log, &err) == 0 &&
	    report_render(&log, &report, &err) == 0 &&
	    (size % 2 == 0 || report_make_reproducible(report, &err) == 0))
		print_all(report);
	return 0;
}
