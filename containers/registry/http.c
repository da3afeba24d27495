/* SPDX-License-Identifier: MIT */
#include "containers/registry/http_internal.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/program.h"

#include <string.h>

enum {
	BUFFER_MAX = 256 * 1024,
	PEM_MAX = 4 * 1024 * 1024,
	STALL_DEFAULT_MS = 30000,
	STALL_BYTES = 32, /* a second at least */
	CONNECT_TIMEOUT_MS = 15000,
	POLL_MS = 200,
	REDIRECTS_MAX = 5,
};

struct http_exchange {
	struct http *http;
	CURL *easy;
	struct curl_slist *headers;
	char *certificates; /* PEM */
	char reason[CURL_ERROR_SIZE];
	struct text buffer; /* of the body, from `at` on not read yet */
	size_t at, head_size;
	bool follows, no_body, has_head, paused, ended;
	CURLcode result;
};

int http_open(const struct http_options *options, struct http **out, struct error *err)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return error_memory(err);
	struct http *http = memory_allocate(1, sizeof(*http));
	http->options = *options;
	if (http->options.ca_certificate == NULL)
		http->options.ca_certificate = program_variable("SSL_CERT_FILE");
	http->base = memory_copy(options->base);
	http->until_ms = options->within_ms > 0 ? http_now_ms(http) + options->within_ms : 0;
	http->multi = curl_multi_init();
	if (http->multi == NULL) {
		http_close(http);
		return error_memory(err);
	}
	*out = http;
	return 0;
}

void http_close(struct http *http)
{
	if (http == NULL)
		return;
	(void)curl_multi_cleanup(http->multi);
	free(http->base);
	free(http);
	curl_global_cleanup();
}

static size_t on_header(char *data, size_t one, size_t size, void *user)
{
	struct http_exchange *exchange = user;
	(void)one;
	exchange->head_size += size;
	if (exchange->head_size > HTTP_HEAD_MAX)
		return 0;
	if (size <= 2 && (data[0] == '\r' || data[0] == '\n')) {
		long status = http_status(exchange);
		exchange->has_head =
			status >= 200 && !(exchange->follows && status / 100 == 3 &&
					   http_header(exchange, "Location", 0) != NULL);
		exchange->head_size = 0;
	}
	return size;
}

