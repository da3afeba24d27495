/* SPDX-License-Identifier: MIT */
/* Claims, and after a NUL byte the report that they are about, which is untrusted, too. */
#include "reports/certificates/claims.h"

#include "base/cleanup.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct claims claims CLEANUP(claims_free) = {0};
	struct faults faults CLEANUP_FAULTS = {0};
	const struct journal_log log = {0};
	cJSON *report CLEANUP_JSON = NULL;
	struct error err = {0};
	const uint8_t *end = memchr(data, '\0', size);
	const size_t first = end != NULL ? (size_t)(end - data) : size;
	int rc = claims_parse((const char *)data, first, &claims, &err);
	if (rc != err.code || rc > 0)
		__builtin_trap();
	if (rc < 0 || end == NULL ||
	    json_parse((const char *)end + 1, size - first - 1, &report, NULL) < 0)
		return 0;
	claims_judge(&claims, report, &log, "2026-11-22", &faults);
	if (faults_count(&faults) > FAULTS_MAX)
		__builtin_trap();
	return 0;
}
