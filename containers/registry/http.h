/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A client of one HTTP server, over libcurl. Calls block. TLS certificates are always verified. GET and HEAD follow at most
 * 5 redirects, never from HTTPS to HTTP, and without Authorization to other hosts. Proxies are those of the usual variables
 * (HTTPS_PROXY, NO_PROXY).
 *
 * Failures that may pass are retried: no connection, a cut or stalled transfer, status 408, 429, 500, 502, 503, 504. Up to
 * HTTP_RETRIES times, or with `within_ms` until that time is over, after a random time that grows, or after what Retry-After
 * asks for. A download that was cut continues where it stopped, and has all its retries again once it has advanced.
 *
 * Errors of every call, which name method and URL: ERROR_NOT_FOUND (404); ERROR_PERMISSION: 401, 403, a certificate that is
 * not trusted; ERROR_BUSY: 429 to the end, or a Retry-After above HTTP_WAIT_MAX_MS; ERROR_UNAVAILABLE: no connection, 408,
 * 5xx; ERROR_TIMEOUT; ERROR_IO: cut to the end; ERROR_UNSUPPORTED: the other side does not speak TLS; ERROR_REMOTE with
 * err->remote: any other status; ERROR_PROTOCOL: not HTTP, endless or refused redirects; ERROR_LIMIT: more
 * than this client reads; ERROR_NOT_FOUND, ERROR_FORMAT also: the authority's certificate cannot be used; ERROR_MEMORY.
 */

#include "base/text.h"
#include "containers/registry/blob_reader.h"

enum {
	HTTP_HEAD_MAX = 256 * 1024,
	HTTP_BODY_MAX = 4 * 1024 * 1024, /* of an answer that is read as a whole */
	HTTP_RETRIES = 4,
	HTTP_WAIT_FIRST_MS = 500, /* doubled each time */
	HTTP_WAIT_MAX_MS = 60000,
};

struct http;
struct http_exchange;

#define CLEANUP_HTTP_EXCHANGE __attribute__((cleanup(http_end)))

/* Time, for tests. */
struct http_clock {
	uint64_t (*now_ms)(void *user); /* monotonic */
	void (*wait_ms)(uint64_t duration_ms, void *user);
	void *user;
};

/* All but `base` may be 0 and NULL. The clock lives as long as the client. */
struct http_options {
	const char *base;  /* "https://HOST/PATH", the prefix of all URLs; no slash at its end */
	bool may_be_plain; /* falls back to plain HTTP when the host does not speak TLS */
	const char *
		ca_certificate; /* PEM, trusted as well as the system's (on Windows instead); NULL: $SSL_CERT_FILE */
	uint64_t stall_ms;		/* how long a transfer may stall; 0: 30 s */
	uint64_t within_ms;		/* limit for all calls together; 0: none */
	const struct http_clock *clock; /* NULL: the system's */
	/* The header Authorization for the host of `base`, borrowed until the next call; NULL: none. `refused` is the
	 * 401 or 403 answer to the last header, and `refusals` counts them; NULL then ends the call, as does an
	 * error. */
	int (*authorize)(void *user, const struct http_exchange *refused, unsigned refusals,
			 const char **out, struct error *err);
	void *user;
};

int http_open(const struct http_options *options, struct http **out, struct error *err);
void http_close(struct http *http); /* after its exchanges and downloads; NULL is allowed */

struct http_request {
	const char *method;
	const char *url;				   /* "/..." is appended to `base` */
	const char *accept, *content_type, *authorization; /* headers; NULL: left out */
	const void *body; /* lives as long as the exchange; NULL: none */
	size_t body_size;
	uint64_t offset;	   /* asks for the bytes from there on; 0: for all */
	const char *content_range; /* header Content-Range; NULL: left out */
};

/* Sends it and reads the whole 2xx answer into `body`; *out has its headers. */
int http_call(struct http *http, const struct http_request *request, struct text *body,
	      struct http_exchange **out, struct error *err);

/* A reader of the body of GET from `offset` on, not yet verified; nothing is sent yet. `size`: of the whole body, UINT64_MAX:
 * unknown. Reads also fail with ERROR_PROTOCOL: an answer of another range or size. */
void http_download(struct http *http, const char *url, uint64_t size, uint64_t offset,
		   struct blob_reader **out);

/* The building blocks of calls. */

/* Sends it once, with authorization, and waits for the head of a 2xx answer. */
int http_call_once(struct http *http, const struct http_request *request,
		   struct http_exchange **out, struct error *err);

/* How often a call has failed, and its last failure. */
struct http_patience {
	unsigned failures;
	struct error failure;
};

/* Is it the code of a failure that may pass? */
bool http_may_pass(int rc);

/* Can the failure pass, and is a retry left? Then waits, forgets the failure and returns true. */
bool http_try_again(struct http *http, struct http_patience *patience);

/* Turns an answer other than 2xx into an error; remembers its Retry-After. */
int http_refusal(struct http *http, struct http_exchange *answer, struct error *err);

uint64_t http_now_ms(const struct http *http);

/* Sends it unchanged and waits for the head of the answer, whatever its status is. */
int http_begin(struct http *http, const struct http_request *request, struct http_exchange **out,
	       struct error *err);
void http_end(struct http_exchange **exchange);

long http_status(const struct http_exchange *exchange);
/* The value of a header, the index-th of that name; NULL: absent. Lives until http_end(). */
const char *http_header(const struct http_exchange *exchange, const char *name, size_t index);
/* The URL that answered, after all redirects. Lives until http_end(). */
const char *http_url(const struct http_exchange *exchange);
/* The length of the body; UINT64_MAX: unknown. */
uint64_t http_length(const struct http_exchange *exchange);

/* *count is 0 at the end. ERROR_TIMEOUT, ERROR_IO. */
int http_read(struct http_exchange *exchange, void *out, size_t size, size_t *count,
	      struct error *err);

/* The rest of the body. ERROR_LIMIT: longer than `max`. */
int http_read_all(struct http_exchange *exchange, size_t max, struct text *out, struct error *err);

/* Parts of a URL. */

/* `target`, which may be relative to `base`, as a whole URL. ERROR_PROTOCOL: not HTTP or HTTPS, or from HTTPS to HTTP. Caller
 * frees *out. */
int http_resolve(const char *base, const char *target, char **out, struct error *err);
/* Is it a whole URL, with a host? */
bool http_has_host(const char *url);
/* Scheme, host and port are the same. */
bool http_same_origin(const char *a, const char *b);
/* Without user, query and fragment, which may be secret: for errors. Caller frees. */
char *http_shown(const char *url);
/* Adds "/path", its parts escaped. */
void http_add_path(struct text *url, const char *path);
/* Adds "?name=value" or "&name=value", escaped. */
void http_add_query(struct text *url, const char *name, const char *value);
