/* SPDX-License-Identifier: MIT */
#include "reports/certificates/bundle.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "reports/certificates/dsse.h"
#include "reports/certificates/folder.h"
#include "reports/journal.h"
#include "reports/redact/redact.h"
#include "reports/render.h"
#include "reports/view.h"
#include "reports/writer.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <string.h>

/* 1980-01-01, the first time that every archive format can hold. */
enum { TIME = 315532800 };

struct packing {
	const char *directory;
	struct bundle *bundle;
	struct redactor *redactor; /* NULL: as stored */
	struct text journal;
	struct journal_log log;
	cJSON *report;
	struct archive *archive;
	struct text packed;
	char *folder; /* the folder of all files in the archive */
	size_t size;
};

static la_ssize_t keep_packed(struct archive *archive, void *user, const void *data, size_t size)
{
	(void)archive;
	text_append(user, data, size);
	return (la_ssize_t)size;
}

static int archive_failed(const struct packing *packing, struct error *err)
{
	return error_set(err, ERROR_IO, "the archive: %s", archive_error_string(packing->archive));
}

static void free_entry(struct archive_entry **entry)
{
	archive_entry_free(*entry);
}

static int add_file(struct packing *packing, const char *name, const char *data, size_t size,
		    struct error *err)
{
	struct archive_entry *entry CLEANUP(free_entry) = archive_entry_new();
	char *path CLEANUP_FREE = text_format("%s/%s", packing->folder, name);
	if (entry == NULL)
		return error_memory(err);
	packing->size += size;
	if (packing->size > BUNDLE_SIZE_MAX || packing->bundle->files++ == BUNDLE_FILES_MAX)
		return error_set(err, ERROR_LIMIT,
				 "more than %d files or %d bytes: too much for one archive",
				 (int)BUNDLE_FILES_MAX, (int)BUNDLE_SIZE_MAX);
	archive_entry_set_pathname(entry, path);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_mtime(entry, TIME, 0);
	archive_entry_set_size(entry, (la_int64_t)size);
	return archive_write_header(packing->archive, entry) == ARCHIVE_OK &&
			       archive_write_data(packing->archive, data, size) == (la_ssize_t)size
		       ? 0
		       : archive_failed(packing, err);
}

/* Reads the journal's records, and makes their report. */
static int parse_journal(struct packing *packing, struct error *err)
{
	int rc = journal_parse(JOURNAL_FILE_NAME, packing->journal.data, packing->journal.size,
			       &packing->log, err);
	if (rc == 0 && packing->log.unchained != 0)
		rc = error_set(err, ERROR_FORMAT, "%s:%zu: the journal was changed after the run",
			       JOURNAL_FILE_NAME, packing->log.unchained);
	return rc == 0 ? report_render(&packing->log, &packing->report, err) : rc;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(view_string(*(cJSON *const *)a, "/path"),
		      view_string(*(cJSON *const *)b, "/path"));
}

/* When it is redacted, its record gets the new path, digest and size. */
static int add_evidence(struct packing *packing, cJSON *record, struct error *err)
{
	const char *path = view_string(record, "/path");
	const char *name = path_base(path);
	const size_t kept = (size_t)(name - path) + strspn(name, "0123456789");
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	int rc = text_starts_with(path, "evidence/")
			 ? report_read_evidence(packing->directory, record, &data, &size, err)
			 : error_set(err, ERROR_FORMAT, "evidence outside of evidence/");
	if (rc < 0)
		return error_wrap(err, rc, "%s", path);
	if (packing->redactor != NULL) {
		char digest[DIGEST_SIZE] = "";
		struct text out CLEANUP_TEXT = {0};
		/* "evidence/api.vulkan/01-NAME", with the name redacted as by the run itself. */
		char *plain CLEANUP_FREE =
			redact_file_name(packing->redactor, view_string(record, "/name"));
		char *renamed CLEANUP_FREE = text_format("%.*s-%.128s", (int)kept, path, plain);
		redact_content(packing->redactor, view_string(record, "/media"), data, size, &out);
		size = out.size;
		free(data);
		data = text_take(&out);
		digest_bytes(data, size, digest);
		(void)cJSON_SetValuestring(cJSON_GetObjectItemCaseSensitive(record, "path"),
					   renamed);
		(void)cJSON_SetValuestring(cJSON_GetObjectItemCaseSensitive(record, "digest"),
					   digest);
		(void)cJSON_SetNumberValue(cJSON_GetObjectItemCaseSensitive(record, "bytes"),
					   (double)size);
	}
	return add_file(packing, view_string(record, "/path"), data, size, err);
}

