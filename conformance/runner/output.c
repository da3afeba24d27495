/* SPDX-License-Identifier: MIT */
#include "conformance/runner/output.h"

#include "base/file.h"
#include "base/path.h"
#include "reports/journal.h"
#include "reports/journal_read.h"
#include "reports/writer.h"

static void list_reports(struct text_list *names)
{
	for (const struct writer *writer = writers; writer->name != NULL; writer++) {
		if (writer->file_name != NULL)
			text_list_add(names, writer->file_name);
	}
}

static int remove_evidence(const char *directory, const struct journal_log *log, struct error *err)
{
	char *evidence CLEANUP_FREE = path_join(directory, OUTPUT_EVIDENCE);
	struct text_list rest CLEANUP_TEXT_LIST = {0};
	struct file_status status = {0};
	if (file_status(evidence, false, &status, NULL) == 0 && status.kind == FILE_LINK)
		return file_remove_tree(evidence, err);

	int rc = file_expect_private(evidence, err);
	for (size_t i = 0; rc == 0 && i < log->count; i++) {
		const char *check = json_pointer_string(log->records[i].json, "/check");
		if (log->records[i].type != JOURNAL_CHECK_BEGIN || check == NULL ||
		    !path_is_bare_name(check))
			continue;
		char *path CLEANUP_FREE = path_join(evidence, check);
		rc = file_remove_tree(path, err);
	}
	if (rc == 0 && file_list(evidence, &rest, NULL) == 0 && rest.count == 0)
		rc = file_remove_tree(evidence, err);
	return rc;
}

static int remove_run(const char *directory, const char *journal, struct error *err)
{
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	struct text_list reports CLEANUP_TEXT_LIST = {0};
	struct error unreadable = {0};

	int rc = journal_read(journal, &log, &unreadable);
	if (rc < 0 && rc != ERROR_FORMAT && rc != ERROR_LIMIT)
		return error_copy(err, &unreadable);
	if (rc < 0)
		return error_set(err, ERROR_ARGUMENT,
				 "files of an earlier run are not replaced, since its journal "
				 "cannot be read; use another folder: %s",
				 unreadable.text);

	/* The journal goes last: until then it shows that the other files belong to a run. */
	list_reports(&reports);
	rc = remove_evidence(directory, &log, err);
	for (size_t i = 0; rc == 0 && i < reports.count; i++) {
		char *path CLEANUP_FREE = path_join(directory, reports.items[i]);
		rc = file_remove_tree(path, err);
	}
	return rc == 0 ? file_remove_tree(journal, err) : rc;
}

int output_open(const char *directory, int *lock, char **held, struct error *err)
{
	*lock = -1;
	int rc = file_hold_directory(directory, 0755, lock, held, err);
	if (rc == ERROR_BUSY) {
		rc = error_set(err, ERROR_ARGUMENT,
			       "another run is writing to %s; wait for it or use another folder",
			       directory);
	} else if (rc == 0) {
		char *journal CLEANUP_FREE = path_join(*held, JOURNAL_FILE_NAME);
		struct text_list names CLEANUP_TEXT_LIST = {0};
		if (file_exists(journal)) {
			rc = remove_run(*held, journal, err);
		} else {
			/* Without a journal nothing proves that reports and evidence belong to a run. */
			list_reports(&names);
			text_list_add(&names, OUTPUT_EVIDENCE);
			text_each (name, &names) {
				char *path CLEANUP_FREE = path_join(*held, name);
				if (rc == 0 && file_exists(path))
					rc = error_set(
						err, ERROR_ARGUMENT,
						"%s exists and there is no journal of a run next to it; "
						"use another folder",
						path);
			}
		}
	}
	file_name_held(*held, directory, err);
	if (rc == ERROR_PERMISSION || rc == ERROR_EXISTS)
		rc = ERROR_ARGUMENT;
	return rc < 0 ? error_wrap(err, rc, "output folder") : 0;
}

int output_write(const char *held, const char *relative, const void *data, size_t size,
		 struct error *err)
{
	char *evidence CLEANUP_FREE = path_join(held, OUTPUT_EVIDENCE);
	char *path CLEANUP_FREE = path_join(held, relative);
	char *directory CLEANUP_FREE = path_directory(path);
	int rc = file_expect_private(evidence, err);
	if (rc == 0)
		rc = file_expect_private(directory, err);
	if (rc == 0)
		rc = file_make_directories(directory, 0755, err);
	if (rc == 0)
		rc = file_write_atomic(path, data, size, 0644, err);
	if (rc < 0)
		file_name_held(held, "", err);
	return rc;
}
