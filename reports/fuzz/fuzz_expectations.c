/* SPDX-License-Identifier: MIT */
/* An expectation file: an accepted file can be searched, with the file itself as any environment. */
#include "reports/expect/expectations.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct expectations known CLEANUP_EXPECTATIONS = {0};
	cJSON *document CLEANUP_JSON = NULL;
	struct error err = {0};
	if (json_parse((const char *)data, size, &document, &err) < 0)
		return 0;
	int rc = expectations_parse("fuzz", document, &known, &err);
	if (rc != err.code || rc > 0)
		__builtin_trap();
	for (size_t i = 0; rc == 0 && i < known.count; i++) {
		const struct expectation *row = NULL;
		(void)expectations_find(&known, known.rows[i].check, 1,
					cJSON_GetObjectItem(document, "environment"), &row, &err);
		(void)expectation_overdue(&known.rows[i], "2026-11-22");
	}
	return 0;
}
