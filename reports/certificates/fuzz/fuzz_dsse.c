/* SPDX-License-Identifier: MIT */
/* Envelopes, and the statements in them. Accepted ones are bounded, and changed ones are never trusted. */
#include "reports/certificates/dsse.h"
#include "reports/certificates/statement.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_statement(const struct dsse *dsse)
{
	cJSON *statement CLEANUP_JSON = NULL;
	char digest[DIGEST_SIZE] = "";
	if (json_parse(dsse->payload, dsse->size, &statement, NULL) < 0 ||
	    statement_check(statement, NULL) < 0)
		return;
	statement_digest(statement, "report.json", digest);
	if (memchr(digest, '\0', sizeof(digest)) == NULL)
		__builtin_trap();
	(void)statement_has_subject(statement, digest[0] != '\0' ? digest : "sha256:");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct key nobody = {.id = "0"};
	struct dsse dsse CLEANUP_DSSE = {0};
	cJSON *envelope CLEANUP_JSON = NULL;
	struct error err = {0};
	if (json_parse((const char *)data, size, &envelope, &err) < 0)
		return 0;
	int rc = dsse_open(envelope, &nobody, &dsse, &err);
	if (rc != err.code || rc > 0)
		__builtin_trap();
	if (rc < 0)
		return 0;
	if (dsse.keyid == NULL || dsse.size > size || dsse.trust == DSSE_TRUSTED)
		__builtin_trap();
	check_statement(&dsse);
	return 0;
}
