/* SPDX-License-Identifier: MIT */
#pragma once

/* The head of a request for metrics or health (RFC 9112): GET and HEAD, without a body. */

#include <stdbool.h>
#include <stddef.h>

enum {
	HTTP_REQUEST_MAX = 4096, /* bytes of a head */
	HTTP_PATH_SIZE = 64,	 /* of the longest valid path, and its NUL */
};

struct http_request_head {
	bool is_head;		   /* the answer has no body */
	char path[HTTP_PATH_SIZE]; /* without the query */
};

/* 0: the head has not ended yet. 200: it is in *out; else the status of the refusal: 400, 404 (a path that is too long),
 * 405, 431 (more than HTTP_REQUEST_MAX bytes), 505. */
int http_request_parse(const char *data, size_t size, struct http_request_head *out);
