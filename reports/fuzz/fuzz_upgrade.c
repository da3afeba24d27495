/* SPDX-License-Identifier: MIT */
/* Any JSON document goes through the steps from version 1: what is there stays a document, and a second time changes nothing. */

#include "reports/upgrade/upgrade.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const cJSON *document, schema_step *step)
{
	cJSON *once CLEANUP_JSON = cJSON_Duplicate(document, true);
	struct error err = {0};
	if (once == NULL || step(once, &err) < 0)
		return;
	char *text CLEANUP_FREE = json_print(once);
	cJSON *again CLEANUP_JSON = NULL;
	if (text == NULL || json_parse(text, strlen(text), &again, &err) < 0)
		abort();
	if (step(again, &err) < 0 || !cJSON_Compare(once, again, true))
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
	check(document, upgrade_report_1);
	check(document, upgrade_journal_1);
	return 0;
}
