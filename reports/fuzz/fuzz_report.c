/* SPDX-License-Identifier: MIT */
/* One or two stored reports, parted by a NUL: each is refused with an error, or can be read, printed, compared and counted. */

#include "reports/environment.h"
#include "reports/fuzz/readers.h"
#include "reports/render.h"
#include "reports/report_file.h"
#include "reports/view.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* NULL: it is refused. */
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
	(void)report_verify_evidence("/nowhere", report, &faults, &err);
	(void)environment_digest(json_pointer(report, "/environment"), digest, &err);
	(void)report_make_reproducible(report, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *first = (const char *)data;
	const char *nul = size != 0 ? memchr(first, '\0', size) : NULL;
	const size_t first_size = nul != NULL ? (size_t)(nul - first) : size;
	cJSON *from CLEANUP_JSON = read_report(first, first_size);
	cJSON *to CLEANUP_JSON = nul != NULL ? read_report(nul + 1, size - first_size - 1) : NULL;
	if (from == NULL)
		return 0;
	fuzz_fold(from, to != NULL ? to : from);
	read_alone(from);
	return 0;
}
