/* SPDX-License-Identifier: MIT */
#include "reports/journal.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/file.h"
#include "reports/environment.h"
#include "reports/items.h"
#include "reports/journal_record.h"

#include <string.h>
#include <uv.h>

struct journal {
	char *path;
	uv_file file;
	int64_t sequence; /* of the last record */
	int64_t size;
	uint64_t start_ms;
	bool torn;		  /* a line that failed could not be taken back */
	char digest[DIGEST_SIZE]; /* of the last line */
};

/* One line with the members that every record has in front of those of `record`. */
static int journal_line(const struct journal *journal, const cJSON *record, struct text *line,
			struct error *err)
{
	char utc[CLOCK_UTC_SIZE] = "";
	char *json CLEANUP_FREE = json_print_compact(record);

	if (json == NULL)
		return error_memory(err);
	text_addf(line, "{\"seq\":%lld,\"prev\":\"%s\",\"atMs\":%llu,\"time\":\"%s\",",
		  (long long)journal->sequence + 1, journal->digest,
		  (unsigned long long)(clock_monotonic_ms() - journal->start_ms), clock_utc(utc));
	text_add(line, json + 1); /* every record holds its type, so a member follows */
	text_add(line, "\n");
	if (line->failed)
		return error_memory(err);
	if (line->size > JOURNAL_LINE_MAX)
		return error_set(err, ERROR_LIMIT, "%s: a record is longer than %d bytes",
				 journal->path, (int)JOURNAL_LINE_MAX);
	return 0;
}

/* Takes a line back that was written in part, so that the next one starts on its own. */
static int journal_untear(struct journal *journal, int reason, struct error *err)
{
	uv_fs_t request;

	journal->torn = uv_fs_ftruncate(NULL, &request, journal->file, journal->size, NULL) < 0;
	uv_fs_req_cleanup(&request);
	return error_uv(err, reason, "%s", journal->path);
}

static int journal_write(struct journal *journal, const struct text *line, struct error *err)
{
	uv_buf_t buffer = uv_buf_init(line->data, (unsigned)line->size);
	uv_fs_t request;
	int count = 0;

	if (journal->torn)
		return error_set(err, ERROR_IO, "%s: an earlier record was written in part",
				 journal->path);
	if (journal->size + (int64_t)line->size > JOURNAL_SIZE_MAX)
		return error_set(err, ERROR_LIMIT, "%s: longer than %d bytes", journal->path,
				 (int)JOURNAL_SIZE_MAX);
	count = uv_fs_write(NULL, &request, journal->file, &buffer, 1, journal->size, NULL);
	uv_fs_req_cleanup(&request);
	if (count < 0)
		return error_uv(err, count, "%s", journal->path);
	if ((size_t)count != line->size)
		return journal_untear(journal, UV_ENOSPC, err);
	journal->size += (int64_t)line->size;
	journal->sequence++;
	digest_bytes(line->data, line->size, journal->digest);
	return 0;
}

static int journal_flush(struct journal *journal, struct error *err)
{
	uv_fs_t request;
	int rc = uv_fs_fdatasync(NULL, &request, journal->file, NULL);

	uv_fs_req_cleanup(&request);
	return rc < 0 ? error_uv(err, rc, "%s", journal->path) : 0;
}

int journal_append(struct journal *journal, cJSON *record, enum journal_durability durability,
		   struct error *err)
{
	cJSON *owned CLEANUP_JSON = record;
	struct text line CLEANUP_TEXT = {0};
	int rc = owned != NULL ? 0 : error_memory(err);

	rc = rc == 0 ? journal_line(journal, owned, &line, err) : rc;
	rc = rc == 0 ? journal_write(journal, &line, err) : rc;
	return rc == 0 && durability == JOURNAL_DURABLE ? journal_flush(journal, err) : rc;
}

/* The first record comes into being together with the file. */
static int journal_start(struct journal *journal, const struct journal_run *run, struct error *err)
{
	cJSON *record CLEANUP_JSON = journal_record_run_begin(run);
	struct text line CLEANUP_TEXT = {0};
	uv_fs_t request;
	int rc = record != NULL ? 0 : error_memory(err);

	if (rc == 0 && file_exists(journal->path))
		rc = error_set(err, ERROR_EXISTS, "%s: exists; a journal is never overwritten",
			       journal->path);
	rc = rc == 0 ? journal_line(journal, record, &line, err) : rc;
	rc = rc == 0 ? file_write_atomic(journal->path, line.data, line.size, 0644, err) : rc;
	if (rc < 0)
		return rc;
	journal->size = (int64_t)line.size;
	journal->sequence = 1;
	digest_bytes(line.data, line.size, journal->digest);
	journal->file = uv_fs_open(NULL, &request, journal->path, UV_FS_O_WRONLY, 0, NULL);
	uv_fs_req_cleanup(&request);
	return journal->file < 0 ? error_uv(err, journal->file, "%s", journal->path) : 0;
}

