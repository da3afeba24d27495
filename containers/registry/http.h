/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * HTTP over libcurl, read as it comes: an exchange begins when the head of its answer is there, and its
 * body is read piece by piece. TLS certificates are always verified, by the authorities that Docker keeps
 * for a host ("/etc/docker/certs.d/HOST[:PORT]", the same below /etc/containers and ~/.config/containers) as
 * well as by the system's. GET and HEAD follow at most 5 redirects, never from HTTPS to HTTP, and
 * without `authorization` to other hosts. Proxies are those of the usual variables (HTTPS_PROXY, NO_PROXY).
 */

#include "base/text.h"

enum { HTTP_HEAD_MAX = 256 * 1024 };

struct http;
struct http_exchange;

#define CLEANUP_HTTP_EXCHANGE __attribute__((cleanup(http_end)))

/* `ca_certificate` (NULL: $SSL_CERT_FILE) is trusted, too (on Windows instead of the system's). `stall_ms`: how long nothing may come, 0: 30 s. */
int http_open(const char *ca_certificate, uint64_t stall_ms, struct http **out, struct error *err);
void http_close(struct http *http); /* after its exchanges; NULL is allowed */

struct http_request {
	const char *method;
	const char *url;
	const char *accept, *content_type, *authorization; /* headers; NULL: left out */
	const void *body; /* lives as long as the exchange; NULL: none */
	size_t body_size;
	uint64_t offset;	   /* asks for the bytes from there on; 0: for all */
	const char *content_range; /* which bytes the body is: a header; NULL: left out */
};

/*
 * Sends it and waits for the head of the answer, whatever its status is. ERROR_UNAVAILABLE: no such
 * host, nothing listens there; ERROR_TIMEOUT: stalled; ERROR_IO: cut; ERROR_PERMISSION: the certificate is
 * not trusted; ERROR_UNSUPPORTED: the other side does not speak TLS; ERROR_PROTOCOL: not HTTP, a redirect
 * to what is refused; ERROR_LIMIT: a head longer than HTTP_HEAD_MAX; ERROR_NOT_FOUND, ERROR_FORMAT: the
 * certificate cannot be used.
 */
int http_begin(struct http *http, const struct http_request *request, struct http_exchange **out,
	       struct error *err);
void http_end(struct http_exchange **exchange);

long http_status(const struct http_exchange *exchange);
/* The value of a header, the index-th of that name; NULL: it is not there. Lives until http_end(). */
const char *http_header(const struct http_exchange *exchange, const char *name, size_t index);
/* What answered, behind all redirects. Lives until http_end(). */
const char *http_url(const struct http_exchange *exchange);
/* Bytes that the body will have; UINT64_MAX: not told. */
uint64_t http_length(const struct http_exchange *exchange);

/* *count is 0 at the end. ERROR_TIMEOUT, ERROR_IO. */
int http_read(struct http_exchange *exchange, void *out, size_t size, size_t *count,
	      struct error *err);

/* The rest of the body. ERROR_LIMIT: longer than `max`. */
int http_read_all(struct http_exchange *exchange, size_t max, struct text *out, struct error *err);

/* Parts of a URL. */

/* Where `target` leads from `base`, which may be relative. ERROR_PROTOCOL: not HTTP or HTTPS. Caller
 * frees *out. */
int http_resolve(const char *base, const char *target, char **out, struct error *err);
/* Scheme, host and port are the same. */
bool http_same_origin(const char *a, const char *b);
/* Without user, query and fragment, which may be secret: for errors. Caller frees; NULL: no memory. */
char *http_shown(const char *url);
/* Adds "/path", its parts escaped. */
void http_add_path(struct text *url, const char *path);
/* Adds "?name=value" or "&name=value", escaped. */
void http_add_query(struct text *url, const char *name, const char *value);
