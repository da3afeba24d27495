/* SPDX-License-Identifier: MIT */
/* A body as a reader that goes on where it was cut. */
#include "containers/registry/http.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRESS_BYTES = 1024 * 1024 };

struct download {
	struct blob_reader reader;
	struct http *http;
	char *url;
	uint64_t size, at; /* UINT64_MAX: not known; what is read already */
	struct http_exchange *answer;
	uint64_t to_skip; /* of an answer that begins at the beginning again */
	struct http_patience patience;
	uint64_t patient_at; /* where it was full last */
};

static void download_close(struct blob_reader *reader)
{
	struct download *download = (struct download *)reader;
	http_end(&download->answer);
	free(download->url);
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

static int check_answer(struct download *download, struct error *err)
{
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

static int receive(struct download *download, void *out, size_t size, size_t *count,
		   struct error *err)
{
	bool skipped = true;
	int rc = 0;
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

static int download_once(struct download *download, void *out, size_t size, size_t *count,
			 struct error *err)
{
	const struct http_request request = {
		.method = "GET", .url = download->url, .offset = download->at};
	bool begins = download->answer == NULL;
	int rc = begins ? http_call_once(download->http, &request, &download->answer, err) : 0;
	if (rc < 0)
		return rc;
	if (begins)
		rc = check_answer(download, err);
	if (rc == 0)
		rc = receive(download, out, size, count, err);
	if (rc == 0)
		return 0;
	char *shown CLEANUP_FREE = http_shown(http_url(download->answer));
	http_end(&download->answer);
	return error_wrap(err, rc, "GET %s", shown);
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
	} while (rc < 0 && http_try_again(download->http, &download->patience));
	if (rc < 0)
		return error_copy(err, failure);
	download->at += *count;
	if (download->at - download->patient_at >= PROGRESS_BYTES) {
		download->patient_at = download->at;
		download->patience.failures = 0;
	}
	return 0;
}

int http_download(struct http *http, const char *url, uint64_t size, uint64_t offset,
		  struct blob_reader **out, struct error *err)
{
	struct download *download = calloc(1, sizeof(*download));
	if (download == NULL)
		return error_memory(err);
	*download = (struct download){
		.reader = {.read = download_read, .close = download_close},
		.http = http,
		.url = strdup(url),
		.size = size,
		.at = offset,
	};
	*out = &download->reader;
	if (download->url != NULL)
		return 0;
	blob_reader_close(out);
	return error_memory(err);
}
