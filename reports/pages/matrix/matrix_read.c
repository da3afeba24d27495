/* SPDX-License-Identifier: MIT */
#include "reports/pages/matrix/matrix.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "reports/report_file.h"

#include <string.h>
#include <uv.h>

enum { DEPTH_MAX = 16, THREADS_MAX = 8 };

#define REPORT_NAME "report.json"

static int add_folder(const char *folder, unsigned depth, struct text_list *found,
		      struct text_list *unread, struct error *err);

static int add_entry(const char *folder, const uv_dirent_t *entry, unsigned depth,
		     struct text_list *found, struct text_list *unread, struct error *err)
{
	char *path CLEANUP_FREE = path_join(folder, entry->name);
	if (path == NULL)
		return error_memory(err);
	const bool is_report = strcmp(entry->name, REPORT_NAME) == 0;
	struct file_status status = {.kind = entry->type == UV_DIRENT_DIR ? FILE_DIRECTORY
									  : FILE_REGULAR};
	struct error why = {0};
	/* Some file systems do not say what they list. */
	if ((is_report || entry->type == UV_DIRENT_UNKNOWN) &&
	    file_status(path, false, &status, &why) < 0)
		return text_list_addf(unread, err, "%s", why.text);
	if (status.kind == FILE_DIRECTORY)
		return add_folder(path, depth + 1, found, unread, err);
	if (is_report && status.kind == FILE_LINK)
		return text_list_addf(unread, err, "%s: a link, which is not followed", path);
	return is_report ? text_list_add(found, path, err) : 0;
}

static int add_folder(const char *folder, unsigned depth, struct text_list *found,
		      struct text_list *unread, struct error *err)
{
	uv_fs_t request CLEANUP(uv_fs_req_cleanup) = {0};
	uv_dirent_t entry = {0};
	int rc = 0;
	if (depth == DEPTH_MAX)
		return text_list_addf(unread, err, "%s: more than %d folders deep", folder,
				      (int)DEPTH_MAX);
	int count = uv_fs_scandir(NULL, &request, folder, 0, NULL);
	if (count < 0)
		return text_list_addf(unread, err, "%s: %s", folder, uv_strerror(count));
	while (rc == 0 && uv_fs_scandir_next(&request, &entry) == 0)
		rc = add_entry(folder, &entry, depth, found, unread, err);
	return rc;
}

/* Most of a report, of which nothing is counted. */
static const char *const unneeded[] = {
	"assertions", "attempts", "evidence",	  "notes",	 "events",	 "phases",
	"phasesMs",   "time",	  "observations", "predictions", "requirements", "totals",
	"invocation", "advice",	  "title",	  "reason",	 "cause",	 "unproven",
	"watched",    "expected", "level",	  "severity",	 "requirement",	 "disposition",
	"leftOut",    NULL};

/* What the threads share; the lock is for all but `paths`. */
struct reading {
	const struct text_list *paths;
	uv_mutex_t lock;
	size_t next, done;
	struct matrix *matrix;
	struct text_list *unread;
	matrix_progress *progress;
	int rc; /* not 0: all end */
	struct error err;
};

/* With the lock. */
static void take(struct reading *it, const char *path, const cJSON *report, struct error *why)
{
	int rc = report != NULL ? matrix_add(it->matrix, path, report, why) : why->code;
	if (rc < 0 && rc != ERROR_MEMORY && it->rc == 0)
		it->rc = text_list_addf(it->unread, &it->err, "%s%s%s", report != NULL ? path : "",
					report != NULL ? ": " : "", why->text);
	else if (rc == ERROR_MEMORY)
		it->rc = error_copy(&it->err, why);
	it->done++;
	if (it->progress != NULL)
		it->progress(it->done, it->paths->count);
}

static void read_reports(void *user)
{
	struct reading *it = user;
	uv_mutex_lock(&it->lock);
	while (it->rc == 0 && it->next < it->paths->count) {
		const char *path = it->paths->items[it->next++];
		cJSON *report CLEANUP_JSON = NULL;
		struct error why = {0};
		uv_mutex_unlock(&it->lock);
		(void)report_file_read(path, unneeded, &report, &why);
		uv_mutex_lock(&it->lock);
		take(it, path, report, &why);
		uv_mutex_unlock(&it->lock);
		cJSON_Delete(STEAL(report));
		uv_mutex_lock(&it->lock);
	}
	uv_mutex_unlock(&it->lock);
}

static int read_all(struct reading *it, struct error *err)
{
	uv_thread_t threads[THREADS_MAX];
	const unsigned wanted = uv_available_parallelism();
	size_t started = 0;
	if (uv_mutex_init(&it->lock) != 0)
		return error_memory(err);
	while (started + 1 < wanted && started < THREADS_MAX &&
	       uv_thread_create(&threads[started], read_reports, it) == 0)
		started++;
	read_reports(it);
	for (size_t i = 0; i < started; i++)
		(void)uv_thread_join(&threads[i]);
	uv_mutex_destroy(&it->lock);
	return it->rc < 0 ? error_copy(err, &it->err) : 0;
}

int matrix_read(struct matrix *matrix, const struct text_list *paths, matrix_progress *progress,
		struct text_list *unread, struct error *err)
{
	struct text_list found CLEANUP_TEXT_LIST = {0};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < paths->count; i++) {
		rc = file_is_directory(paths->items[i])
			     ? add_folder(paths->items[i], 0, &found, unread, err)
			     : text_list_add(&found, paths->items[i], err);
	}
	if (rc < 0)
		return rc;
	if (found.count == 0)
		return error_set(err, ERROR_NOT_FOUND, "%s: no " REPORT_NAME " is below",
				 paths->items[0]);
	struct reading reading = {
		.paths = &found, .matrix = matrix, .unread = unread, .progress = progress};
	return read_all(&reading, err);
}