/* When the buffer is full, the rest waits in the network. */
static size_t on_body(char *data, size_t one, size_t size, void *user)
{
	struct http_exchange *exchange = user;
	(void)one;
	if (exchange->buffer.size + size > BUFFER_MAX) {
		exchange->paused = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	text_append(&exchange->buffer, data, size);
	return size;
}

/* Error codes for libcurl's results; the text follows libcurl's own, or replaces it. */
static const struct {
	CURLcode result;
	int code;
	const char *advice, *instead;
} failures[] = {
	{CURLE_PEER_FAILED_VERIFICATION, ERROR_PERMISSION,
	 "; --ca-certificate trusts an authority of your own", NULL},
	{CURLE_SSL_CACERT_BADFILE, ERROR_FORMAT, "", NULL},
	{CURLE_SSL_CONNECT_ERROR, ERROR_UNSUPPORTED, "; --plain-http goes without TLS", NULL},
	{CURLE_COULDNT_RESOLVE_HOST, ERROR_UNAVAILABLE, "", NULL},
	{CURLE_COULDNT_RESOLVE_PROXY, ERROR_UNAVAILABLE, "", NULL},
	{CURLE_COULDNT_CONNECT, ERROR_UNAVAILABLE, "", NULL},
	{CURLE_OPERATION_TIMEDOUT, ERROR_TIMEOUT, "", NULL},
	{CURLE_PARTIAL_FILE, ERROR_IO, "", NULL},
	{CURLE_RECV_ERROR, ERROR_IO, "", NULL},
	{CURLE_SEND_ERROR, ERROR_IO, "", NULL},
	{CURLE_GOT_NOTHING, ERROR_IO, "", NULL},
	{CURLE_HTTP2, ERROR_IO, "", NULL},
	{CURLE_HTTP2_STREAM, ERROR_IO, "", NULL},
	{CURLE_OUT_OF_MEMORY, ERROR_MEMORY, "", NULL},
	{CURLE_TOO_MANY_REDIRECTS, ERROR_PROTOCOL, "", "more than 5 redirects"},
	{CURLE_UNSUPPORTED_PROTOCOL, ERROR_PROTOCOL, "",
	 "leads to a URL that is not HTTP, or leads from HTTPS to plain HTTP"},
};

/* Waits for the head, or with `head` false for bytes of the body or its end. */
static int exchange_wait(struct http_exchange *exchange, bool head, struct error *err)
{
	CURLM *multi = exchange->http->multi;
	while (!exchange->ended) {
		const CURLMsg *message = NULL;
		int count = 0;
		if (curl_multi_perform(multi, &count) != CURLM_OK)
			return error_memory(err);
		while ((message = curl_multi_info_read(multi, &count)) != NULL) {
			struct http_exchange *ended = NULL;
			(void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &ended);
			ended->ended = true;
			ended->result = message->data.result;
		}

		/* Bytes that arrived together with a failure are read first. */
		if (head ? exchange->has_head : exchange->buffer.size > exchange->at)
			return 0;
		if (!exchange->ended)
			(void)curl_multi_poll(multi, NULL, 0, POLL_MS, NULL);
	}
	if (exchange->result == CURLE_OK)
		return 0;

	const char *reason = exchange->reason[0] != '\0' ? exchange->reason
							 : curl_easy_strerror(exchange->result);
	if (exchange->head_size > HTTP_HEAD_MAX)
		return error_set(err, ERROR_LIMIT, "a head of more than %d bytes", HTTP_HEAD_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(failures); i++) {
		if (failures[i].result == exchange->result)
			return error_set(err, failures[i].code, "%s%s",
					 failures[i].instead != NULL ? failures[i].instead : reason,
					 failures[i].advice);
	}
	return error_set(err, ERROR_PROTOCOL, "%s", reason);
}

static bool add_header(struct http_exchange *exchange, const char *name, const char *value)
{
	if (value == NULL)
		return true;
	char *line CLEANUP_FREE = text_format("%s: %s", name, value);
	struct curl_slist *grown = curl_slist_append(exchange->headers, line);
	if (grown != NULL)
		exchange->headers = grown;
	return grown != NULL;
}

#define SET(option, value) ((void)curl_easy_setopt(exchange->easy, option, value))

/* False: out of memory. */
static bool set_options(struct http_exchange *exchange, const struct http_request *request)
{
	const uint64_t asked = exchange->http->options.stall_ms;
	const uint64_t stall_ms = asked != 0 ? asked : STALL_DEFAULT_MS;
	const uint64_t until_ms = exchange->http->until_ms;
	const uint64_t now_ms = http_now_ms(exchange->http);
	if (until_ms > 0)
		SET(CURLOPT_TIMEOUT_MS, until_ms > now_ms ? (long)(until_ms - now_ms) : 1L);
	SET(CURLOPT_PRIVATE, exchange);
	SET(CURLOPT_ERRORBUFFER, exchange->reason);
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_USERAGENT, "gpucert");
	SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
	SET(CURLOPT_LOW_SPEED_LIMIT, (long)STALL_BYTES);
	SET(CURLOPT_LOW_SPEED_TIME, (long)((stall_ms + 999) / 1000));
	SET(CURLOPT_BUFFERSIZE, 65536L);
	SET(CURLOPT_HEADERFUNCTION, on_header);
	SET(CURLOPT_HEADERDATA, exchange);
	SET(CURLOPT_WRITEFUNCTION, on_body);
	SET(CURLOPT_WRITEDATA, exchange);

	exchange->no_body = text_equal(request->method, "HEAD");
	exchange->follows = exchange->no_body || text_equal(request->method, "GET");
	SET(CURLOPT_URL, request->url);
	/* libcurl keeps the header Authorization from other hosts, ports and schemes. */
	SET(CURLOPT_FOLLOWLOCATION, exchange->follows ? 1L : 0L);
	SET(CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
	SET(CURLOPT_REDIR_PROTOCOLS_STR,
	    text_starts_with(request->url, "https://") ? "https" : "http,https");
	SET(CURLOPT_CUSTOMREQUEST, request->method);
	SET(CURLOPT_NOBODY, exchange->no_body ? 1L : 0L);
	if (request->body != NULL || text_equal(request->method, "POST")) {
		SET(CURLOPT_POST, 1L);
		SET(CURLOPT_POSTFIELDS, request->body != NULL ? request->body : "");
		SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_size);
	}
	if (request->offset != 0) {
		char range[32] = "";
		(void)snprintf(range, sizeof(range), "%llu-", (unsigned long long)request->offset);
		SET(CURLOPT_RANGE, range);
	}

	/* An empty value removes a header that libcurl adds. */
	bool added =
		add_header(exchange, "Accept", request->accept != NULL ? request->accept : "") &&
		add_header(exchange, "Content-Type", request->content_type) &&
		add_header(exchange, "Content-Range", request->content_range) &&
		add_header(exchange, "Authorization", request->authorization) &&
		add_header(exchange, "Expect", "");
	SET(CURLOPT_HTTPHEADER, exchange->headers);
	return added;
}

