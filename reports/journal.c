/* SPDX-License-Identifier: MIT */
#include "reports/journal.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/memory.h"
#include "reports/environment.h"

#include <uv.h>

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#error "the project is built with GCC or Clang"
#endif

/* Kinds of records of a running check, by the limit that they count against. */
enum seen { SEEN_FAILED, SEEN_HELD, SEEN_OTHER, SEEN_COUNT };

struct share {
	size_t bytes;	  /* out of JOURNAL_SEEN_MAX */
	size_t count;	  /* out of JOURNAL_SEEN_COUNT_MAX */
	int64_t left_out; /* records beyond the limits */
};

struct tally {
	char *check;
	struct share shares[SEEN_COUNT];
};

struct journal {
	char *path;
	const struct redactor *redactor;
	uv_file file;
	int64_t sequence; /* of the last record */
	int64_t size;
	uint64_t start_ms;
	bool torn;		  /* a partial line could not be removed */
	char digest[DIGEST_SIZE]; /* of the last line */
	struct tally *tallies;	  /* of running checks: with -j several */
	size_t tally_count;
};

/* The check's tally, which begins at its first use. */
static struct tally *tally_of(struct journal *journal, const char *check)
{
	for (size_t i = 0; i < journal->tally_count; i++) {
		if (text_equal(journal->tallies[i].check, check))
			return &journal->tallies[i];
	}
	journal->tallies = memory_resize(journal->tallies, journal->tally_count + 1,
					 sizeof(*journal->tallies));
	struct tally *tally = &journal->tallies[journal->tally_count++];
	*tally = (struct tally){.check = memory_copy(check)};
	return tally;
}

/* One line: the members that every record has, then those of `record`. */
static int make_line(const struct journal *journal, enum journal_type type, const cJSON *record,
		     struct text *line, struct error *err)
{
	char utc[CLOCK_UTC_SIZE] = "";
	char *json CLEANUP_FREE = json_print_compact(record);
	text_addf(
		line,
		"{\"seq\":%lld,\"prev\":\"%s\",\"atMs\":%llu,\"time\":\"%s\",\"type\":\"%s\"%s%s\n",
		(long long)journal->sequence + 1, journal->digest,
		(unsigned long long)(clock_monotonic_ms() - journal->start_ms), clock_utc(utc),
		journal_shapes[type].name, record->child != NULL ? "," : "", json + 1);
	if (line->size > JOURNAL_LINE_MAX)
		return error_set(err, ERROR_LIMIT, "%s: a record is longer than %d bytes",
				 journal->path, (int)JOURNAL_LINE_MAX);
	return 0;
}

/* A text must be redacted before it is cut: a name cut in half would not be recognised. */
static void add_text(const struct journal *journal, struct members *record, const char *key,
		     const char *text)
{
	char *redacted CLEANUP_FREE = redact_string(journal->redactor, text);
	member_cut(record, key, redacted, JOURNAL_TEXT_MAX);
}

/* Consumes the record. `share` is the tally that it counts against; NULL: no limit. */
static int append(struct journal *journal, enum journal_type type, struct members *record,
		  struct share *share, struct error *err)
{
	cJSON *json CLEANUP_JSON = members_take(record);
	struct text line CLEANUP_TEXT = {0};
	uv_fs_t request;
	redact_record(journal->redactor, json);
	int rc = make_line(journal, type, json, &line, err);
	if (rc != 0)
		return rc;
	if (share != NULL && (share->count == JOURNAL_SEEN_COUNT_MAX ||
			      share->bytes + line.size > JOURNAL_SEEN_MAX)) {
		share->left_out++;
		return 0;
	}

	if (journal->torn)
		return error_set(err, ERROR_IO, "%s: an earlier record was written in part",
				 journal->path);
	if (journal->size + (int64_t)line.size > JOURNAL_SIZE_MAX)
		return error_set(err, ERROR_LIMIT, "%s: longer than %d bytes", journal->path,
				 (int)JOURNAL_SIZE_MAX);
	uv_buf_t buffer = uv_buf_init(line.data, (unsigned)line.size);
	int count = uv_fs_write(NULL, &request, journal->file, &buffer, 1, journal->size, NULL);
	uv_fs_req_cleanup(&request);
	if (count < 0)
		return error_uv(err, count, "%s", journal->path);
	if ((size_t)count != line.size) {
		/* Truncates the partial line, so that the next one starts on its own. */
		rc = uv_fs_ftruncate(NULL, &request, journal->file, journal->size, NULL);
		uv_fs_req_cleanup(&request);
		journal->torn = rc < 0;
		return error_uv(err, UV_ENOSPC, "%s", journal->path);
	}

