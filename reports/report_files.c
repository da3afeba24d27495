/* SPDX-License-Identifier: MIT */
#include "reports/report_files.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "reports/report_file.h"

#include <uv.h>

enum { DEPTH_MAX = 16, THREADS_MAX = 8 };

#define REPORT_NAME "report.json"

static void add_folder(const char *folder, unsigned depth, struct text_list *found,
		       struct text_list *unread)
{
	uv_fs_t request CLEANUP(uv_fs_req_cleanup) = {0};
	uv_dirent_t entry = {0};
	if (depth == DEPTH_MAX) {
		text_list_addf(unread, "%s: more than %d folders deep", folder, (int)DEPTH_MAX);
		return;
	}
	int count = uv_fs_scandir(NULL, &request, folder, 0, NULL);
	if (count < 0)
		text_list_addf(unread, "%s: %s", folder, uv_strerror(count));

	while (count >= 0 && uv_fs_scandir_next(&request, &entry) == 0) {
		char *path CLEANUP_FREE = path_join(folder, entry.name);
		const bool is_report = text_equal(entry.name, REPORT_NAME);
		struct file_status status = {.kind = entry.type == UV_DIRENT_DIR ? FILE_DIRECTORY
										 : FILE_REGULAR};
		struct error why = {0};
		/* Some file systems do not report the types of entries. */
		if ((is_report || entry.type == UV_DIRENT_UNKNOWN) &&
		    file_status(path, false, &status, &why) < 0)
			text_list_add(unread, why.text);
		else if (status.kind == FILE_DIRECTORY)
			add_folder(path, depth + 1, found, unread);
		else if (is_report && status.kind == FILE_LINK)
			text_list_addf(unread, "%s: a link, which is not followed", path);
		else if (is_report)
			text_list_add(found, path);
	}
}

/* Shared by the threads; the lock protects all but `paths`. */
struct reading {
	const struct text_list *paths;
	uv_mutex_t lock;
	size_t next, done;
	const struct report_files *files;
	struct text_list *unread;
};

static void read_reports(void *user)
{
	struct reading *it = user;
	const struct report_files *files = it->files;
	uv_mutex_lock(&it->lock);
	while (it->next < it->paths->count) {
		const char *path = it->paths->items[it->next++];
		cJSON *report CLEANUP_JSON = NULL;
		struct error why = {0};
		uv_mutex_unlock(&it->lock);
		const bool is_read = report_file_read(path, files->without, &report, &why) == 0;

		uv_mutex_lock(&it->lock);
		if (!is_read)
			text_list_add(it->unread, why.text);
		else if (files->use(path, report, files->user, &why) < 0)
			text_list_addf(it->unread, "%s: %s", path, why.text);
		it->done++;
		if (files->progress != NULL)
			files->progress(it->done, it->paths->count);
		uv_mutex_unlock(&it->lock);
		cJSON_Delete(STEAL(report));
		uv_mutex_lock(&it->lock);
	}
	uv_mutex_unlock(&it->lock);
}

int report_files_read(const struct text_list *paths, const struct report_files *files,
		      struct text_list *unread, struct error *err)
{
	struct text_list found CLEANUP_TEXT_LIST = {0};
	text_each (path, paths) {
		if (file_is_directory(path))
			add_folder(path, 0, &found, unread);
		else
			text_list_add(&found, path);
	}
	if (found.count == 0)
		return error_set(err, ERROR_NOT_FOUND, "%s: no " REPORT_NAME " is below",
				 paths->items[0]);

	struct reading it = {.paths = &found, .files = files, .unread = unread};
	uv_thread_t threads[THREADS_MAX];
	const unsigned wanted = uv_available_parallelism();
	size_t started = 0;
	if (uv_mutex_init(&it.lock) != 0)
		return error_set(err, ERROR_IO, "no lock can be made");
	while (started + 1 < wanted && started < THREADS_MAX &&
	       uv_thread_create(&threads[started], read_reports, &it) == 0)
		started++;
	read_reports(&it);
	for (size_t i = 0; i < started; i++)
		(void)uv_thread_join(&threads[i]);
	uv_mutex_destroy(&it.lock);
	return 0;
}