int http_begin(struct http *http, const struct http_request *request, struct http_exchange **out,
	       struct error *err)
{
	struct http_exchange *exchange CLEANUP_HTTP_EXCHANGE =
		memory_allocate(1, sizeof(*exchange));
	const char *authorities = http->options.ca_certificate;
	const bool https = text_starts_with(request->url, "https://");
	size_t size = 0;
	exchange->http = http;
	exchange->easy = curl_easy_init();
	if (exchange->easy == NULL || !set_options(exchange, request))
		return error_memory(err);

	/* A redirect may lead from plain HTTP to HTTPS; until then unreadable certificates do no harm. */
	if (authorities != NULL && (exchange->follows || https)) {
		int rc = file_read(authorities, PEM_MAX, &exchange->certificates, &size,
				   https ? err : NULL);
		if (rc < 0 && https)
			return rc;
	}
	if (exchange->certificates != NULL) {
		if (strstr(exchange->certificates, "-----BEGIN") == NULL)
			return error_set(err, ERROR_FORMAT, "%s: not a certificate as PEM",
					 authorities);
		struct curl_blob blob = {exchange->certificates, size, CURL_BLOB_NOCOPY};
		SET(CURLOPT_CAINFO_BLOB, &blob);
	}

	if (curl_multi_add_handle(http->multi, exchange->easy) != CURLM_OK)
		return error_memory(err);
	int rc = exchange_wait(exchange, true, err);
	if (rc < 0)
		return rc;
	if (exchange->follows && http_status(exchange) / 100 == 3)
		return error_set(err, ERROR_PROTOCOL, "status %ld without a Location",
				 http_status(exchange));
	*out = STEAL(exchange);
	return 0;
}

void http_end(struct http_exchange **exchange)
{
	struct http_exchange *ended = STEAL(*exchange);
	if (ended == NULL)
		return;
	if (ended->easy != NULL)
		(void)curl_multi_remove_handle(ended->http->multi, ended->easy);
	curl_easy_cleanup(ended->easy);
	curl_slist_free_all(ended->headers);
	free(ended->certificates);
	text_free(&ended->buffer);
	free(ended);
}

long http_status(const struct http_exchange *exchange)
{
	long status = 0;
	(void)curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

const char *http_header(const struct http_exchange *exchange, const char *name, size_t index)
{
	struct curl_header *header = NULL;
	return curl_easy_header(exchange->easy, name, index, CURLH_HEADER, -1, &header) == CURLHE_OK
		       ? header->value
		       : NULL;
}

const char *http_url(const struct http_exchange *exchange)
{
	const char *url = NULL;
	(void)curl_easy_getinfo(exchange->easy, CURLINFO_EFFECTIVE_URL, &url);
	return url;
}

uint64_t http_length(const struct http_exchange *exchange)
{
	curl_off_t length = -1;
	(void)curl_easy_getinfo(exchange->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
	return exchange->no_body ? 0 : length >= 0 ? (uint64_t)length : UINT64_MAX;
}

int http_read(struct http_exchange *exchange, void *out, size_t size, size_t *count,
	      struct error *err)
{
	*count = 0;
	if (exchange->at == exchange->buffer.size) {
		text_reset(&exchange->buffer);
		exchange->at = 0;
		if (exchange->paused) {
			exchange->paused = false;
			(void)curl_easy_pause(exchange->easy, CURLPAUSE_CONT);
		}
		int rc = exchange_wait(exchange, false, err);
		if (rc < 0)
			return rc;
	}
	size_t left = exchange->buffer.size - exchange->at;
	*count = size < left ? size : left;
	if (*count > 0)
		memcpy(out, exchange->buffer.data + exchange->at, *count);
	exchange->at += *count;
	return 0;
}

int http_read_all(struct http_exchange *exchange, size_t max, struct text *out, struct error *err)
{
	char chunk[16384];
	size_t count = 1;
	uint64_t length = http_length(exchange);
	if (length != UINT64_MAX && length > max)
		return error_set(err, ERROR_LIMIT, "an answer of %llu bytes, more than %zu",
				 (unsigned long long)length, max);
	while (count > 0) {
		int rc = http_read(exchange, chunk, sizeof(chunk), &count, err);
		if (rc < 0)
			return rc;
		if (count > max - out->size)
			return error_set(err, ERROR_LIMIT, "an answer of more than %zu bytes", max);
		text_append(out, chunk, count);
	}
	return 0;
}