static int add_all_evidence(struct packing *packing, struct error *err)
{
	size_t count = 0;
	cJSON **records CLEANUP_FREE = memory_allocate(packing->log.count + 1, sizeof(*records));
	int rc = 0;
	for (size_t i = 0; i < packing->log.count; i++) {
		if (packing->log.records[i].type == JOURNAL_EVIDENCE)
			records[count++] = packing->log.records[i].json;
	}
	qsort(records, count, sizeof(cJSON *), by_path);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = i + 1 < count && by_path(&records[i], &records[i + 1]) == 0
			     ? error_set(err, ERROR_FORMAT, "%s: the journal names it twice",
					 view_string(records[i], "/path"))
			     : add_evidence(packing, records[i], err);
	return rc;
}

/* The signed digests are those of the files that the run stored. */
static int add_attestation(struct packing *packing, struct error *err)
{
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	struct error failure = {0};
	if (packing->redactor != NULL)
		return 0;
	int rc = report_read_file(packing->directory, ATTESTATION_FILE_NAME, DSSE_FILE_MAX, &data,
				  &size, &failure);
	if (rc == ERROR_NOT_FOUND)
		return 0;
	if (rc < 0)
		return error_wrap(err, error_copy(err, &failure), "%s", ATTESTATION_FILE_NAME);
	return add_file(packing, ATTESTATION_FILE_NAME, data, size, err);
}

/* The journal without identities, its lines rechained after the evidence was redacted; and its report. */
static int redact_journal(struct packing *packing, struct error *err)
{
	const struct journal_log *log = &packing->log;
	struct text journal CLEANUP_TEXT = {0};
	char prev[DIGEST_SIZE] = "";
	bool known = false;
	digest_bytes("", 0, prev);
	for (size_t i = 0; i < log->count; i++) {
		cJSON *record = log->records[i].json;
		cJSON *environment = cJSON_GetObjectItemCaseSensitive(record, "environment");
		const size_t start = journal.size;
		redact_record(packing->redactor, record);
		if (environment != NULL)
			cJSON_DeleteItemFromObjectCaseSensitive(environment, "redaction");
		/* The first record of an environment says what to redact from now on. */
		if (environment != NULL && !known) {
			cJSON *redaction = redactor_to_json(packing->redactor, false);
			json_add_string(redaction, "rewrittenFrom", log->digest);
			(void)cJSON_AddItemToObject(environment, "redaction", redaction);
			known = true;
		}
		/* An upgraded journal may have several records of one line. */
		cJSON_DeleteItemFromObjectCaseSensitive(record, "prev");
		(void)cJSON_SetNumberValue(cJSON_GetObjectItemCaseSensitive(record, "seq"),
					   (double)(i + 1));
		json_add_string(record, "prev", prev);
		char *line CLEANUP_FREE = json_print_compact(record);
		text_addf(&journal, "%s\n", line);
		digest_bytes(journal.data + start, journal.size - start, prev);
	}
	journal_log_free(&packing->log);
	cJSON_Delete(packing->report);
	packing->report = NULL;
	text_free(&packing->journal);
	packing->journal = STEAL(journal);
	return parse_journal(packing, err);
}

