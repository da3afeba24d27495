/* SPDX-License-Identifier: MIT */
#include "reports/bundle/rewrite.h"

#include "base/path.h"
#include "reports/view.h"

#include <string.h>

static bool set_string(cJSON *object, const char *key, const char *value)
{
	cJSON *member = cJSON_GetObjectItemCaseSensitive(object, key);
	return value != NULL && cJSON_IsString(member) &&
	       cJSON_SetValuestring(member, value) != NULL;
}

/* "evidence/api.vulkan/01-NAME", where the name is redacted as the run itself would have. */
static char *evidence_path(const struct redactor *redactor, const cJSON *record)
{
	const char *path = view_string(record, "/path");
	const char *name = path_base(path);
	size_t kept = (size_t)(name - path) + strspn(name, "0123456789");
	char *plain CLEANUP_FREE = redact_file_name(redactor, view_string(record, "/name"));
	return plain != NULL ? text_format("%.*s-%.128s", (int)kept, path, plain) : NULL;
}

int rewrite_evidence(const struct redactor *redactor, cJSON *record, const char *data, size_t size,
		     struct text *out, struct error *err)
{
	char digest[DIGEST_SIZE] = "";
	char *path CLEANUP_FREE = evidence_path(redactor, record);
	int rc = redact_content(redactor, view_string(record, "/media"), data, size, out, err);
	if (rc < 0)
		return rc;
	digest_bytes(text_string(out), out->size, digest);
	if (!set_string(record, "path", path) || !set_string(record, "digest", digest))
		return error_memory(err);
	(void)cJSON_SetNumberValue(cJSON_GetObjectItemCaseSensitive(record, "bytes"),
				   (double)out->size);
	return 0;
}

/* What the first record of an environment says of redaction from now on. */
static int tell_redaction(const struct redactor *redactor, const char *from, cJSON *environment,
			  struct error *err)
{
	cJSON *told CLEANUP_JSON = redactor_describe(redactor);
	if (told == NULL || !json_add_string(told, "rewrittenFrom", from))
		return error_memory(err);
	cJSON_DeleteItemFromObjectCaseSensitive(environment, "redaction");
	if (!cJSON_AddItemToObject(environment, "redaction", told))
		return error_memory(err);
	(void)STEAL(told);
	return 0;
}

int rewrite_journal(const struct redactor *redactor, const struct journal_log *log,
		    struct text *out, struct error *err)
{
	char prev[DIGEST_SIZE] = "";
	bool told = false;
	digest_bytes("", 0, prev);
	for (size_t i = 0; i < log->count; i++) {
		cJSON *record = log->records[i].json;
		cJSON *environment = cJSON_GetObjectItemCaseSensitive(record, "environment");
		size_t start = out->size;
		int rc = redact_record(redactor, record, err);
		if (rc == 0 && environment != NULL && !told)
			rc = tell_redaction(redactor, log->digest, environment, err);
		else if (rc == 0 && environment != NULL)
			cJSON_DeleteItemFromObjectCaseSensitive(environment, "redaction");
		told = told || environment != NULL;
		if (rc < 0)
			return rc;
		/* An upgraded journal may have several records of one line. */
		cJSON_DeleteItemFromObjectCaseSensitive(record, "prev");
		(void)cJSON_SetNumberValue(cJSON_GetObjectItemCaseSensitive(record, "seq"),
					   (double)(i + 1));
		bool set = json_add_string(record, "prev", prev);
		char *line CLEANUP_FREE = set ? json_print_compact(record) : NULL;
		if (line == NULL)
			return error_memory(err);
		text_addf(out, "%s\n", line);
		if (out->failed)
			return error_memory(err);
		digest_bytes(out->data + start, out->size - start, prev);
	}
	return 0;
}