	journal->size += (int64_t)line.size;
	journal->sequence++;
	digest_bytes(line.data, line.size, journal->digest);
	if (share != NULL) {
		share->bytes += line.size;
		share->count++;
	}
	if (!journal_shapes[type].durable)
		return 0;
	rc = uv_fs_fdatasync(NULL, &request, journal->file, NULL);
	uv_fs_req_cleanup(&request);
	return rc < 0 ? error_uv(err, rc, "%s", journal->path) : 0;
}

int journal_create(const char *path, const struct journal_run *run, struct journal **out,
		   struct error *err)
{
	struct journal *journal CLEANUP_JOURNAL = memory_allocate(1, sizeof(*journal));
	struct members record CLEANUP_MEMBERS = members_new();
	struct text line CLEANUP_TEXT = {0};
	uv_fs_t request;

	journal->file = -1;
	journal->start_ms = clock_monotonic_ms();
	journal->redactor = run->redactor;
	journal->path = memory_copy(path);
	digest_bytes("", 0, journal->digest);
	if (file_exists(path))
		return error_set(err, ERROR_EXISTS, "%s: exists; a journal is never overwritten",
				 path);
	member_string(&record, "schema", JOURNAL_SCHEMA);
	member_string(&record, "id", run->id);
	struct members harness = member_object(&record, "harness");
	member_string(&harness, "version", GPUCERT_VERSION);
	member_string(&harness, "commit", run->commit);
	member_string(&harness, "compiler", COMPILER);
	member_string(&harness, "tableDigest", run->table_digest);
	struct members invocation = member_object(&record, "invocation");
	member_strings(&invocation, "argv", run->argv);
	member_int(&invocation, "timeoutPercent", run->timeout_percent);
	member_int(&invocation, "minRun", run->min_run);
	member_bool(&invocation, "conformanceRequired", run->conformance_required);

	/* The file is created together with its first record. */
	redact_record(journal->redactor, record.object);
	int rc = make_line(journal, JOURNAL_RUN_BEGIN, record.object, &line, err);
	if (rc == 0)
		rc = file_write_atomic(path, line.data, line.size, 0644, err);
	if (rc != 0)
		return rc;
	journal->size = (int64_t)line.size;
	journal->sequence = 1;
	digest_bytes(line.data, line.size, journal->digest);
	journal->file = uv_fs_open(NULL, &request, path, UV_FS_O_WRONLY, 0, NULL);
	uv_fs_req_cleanup(&request);
	if (journal->file < 0)
		return error_uv(err, journal->file, "%s", path);
	*out = STEAL(journal);
	return 0;
}

void journal_close(struct journal **journal)
{
	uv_fs_t request;
	if (*journal == NULL)
		return;
	if ((*journal)->file >= 0) {
		(void)uv_fs_close(NULL, &request, (*journal)->file, NULL);
		uv_fs_req_cleanup(&request);
	}
	for (size_t i = 0; i < (*journal)->tally_count; i++)
		free((*journal)->tallies[i].check);
	free((*journal)->tallies);
	free((*journal)->path);
	free(*journal);
	*journal = NULL;
}

int journal_add_environment(struct journal *journal, const cJSON *environment, struct error *err)
{
	struct members record CLEANUP_MEMBERS = members_new();
	cJSON *scratch CLEANUP_JSON = environment_new();
	struct json_at record_at = {0};
	struct json_at root = {.node = environment, .parent = &record_at, .key = "environment"};
	int rc = environment_merge(scratch, &root, err); /* only checks it */
	if (rc < 0)
		return rc;
	member_copy(&record, "environment", environment);
	return append(journal, JOURNAL_ENVIRONMENT, &record, NULL, err);
}

int journal_add_plan(struct journal *journal, struct members *plan, struct error *err)
{
	return append(journal, JOURNAL_PLAN, plan, NULL, err);
}

