/* SPDX-License-Identifier: MIT */
#include "reports/journal_read.h"

#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/schema.h"
#include "reports/journal.h"

#include <string.h>

static int read_line(struct journal_log *log, const char *line, size_t size, struct error *err)
{
	cJSON *json CLEANUP_JSON = NULL;
	struct journal_record record = {0};
	int64_t sequence = 0;
	const char *type = NULL;

	if (size > JOURNAL_LINE_MAX)
		return error_set(err, ERROR_LIMIT, "longer than %d bytes", (int)JOURNAL_LINE_MAX);
	int rc = json_parse(line, size, &json, err);
	if (rc < 0)
		return rc;
	const struct json_at root = json_root(json);
	rc = json_check_names(&root, err);
	if (rc == 0)
		rc = json_need_int(&root, "seq", 0, INT64_MAX, &sequence, err);
	if (rc == 0)
		rc = json_need_int(&root, "atMs", 0, INT64_MAX, &record.at_ms, err);
	if (rc == 0)
		rc = json_need_string(&root, "time", &record.time, err);
	if (rc == 0)
		rc = json_need_string(&root, "type", &type, err);
	if (rc < 0)
		return rc;
	record.type = journal_type_of(type);
	record.line = (size_t)sequence;

	if (record.type == JOURNAL_TYPE_COUNT)
		return json_error(&root, err, "unknown type of record");
	if (record.line != log->count + 1)
		return error_set(err, ERROR_FORMAT, "seq: %zu, expected %zu", record.line,
				 log->count + 1);
	if ((record.type == JOURNAL_RUN_BEGIN) != (log->count == 0))
		return error_set(err, ERROR_FORMAT, "type: a journal begins with one run-begin");
	if (log->unchained == 0 && !text_equal(field_string(json, "prev"), log->digest))
		log->unchained = log->count + 1;
	digest_bytes(line, size + 1, log->digest); /* with its line feed */
	record.json = STEAL(json);
	log->records = array_grow(log->records, log->count, sizeof(*log->records));
	log->records[log->count++] = record;
	return 0;
}

int journal_parse(const char *name, const char *data, size_t size, struct journal_log *log,
		  struct error *err)
{
	const char *end = data + size;
	*log = (struct journal_log){.name = memory_copy(name)};
	digest_bytes("", 0, log->digest);
	int rc = json_check_values(data, size, err);
	if (rc < 0)
		(void)error_wrap(err, rc, "%s", name);

	while (rc == 0 && data < end) {
		const char *newline = memchr(data, '\n', (size_t)(end - data));
		if (newline == NULL) {
			log->torn = true;
			break;
		}
		rc = read_line(log, data, (size_t)(newline - data), err);
		if (rc < 0)
			(void)error_wrap(err, rc, "%s:%zu", name, log->count + 1);
		data = newline + 1;
	}

	if (rc == 0 && log->count == 0)
		rc = error_set(err, ERROR_FORMAT, "%s:1: holds no complete record", name);
	if (rc == 0) {
		rc = schema_check(log->records[0].json, JOURNAL_SCHEMA, err);
		if (rc < 0)
			(void)error_wrap(err, rc, "%s:1", log->name);
	}
	if (rc < 0)
		journal_log_free(log);
	return rc;
}

int journal_read(const char *path, struct journal_log *log, struct error *err)
{
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	int rc = file_read_regular(path, false, JOURNAL_SIZE_MAX, &data, &size, err);
	if (rc == 0)
		rc = journal_parse(path, data, size, log, err);
	if (rc < 0 || log->unchained == 0)
		return rc;

	if (json_pointer(log->records[0].json, "/prev") == NULL)
		rc = error_set(err, ERROR_FORMAT,
			       "%s:1: prev: missing; the journal was changed after the run", path);
	else
		rc = error_set(err, ERROR_FORMAT,
			       "%s:%zu: prev: not the digest of the line before; the journal was "
			       "changed after the run",
			       path, log->unchained);
	journal_log_free(log);
	return rc;
}

void journal_log_free(struct journal_log *log)
{
	for (size_t i = 0; i < log->count; i++)
		cJSON_Delete(log->records[i].json);
	free(log->records);
	free(log->name);
	*log = (struct journal_log){0};
}
