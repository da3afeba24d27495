/* SPDX-License-Identifier: MIT */
/* A body as a reader that continues where the connection was cut. */
#include "containers/registry/http.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PROGRESS_BYTES = 1024 * 1024 };

struct download {
	struct blob_reader reader;
	struct http *http;
	char *url;
	uint64_t size, at; /* `size` UINT64_MAX: unknown; `at`: bytes read */
	struct http_exchange *answer;
	uint64_t to_skip; /* bytes to skip when an answer starts again at the beginning */
	struct http_patience patience;
	uint64_t patient_at; /* where the retries were last reset */
};

static void download_close(struct blob_reader *reader)
{
	struct download *download = (struct download *)reader;
	http_end(&download->answer);
	free(download->url);
	free(download);
}

/* Asks for the rest, and compares the answer with it. */
static int download_begin(struct download *download, struct error *err)
{
	const struct http_request request = {
		.method = "GET", .url = download->url, .offset = download->at};
	int rc = http_call_once(download->http, &request, &download->answer, err);
	if (rc < 0)
		return rc;

	bool is_part = http_status(download->answer) == 206;
	download->to_skip = is_part ? 0 : download->at;
	if (is_part) {
		/* "bytes 100-199/200" */
		const char *range = http_header(download->answer, "Content-Range", 0);
		char expected[48] = "";
		(void)snprintf(expected, sizeof(expected), "bytes %" PRIu64 "-", download->at);
		if (range == NULL || !text_starts_with(range, expected))
			rc = error_set(err, ERROR_PROTOCOL, "another range than was asked for");
	}
	uint64_t length = http_length(download->answer);
	if (rc == 0 && download->size != UINT64_MAX && length != UINT64_MAX &&
	    length != download->size - (is_part ? download->at : 0))
		rc = error_set(err, ERROR_PROTOCOL,
			       "Content-Length %" PRIu64 " does not fit a blob of %" PRIu64
			       " bytes",
			       length, download->size);
	return rc;
}

/* A transfer that advances by PROGRESS_BYTES gets all its retries back. */
static int download_read(struct blob_reader *reader, void *out, size_t size, size_t *count,
			 struct error *err)
{
	struct download *download = (struct download *)reader;
	struct error *failure = &download->patience.failure;
	int rc = 0;
	do {
		bool skipped = true;
		rc = download->answer == NULL ? download_begin(download, failure) : 0;
		*count = 1;
		while (rc == 0 && *count > 0 && skipped) {
			skipped = download->to_skip > 0;
			size_t wanted =
				skipped && download->to_skip < size ? download->to_skip : size;
			rc = http_read(download->answer, out, wanted, count, failure);
			download->to_skip -= skipped ? *count : 0;
		}
		if (rc == 0 && *count == 0 && download->size != UINT64_MAX &&
		    download->at < download->size)
			rc = error_set(failure, ERROR_IO,
				       "cut after %" PRIu64 " of %" PRIu64 " bytes", download->at,
				       download->size);
		if (rc < 0 && download->answer != NULL) {
			char *shown CLEANUP_FREE = http_shown(http_url(download->answer));
			http_end(&download->answer);
			(void)error_wrap(failure, rc, "GET %s", shown);
		}
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

void http_download(struct http *http, const char *url, uint64_t size, uint64_t offset,
		   struct blob_reader **out)
{
	struct download *download = memory_allocate(1, sizeof(*download));
	*download = (struct download){
		.reader = {.read = download_read, .close = download_close},
		.http = http,
		.url = memory_copy(url),
		.size = size,
		.at = offset,
	};
	*out = &download->reader;
}
