/* SPDX-License-Identifier: MIT */
/* Text of a plugin: redacted text contains no known fact, redacting it again changes nothing, and JSON stays
 * JSON. */
#include "base/text.h"
#include "reports/redact/redact.h"

#include <stdint.h>
#include <string.h>

#define SECRET "hunter2hunter2"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct redactor *known(void)
{
	struct redactor *redactor = NULL;
	if (redactor_new(false, NULL, &redactor, NULL) < 0 ||
	    redactor_add(redactor, REDACT_HOST, "Node7.example", NULL) < 0 ||
	    redactor_add(redactor, REDACT_USER, "jane", NULL) < 0 ||
	    redactor_add(redactor, REDACT_HOME, "C:\\Users\\jane", NULL) < 0 ||
	    redactor_add(redactor, REDACT_SERIAL, "52:54:00:12:34:56", NULL) < 0 ||
	    redactor_add(redactor, REDACT_SECRET, SECRET, NULL) < 0)
		__builtin_trap();
	return redactor;
}

static void redact_document(const struct redactor *redactor, const char *data, size_t size)
{
	cJSON *json CLEANUP_JSON = NULL;
	cJSON *again CLEANUP_JSON = NULL;
	struct text once CLEANUP_TEXT = {0};
	if (json_parse(data, size, &json, NULL) < 0)
		return;
	redact_content(redactor, "application/json", data, size, &once);
	if (json_parse(text_string(&once), once.size, &again, NULL) < 0)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct redactor *redactor CLEANUP_REDACTOR = known();
	struct text once CLEANUP_TEXT = {0};
	struct text twice CLEANUP_TEXT = {0};
	redact_text(redactor, (const char *)data, size, &once);
	redact_text(redactor, text_string(&once), once.size, &twice);
	if (once.failed || twice.failed || once.size != twice.size ||
	    (once.size != 0 && memcmp(once.data, twice.data, once.size) != 0))
		__builtin_trap();
	/* A known secret is found whatever surrounds it. */
	for (size_t at = 0; at + strlen(SECRET) <= once.size; at++) {
		if (memcmp(once.data + at, SECRET, strlen(SECRET)) == 0)
			__builtin_trap();
	}
	redact_document(redactor, (const char *)data, size);
	return 0;
}