int journal_create(const char *path, const struct journal_run *run, struct journal **out,
		   struct error *err)
{
	struct journal *journal CLEANUP_JOURNAL = calloc(1, sizeof(*journal));
	int rc = 0;

	if (journal == NULL)
		return error_memory(err);
	journal->file = -1;
	journal->start_ms = clock_monotonic_ms();
	digest_bytes("", 0, journal->digest);
	journal->path = strdup(path);
	rc = journal->path != NULL ? journal_start(journal, run, err) : error_memory(err);
	if (rc == 0)
		*out = STEAL(journal);
	return rc;
}

void journal_close(struct journal *journal)
{
	uv_fs_t request;

	if (journal == NULL)
		return;
	if (journal->file >= 0) {
		(void)uv_fs_close(NULL, &request, journal->file, NULL);
		uv_fs_req_cleanup(&request);
	}
	free(journal->path);
	free(journal);
}

void journal_cleanup_(struct journal **journal)
{
	journal_close(*journal);
}

int journal_add_environment(struct journal *journal, const cJSON *environment, struct error *err)
{
	cJSON *record CLEANUP_JSON = journal_record_environment(environment);
	cJSON *scratch CLEANUP_JSON = environment_new();
	struct json_at root = json_root(record);
	int rc = record != NULL && scratch != NULL ? 0 : error_memory(err);

	rc = rc == 0 ? environment_merge(scratch, &root, err) : rc;
	return rc == 0 ? journal_append(journal, STEAL(record), JOURNAL_BUFFERED, err) : rc;
}

int journal_add_plan(struct journal *journal, const struct journal_plan *plan, struct error *err)
{
	return journal_append(journal, journal_record_plan(plan), JOURNAL_BUFFERED, err);
}

int journal_add_phase(struct journal *journal, enum report_phase phase, const char *what,
		      uint64_t duration_ms, struct error *err)
{
	return journal_append(journal, journal_record_phase(phase, what, duration_ms),
			      JOURNAL_BUFFERED, err);
}

int journal_begin_check(struct journal *journal, const char *check, unsigned attempt,
			uint64_t timeout_ms, struct error *err)
{
	return journal_append(journal, journal_record_check_begin(check, attempt, timeout_ms),
			      JOURNAL_DURABLE, err);
}

int journal_add_evidence(struct journal *journal, const char *check, const cJSON *evidence,
			 struct error *err)
{
	struct json_at root = json_root(evidence);
	cJSON *checked CLEANUP_JSON = cJSON_CreateArray();
	int rc = 0;

	if (checked == NULL)
		return error_memory(err);
	rc = item_copy_evidence(&root, checked, err);
	return rc == 0 ? journal_append(journal, journal_record_evidence(check, checked->child),
					JOURNAL_BUFFERED, err)
		       : rc;
}

int journal_add_event(struct journal *journal, const char *check, const char *kind,
		      const char *text, struct error *err)
{
	return journal_append(journal, journal_record_event(check, kind, text), JOURNAL_BUFFERED,
			      err);
}

int journal_hold_check(struct journal *journal, const char *check, const char *cause,
		       const char *reason, struct error *err)
{
	return journal_append(journal, journal_record_check_held(check, cause, reason),
			      JOURNAL_BUFFERED, err);
}

int journal_end_check(struct journal *journal, const struct journal_check_end *end,
		      struct error *err)
{
	return journal_append(journal, journal_record_check_end(end), JOURNAL_DURABLE, err);
}

int journal_abort(struct journal *journal, enum report_abort abort, const char *reason,
		  struct error *err)
{
	return journal_append(journal, journal_record_abort(abort, reason), JOURNAL_DURABLE, err);
}

int journal_end(struct journal *journal, struct error *err)
{
	return journal_append(journal, journal_record_run_end(), JOURNAL_DURABLE, err);
}
