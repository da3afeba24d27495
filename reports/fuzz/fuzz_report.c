/* SPDX-License-Identifier: MIT */
/* Up to four stored reports, separated by NULs: each is refused with an error, or can be read, printed, compared with
 * the first and counted with all others. */

#include "reports/environment.h"
#include "reports/fuzz/readers.h"
#include "reports/render.h"
#include "reports/report_file.h"
#include "reports/view.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { REPORTS_MAX = 4 };

/* NULL: refused. */
static cJSON *read_report(const char *data, size_t size)
{
	char *copy CLEANUP_FREE = malloc(size + 1);
	cJSON *report = NULL;
	struct error err = {0};
	if (copy == NULL)
		return NULL;
	memcpy(copy, data, size);
	int rc = report_parse(copy, size, NULL, &report, &err);
	if (rc != err.code || rc > 0 || (rc == 0) != (report != NULL) ||
	    (rc == 0 && strcmp(view_string(report, "/schema"), REPORT_SCHEMA) != 0))
		abort();
	return report;
}

static void read_alone(cJSON *report)
{
	struct text_list faults CLEANUP_TEXT_LIST = {0};
	char digest[DIGEST_SIZE] = "";
	struct view view CLEANUP_VIEW = {0};
	struct error err = {0};
	fuzz_write(report, false);
	if (view_open(report, &view, &err) < 0)
		return;
	for (size_t i = 0; i < view.count; i++) {
		if (view.checks[i].duration_ms < 0)
			abort();
	}
	(void)report_exit_code(report);
	report_verify_evidence("/nowhere", report, &faults);
	environment_digest(json_pointer(report, "/environment"), digest);
	report_make_reproducible(report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cJSON *reports[REPORTS_MAX] = {NULL};
	const char *at = (const char *)data;
	size_t count = 0;
	for (size_t left = size; count < REPORTS_MAX && (count == 0 || left > 0);) {
		const char *nul = left != 0 ? memchr(at, '\0', left) : NULL;
		const size_t one = nul != NULL ? (size_t)(nul - at) : left;
		cJSON *report = read_report(at, one);
		if (report != NULL)
			reports[count++] = report;
		else if (count == 0)
			return 0;
		left -= nul != NULL ? one + 1 : left;
		at += one + 1;
	}
	if (count > 0) {
		fuzz_fold(reports, count);
		read_alone(reports[0]);
	}
	for (size_t i = 0; i < count; i++)
		cJSON_Delete(reports[i]);
	return 0;
}
