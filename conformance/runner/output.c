/* SPDX-License-Identifier: MIT */
#include "conformance/runner/output.h"

#include "base/file.h"
#include "base/path.h"
#include "reports/journal.h"
#include "reports/journal_read.h"
#include "reports/writer.h"

#include <string.h>
#include <uv.h>

static int list_reports(struct text_list *names, struct error *err)
{
	int rc = 0;
	for (const struct writer *writer = writers; rc == 0 && writer->name != NULL; writer++) {
		if (writer->file_name != NULL)
			rc = text_list_add(names, writer->file_name, err);
	}
	return rc;
}

/* Without a journal nothing tells that these are a run's. */
static int expect_nothing(const char *directory, struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int rc = list_reports(&names, err);
	if (rc == 0)
		rc = text_list_add(&names, OUTPUT_EVIDENCE, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		char *path CLEANUP_FREE = path_join(directory, names.items[i]);
		if (path == NULL)
			return error_memory(err);
		if (file_exists(path))
			rc = error_set(err, ERROR_ARGUMENT,
				       "%s exists and there is no journal of a run beside it; use "
				       "another folder",
				       path);
	}
	return rc;
}

static bool output_is_link(const char *path)
{
	uv_fs_t request;
	int rc = uv_fs_lstat(NULL, &request, path, NULL);
	bool is_link = rc == 0 && (request.statbuf.st_mode & S_IFMT) == S_IFLNK;
	uv_fs_req_cleanup(&request);
	return is_link;
}

static int remove_evidence(const char *directory, const struct journal_log *log, struct error *err)
{
	char *evidence CLEANUP_FREE = path_join(directory, OUTPUT_EVIDENCE);
	struct text_list rest CLEANUP_TEXT_LIST = {0};
	int rc = evidence != NULL ? 0 : error_memory(err);
	if (rc < 0 || output_is_link(evidence))
		return rc == 0 ? file_remove_tree(evidence, err) : rc;
	rc = file_expect_private(evidence, err);
	for (size_t i = 0; rc == 0 && i < log->count; i++) {
		const cJSON *check = json_pointer(log->records[i].json, "/check");
		char *path CLEANUP_FREE = NULL;
		if (log->records[i].type != JOURNAL_CHECK_BEGIN || !cJSON_IsString(check) ||
		    !path_is_bare_name(check->valuestring))
			continue;
		path = path_join(evidence, check->valuestring);
		rc = path != NULL ? file_remove_tree(path, err) : error_memory(err);
	}
	if (rc == 0 && file_list(evidence, &rest, NULL) == 0 && rest.count == 0)
		rc = file_remove_tree(evidence, err);
	return rc;
}

/* The journal goes last: until then the rest can be told to be of a run. */
static int clear(const char *directory, const char *journal, struct error *err)
{
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	struct text_list reports CLEANUP_TEXT_LIST = {0};
	struct error unreadable = {0};
	int rc = journal_read(journal, &log, &unreadable);
	if (rc < 0 && rc != ERROR_FORMAT && rc != ERROR_LIMIT)
		return error_copy(err, &unreadable);
	if (rc < 0)
		return error_set(err, ERROR_ARGUMENT,
				 "what is there is not replaced, since its journal cannot be "
				 "read; use another folder: %s",
				 unreadable.text);
	rc = list_reports(&reports, err);
	if (rc == 0)
		rc = remove_evidence(directory, &log, err);
	for (size_t i = 0; rc == 0 && i < reports.count; i++) {
		char *path CLEANUP_FREE = path_join(directory, reports.items[i]);
		rc = path != NULL ? file_remove_tree(path, err) : error_memory(err);
	}
	return rc == 0 ? file_remove_tree(journal, err) : rc;
}

static int open_held(const char *held, struct error *err)
{
	char *journal CLEANUP_FREE = path_join(held, JOURNAL_FILE_NAME);
	if (journal == NULL)
		return error_memory(err);
	return file_exists(journal) ? clear(held, journal, err) : expect_nothing(held, err);
}

int output_open(const char *directory, int *lock, char **held, struct error *err)
{
	*lock = -1;
	int rc = file_hold_directory(directory, 0755, lock, held, err);
	if (rc == ERROR_BUSY)
		rc = error_set(err, ERROR_ARGUMENT,
			       "another run is writing to %s; wait for it or use another folder",
			       directory);
	else if (rc == 0)
		rc = open_held(*held, err);
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
	char *directory CLEANUP_FREE = path != NULL ? path_directory(path) : NULL;
	if (evidence == NULL || directory == NULL)
		return error_memory(err);
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
