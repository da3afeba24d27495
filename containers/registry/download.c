/* SPDX-License-Identifier: MIT */
#include "containers/registry/download.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRESS_BYTES = 1024 * 1024 };

static void download_close(struct blob_reader *reader)
{
	struct download *download = (struct download *)reader;
	http_end(&download->answer);
	free(download->place);
	free(download->shown);
	free(download);
}

/* "bytes 100-199/200": does it begin where it was asked to? */
static bool range_begins_at(const struct http_exchange *answer, uint64_t at)
{
	const char *range = http_header(answer, "Content-Range", 0);
	char wanted[48] = "";
	(void)snprintf(wanted, sizeof(wanted), "bytes %" PRIu64 "-", at);
	return range != NULL && text_starts_with(range, wanted);
}

static int download_connect(struct download *download, struct error *err)
{
	int rc = download->connect(download, download->at, &download->answer, err);
	if (rc < 0)
		return rc;
	uint64_t length = http_length(download->answer);
	bool is_part = http_status(download->answer) == 206;
	if (is_part && !range_begins_at(download->answer, download->at))
		return error_set(err, ERROR_PROTOCOL, "another range than was asked for");
	download->to_skip = is_part ? 0 : download->at;
	if (download->size != UINT64_MAX && length != UINT64_MAX &&
	    length != download->size - (is_part ? download->at : 0))
		return error_set(err, ERROR_PROTOCOL,
				 "Content-Length %" PRIu64 " does not fit a blob of %" PRIu64
				 " bytes",
				 length, download->size);
	return 0;
}

static int download_once(struct download *download, void *out, size_t size, size_t *count,
			 struct error *err)
{
	int rc = download->answer == NULL ? download_connect(download, err) : 0;
	bool skipped = true;
	*count = 1;
	while (rc == 0 && *count > 0 && skipped) {
		skipped = download->to_skip > 0;
		rc = http_read(download->answer, out,
			       skipped && download->to_skip < size ? (size_t)download->to_skip
								   : size,
			       count, err);
		download->to_skip -= skipped ? *count : 0;
	}
	if (rc == 0 && *count == 0 && download->size != UINT64_MAX && download->at < download->size)
		rc = error_set(err, ERROR_IO, "cut after %" PRIu64 " of %" PRIu64 " bytes",
			       download->at, download->size);
	return rc;
}

/* A transfer that comes on has all its patience again; crumbs are not enough. */
static int download_read(struct blob_reader *reader, void *out, size_t size, size_t *count,
			 struct error *err)
{
	struct download *download = (struct download *)reader;
	struct error *failure = &download->patience.failure;
	int rc = 0;
	do {
		rc = download_once(download, out, size, count, failure);
		if (rc < 0)
			http_end(&download->answer);
	} while (rc < 0 && registry_try_again(download->retries, &download->patience));
	if (rc < 0) {
		(void)error_copy(err, failure);
		return error_wrap(err, rc, "%s", download->shown);
	}
	download->at += *count;
	if (download->at - download->patient_at >= PROGRESS_BYTES) {
		download->patient_at = download->at;
		download->patience.failures = 0;
	}
	return 0;
}

int download_open(const struct download *from, struct blob_reader **out, struct error *err)
{
	struct download *download = calloc(1, sizeof(*download));
	if (download != NULL)
		*download = *from;
	if (download == NULL || from->place == NULL || from->shown == NULL) {
		free(from->place);
		free(from->shown);
		free(download);
		return error_memory(err);
	}
	download->reader = (struct blob_reader){.read = download_read, .close = download_close};
	*out = &download->reader;
	return 0;
}
