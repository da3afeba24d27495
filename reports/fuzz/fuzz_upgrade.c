/* SPDX-License-Identifier: MIT */
/* Any JSON document goes through the steps from version 1: what is there stays a document, and of a report a second
 * time changes nothing: the last ones of version 1 had today's members. */

#include "reports/upgrade/upgrade.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const cJSON *document, schema_step *step, bool once_only)
{
	cJSON *once CLEANUP_JSON = cJSON_Duplicate(document, true);
	struct error err = {0};
	if (once == NULL || step(once, &err) < 0)
		return;
	char *text CLEANUP_FREE = json_print(once);
	cJSON *again CLEANUP_JSON = NULL;
	if (text == NULL || json_parse(text, strlen(text), &again, &err) < 0)
		abort();
	if (once_only && (step(again, &err) < 0 || !cJSON_Compare(once, again, true)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cJSON *document CLEANUP_JSON = NULL;
	struct error err = {0};
	if (json_parse((const char *)data, size, &document, &err) < 0)
		return 0;
	const struct json_at root = json_root(document);
	if (json_check_names(&root, &err) < 0)
		return 0;
	check(document, upgrade_report_1, true);
	check(document, upgrade_journal_1, false);
	return 0;
}
