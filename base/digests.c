/* SPDX-License-Identifier: MIT */
#include "base/digests.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024, FILES_MAX = 100000, DEPTH_MAX = 64 };

struct digest_job {
	uv_work_t work;
	struct digests *owner;
	struct digest_job *next; /* in the bucket */
	struct file_status file; /* before it was read, */
	int64_t read_ns;	 /* and when that began */
	char *path;
	char digest[DIGEST_SIZE]; /* written by the thread, read when it has ended */
	bool ended;
};

struct digests {
	uv_loop_t *loop;
	struct digest_cache *cache; /* NULL: none */
	struct digest_job *buckets[BUCKETS];
	size_t open; /* unfinished jobs */
};

struct digests *digests_new(uv_loop_t *loop, struct digest_cache *cache)
{
	struct digests *digests = memory_allocate(1, sizeof(*digests));
	digests->loop = loop;
	digests->cache = cache;
	return digests;
}

static void job_work(uv_work_t *work)
{
	struct digest_job *job = work->data;
	if (digest_file(job->path, job->digest, NULL, NULL) < 0)
		job->digest[0] = '\0';
}

static void job_ended(uv_work_t *work, int status)
{
	struct digest_job *job = work->data;
	struct digest_cache *cache = job->owner->cache;
	(void)status;
	job->ended = true;
	job->owner->open--;
	struct file_status now = {0};
	if (cache != NULL && job->digest[0] != '\0' &&
	    file_status(job->path, true, &now, NULL) == 0)
		digest_cache_add(cache, &job->file, &now, job->read_ns, job->digest);
}

static int digests_start(struct digests *digests, const char *path, const struct file_status *file,
			 struct digest_job **out, struct error *err)
{
	struct digest_job *job = memory_allocate(1, sizeof(*job));
	job->path = memory_copy(path);
	job->owner = digests;
	job->file = *file;
	job->read_ns = clock_realtime_ns();
	job->work.data = job;
	const char *known = digests->cache != NULL ? digest_cache_find(digests->cache, file) : NULL;
	int rc = known == NULL ? uv_queue_work(digests->loop, &job->work, job_work, job_ended) : 0;
	if (rc < 0) {
		free(job->path);
		free(job);
		return error_uv(err, rc, "%s", path);
	}
	job->ended = known != NULL;
	if (known != NULL)
		memcpy(job->digest, known, sizeof(job->digest));
	else
		digests->open++;
	job->next = digests->buckets[file->inode % BUCKETS];
	digests->buckets[file->inode % BUCKETS] = job;
	*out = job;
	return 0;
}

int digests_add(struct digests *digests, const char *path, const struct digest_job **out,
		struct error *err)
{
	struct file_status file = {0};
	int rc = file_status(path, true, &file, err);
	if (rc < 0)
		return rc;
	if (file.kind != FILE_REGULAR)
		return error_set(err, ERROR_FORMAT, "%s: not a regular file", path);
	struct digest_job *job = digests->buckets[file.inode % BUCKETS];
	while (job != NULL && (job->file.inode != file.inode || job->file.device != file.device))
		job = job->next;
	if (job == NULL)
		rc = digests_start(digests, path, &file, &job, err);
	*out = job;
	return rc;
}

void digests_wait(struct digests *digests)
{
	while (digests->open != 0)
		(void)uv_run(digests->loop, UV_RUN_ONCE);
}

void digests_free(struct digests *digests)
{
	if (digests == NULL)
		return;
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct digest_job *job = digests->buckets[i]; job != NULL; job = job->next) {
			if (!job->ended)
				(void)uv_cancel((uv_req_t *)&job->work);
		}
	}
	digests_wait(digests);
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct digest_job *job = digests->buckets[i]; job != NULL;) {
			struct digest_job *next = job->next;
			free(job->path);
			free(job);
			job = next;
		}
	}
	free(digests);
}

const char *digest_result(const struct digest_job *job)
{
	return job->ended ? job->digest : "";
}

void digest_set_free(struct digest_set *set)
{
	text_list_free(&set->names);
	free(set->jobs);
	*set = (struct digest_set){0};
}

static int set_add_file(struct digest_set *set, struct digests *digests, const char *name,
			const char *path, struct error *err)
{
	const struct digest_job *job = NULL;
	if (set->names.count == FILES_MAX)
		return error_set(err, ERROR_LIMIT, "%s: more than %d files", path, FILES_MAX);
	if (digests_add(digests, path, &job, NULL) < 0) {
		set->incomplete = true;
		return 0;
	}
	set->jobs = array_grow(set->jobs, set->names.count, sizeof(const struct digest_job *));
	set->jobs[set->names.count] = job;
	text_list_add(&set->names, name);
	return 0;
}

static int set_add(struct digest_set *set, struct digests *digests, const char *name,
		   const char *path, unsigned depth, struct error *err)
{
	struct text_list entries CLEANUP_TEXT_LIST = {0};
	struct file_status file = {.kind = FILE_OTHER};
	int rc = 0;
	/* The first may be a link: the name is what counts. */
	if (file_status(path, depth == 0, &file, NULL) < 0)
		set->incomplete = true;
	else if (file.kind == FILE_REGULAR ||
		 (file.kind != FILE_DIRECTORY && !file_is_directory(path)))
		rc = set_add_file(set, digests, name, path, err);
	if (file.kind != FILE_DIRECTORY)
		return rc;
	if (depth == DEPTH_MAX)
		return error_set(err, ERROR_LIMIT, "%s: nested too deep", path);
	if (file_list(path, &entries, NULL) < 0)
		set->incomplete = true;
	for (size_t i = 0; rc == 0 && i < entries.count; i++) {
		char *below CLEANUP_FREE = path_join(path, entries.items[i]);
		char *named CLEANUP_FREE = text_format("%s/%s", name, entries.items[i]);
		rc = set_add(set, digests, named, below, depth + 1, err);
	}
	return rc;
}

int digest_set_add(struct digest_set *set, struct digests *digests, const char *name,
		   const char *path, struct error *err)
{
	return set_add(set, digests, name, path, 0, err);
}

bool digest_set_result(const struct digest_set *set, char out[DIGEST_SIZE])
{
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	struct text all CLEANUP_TEXT = {0};
	if (set->incomplete || set->names.count == 0)
		return false;
	for (size_t i = 0; i < set->names.count; i++) {
		const char *digest = digest_result(set->jobs[i]);
		if (digest[0] == '\0')
			return false;
		text_list_addf(&lines, "%s %s\n", set->names.items[i], digest);
	}
	text_list_sort(&lines);
	text_each (line, &lines)
		text_add(&all, line);
	digest_bytes(text_string(&all), all.size, out);
	return true;
}