static int add_reports(struct packing *packing, struct error *err)
{
	const struct writer_options options = {0};
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int rc = add_file(packing, JOURNAL_FILE_NAME, packing->journal.data, packing->journal.size,
			  err);
	for (const struct writer *writer = writers; writer->name != NULL; writer++) {
		if (writer->file_name != NULL)
			text_list_add(&names, writer->file_name);
	}
	text_list_sort(&names);
	text_each (name, &names) {
		const struct writer *writer = writers;
		char *text CLEANUP_FREE = NULL;
		while (!text_equal(writer->file_name, name))
			writer++;
		if (rc == 0)
			rc = writer_print(writer, packing->report, &options, &text, err);
		if (rc == 0)
			rc = add_file(packing, name, text, strlen(text), err);
	}
	return rc;
}

static int pack(struct packing *packing, bool keep_identity, struct error *err)
{
	struct text *journal = &packing->journal;
	int rc = report_read_file(packing->directory, JOURNAL_FILE_NAME, JOURNAL_SIZE_MAX,
				  &journal->data, &journal->size, err);
	if (rc < 0)
		return error_wrap(err, rc, "%s", JOURNAL_FILE_NAME);
	journal->capacity = journal->size;
	rc = parse_journal(packing, err);
	if (rc < 0)
		return rc;
	while (packing->log.torn && journal->data[journal->size - 1] != '\n')
		journal->size--; /* an incomplete line */

	/* Is redaction needed, and with which facts? */
	const cJSON *redaction = json_pointer(packing->report, "/environment/redaction");
	const char *identity = json_pointer_string(redaction, "/hostIdentity");
	if (!keep_identity && redaction == NULL) {
		packing->bundle->redaction = BUNDLE_REDACTED_HERE;
		rc = redactor_new(false, NULL, &packing->redactor, err);
		if (rc == 0)
			rc = redactor_add_this_host(packing->redactor, err);
	} else if (!keep_identity && !text_equal(identity, "redacted")) {
		packing->bundle->redaction = BUNDLE_REDACTED;
		rc = redactor_from_json(redaction, false, &packing->redactor, err);
	}
	if (rc < 0)
		return rc;

	char *id CLEANUP_FREE = redact_file_name(NULL, view_string(packing->report, "/run/id"));
	struct archive *archive = packing->archive = archive_write_new();
	packing->folder = text_format("gpucert-%.64s", id);
	if (archive == NULL)
		return error_memory(err);
	if (archive_write_set_format_pax_restricted(archive) != ARCHIVE_OK ||
	    archive_write_add_filter_gzip(archive) != ARCHIVE_OK ||
	    archive_write_set_filter_option(archive, "gzip", "timestamp", NULL) != ARCHIVE_OK ||
	    archive_write_open2(archive, &packing->packed, NULL, keep_packed, NULL, NULL) !=
		    ARCHIVE_OK)
		return archive_failed(packing, err);
	rc = add_attestation(packing, err);
	if (rc == 0)
		rc = add_all_evidence(packing, err);
	if (rc == 0 && packing->redactor != NULL)
		rc = redact_journal(packing, err);
	if (rc == 0)
		rc = add_reports(packing, err);
	if (rc == 0 && archive_write_close(archive) != ARCHIVE_OK)
		rc = archive_failed(packing, err);
	return rc;
}

int bundle_write(const char *directory, const char *path, bool keep_identity, struct bundle *out,
		 struct error *err)
{
	struct packing packing = {.directory = directory, .bundle = out};
	*out = (struct bundle){0};
	int rc = pack(&packing, keep_identity, err);
	if (rc < 0)
		rc = error_wrap(err, rc, "%s", directory);
	if (rc == 0)
		rc = file_write_atomic(path, packing.packed.data, packing.packed.size, 0644, err);
	if (rc == 0)
		memcpy(out->journal, packing.log.digest, DIGEST_SIZE);
	redactor_free(&packing.redactor);
	text_free(&packing.journal);
	journal_log_free(&packing.log);
	cJSON_Delete(packing.report);
	(void)archive_write_free(packing.archive);
	text_free(&packing.packed);
	free(packing.folder);
	return rc;
}