int journal_add_phase(struct journal *journal, enum report_phase phase, const char *what,
		      uint64_t duration_ms, struct error *err)
{
	struct members record CLEANUP_MEMBERS = members_new();
	member_string(&record, "phase", report_phase_names[phase]);
	add_text(journal, &record, "what", what);
	member_int(&record, "durationMs", (int64_t)duration_ms);
	return append(journal, JOURNAL_PHASE, &record, NULL, err);
}

int journal_begin_check(struct journal *journal, const char *check, uint64_t timeout_ms,
			struct error *err)
{
	struct members record CLEANUP_MEMBERS = members_new();
	member_string(&record, "check", check);
	member_int(&record, "timeoutMs", (int64_t)timeout_ms);
	return append(journal, JOURNAL_CHECK_BEGIN, &record, NULL, err);
}

int journal_add_seen(struct journal *journal, const char *check, enum journal_type type,
		     const cJSON *seen, struct error *err)
{
	static const char *const also[] = {"type", NULL};
	struct json_checking checking = {.also = also};
	struct members record CLEANUP_MEMBERS = members_new();
	struct json_at root = json_root(seen);
	enum seen kind = SEEN_OTHER;
	int rc = json_members_check(&root, journal_shapes[type].members, &checking, err);
	if (rc != 0)
		return rc;
	if (type == JOURNAL_ASSERTION)
		kind = cJSON_IsTrue(field_get(seen, "ok")) ? SEEN_HELD : SEEN_FAILED;
	member_string(&record, "check", check);
	json_members_copy(seen, journal_shapes[type].members, &record);
	return append(journal, type, &record, &tally_of(journal, check)->shares[kind], err);
}

int journal_add_event(struct journal *journal, const char *check, const char *kind,
		      const char *text, struct error *err)
{
	struct members record CLEANUP_MEMBERS = members_new();
	member_string(&record, "check", check);
	member_string(&record, "kind", kind);
	add_text(journal, &record, "text", text);
	return append(journal, JOURNAL_EVENT, &record, NULL, err);
}

int journal_hold_check(struct journal *journal, const char *check, const char *cause,
		       const char *reason, struct error *err)
{
	struct members record CLEANUP_MEMBERS = members_new();
	member_string(&record, "check", check);
	member_string(&record, "cause", cause);
	add_text(journal, &record, "reason", reason);
	return append(journal, JOURNAL_CHECK_HELD, &record, NULL, err);
}

int journal_end_check(struct journal *journal, const struct journal_check_end *end,
		      struct error *err)
{
	struct members record CLEANUP_MEMBERS = members_new();
	member_string(&record, "check", end->check);
	member_string(&record, "outcome", report_outcome_names[end->outcome]);
	add_text(journal, &record, "reason", end->reason);
	member_int(&record, "durationMs", (int64_t)end->duration_ms);
	struct members phases = member_object(&record, "phasesMs");
	for (int i = 0; i < REPORT_PHASE_COUNT; i++)
		member_int(&phases, report_phase_names[i], (int64_t)end->phases_ms[i]);
	if (end->watched_thorough_ms != 0) {
		struct members watched = member_object(&record, "watched");
		member_int(&watched, "ms", (int64_t)end->watched_ms);
		member_int(&watched, "thoroughMs", (int64_t)end->watched_thorough_ms);
	}
	struct tally *tally = tally_of(journal, end->check);
	int64_t left_out = 0;
	for (int i = 0; i < SEEN_COUNT; i++)
		left_out += tally->shares[i].left_out;
	member_int(&record, "leftOut", left_out);
	free(tally->check);
	*tally = journal->tallies[--journal->tally_count];
	if (end->advice != NULL)
		add_text(journal, &record, "advice", end->advice);
	return append(journal, JOURNAL_CHECK_END, &record, NULL, err);
}

int journal_abort(struct journal *journal, enum report_abort abort, const char *reason,
		  struct error *err)
{
	struct members record CLEANUP_MEMBERS = members_new();
	member_string(&record, "kind", report_abort_names[abort]);
	add_text(journal, &record, "reason", reason);
	return append(journal, JOURNAL_ABORT, &record, NULL, err);
}

int journal_end(struct journal *journal, struct error *err)
{
	struct members record CLEANUP_MEMBERS = members_new();
	return append(journal, JOURNAL_RUN_END, &record, NULL, err);
}
