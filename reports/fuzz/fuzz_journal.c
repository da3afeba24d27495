/* SPDX-License-Identifier: MIT */
/* A journal of any bytes is refused with an error, or gives a report that every writer can print.
 */

#include "reports/fuzz/readers.h"
#include "reports/render.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	cJSON *report CLEANUP_JSON = NULL;
	struct error err = {0};
	if (journal_parse("journal", (const char *)data, size, &log, &err) < 0 ||
	    report_render(&log, &report, &err) < 0)
		return 0;
	if (size % 2 != 0)
		report_make_reproducible(report);
	fuzz_write(report, true);
	return 0;
}
