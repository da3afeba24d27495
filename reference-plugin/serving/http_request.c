/* SPDX-License-Identifier: MIT */
#include "reference-plugin/serving/http_request.h"

#include <string.h>

int http_request_parse(const char *data, size_t size, struct http_request_head *out)
{
	static const char versions[] = "HTTP/1.";
	const size_t most = size < HTTP_REQUEST_MAX ? size : HTTP_REQUEST_MAX;
	bool ended = false;
	for (size_t i = 0; i + 1 < most && !ended; i++)
		ended = data[i] == '\n' &&
			(data[i + 1] == '\n' ||
			 (i + 2 < most && data[i + 1] == '\r' && data[i + 2] == '\n'));

	/* The first line without its end; 0 bytes: the head has not ended. */
	const char *end = ended ? memchr(data, '\n', most) : NULL;
	if (end != NULL && end > data && end[-1] == '\r')
		end--;
	const size_t line = end != NULL ? (size_t)(end - data) : 0;
	const char *target = line > 0 ? memchr(data, ' ', line) : NULL;
	const char *version = NULL;
	*out = (struct http_request_head){0};
	if (size > 0 && data[0] <= ' ')
		return 400;
	if (line == 0)
		return size >= HTTP_REQUEST_MAX ? 431 : 0;
	for (size_t i = 0; i < line; i++)
		version = data[i] == ' ' ? data + i + 1 : version;
	if (target == NULL || version <= target + 1)
		return 400;
	const size_t rest = (size_t)(data + line - version);
	if (rest != strlen("HTTP/1.1") || memcmp(version, "HTTP/", strlen("HTTP/")) != 0)
		return 400;
	if (memcmp(version, versions, strlen(versions)) != 0)
		return 505;
	out->is_head = target - data == 4 && memcmp(data, "HEAD", 4) == 0;
	if (!out->is_head && (target - data != 3 || memcmp(data, "GET", 3) != 0))
		return 405;

	target++;
	const size_t whole = (size_t)(version - 1 - target);
	const char *query = memchr(target, '?', whole);
	const size_t length = query != NULL ? (size_t)(query - target) : whole;
	if (length == 0 || target[0] != '/')
		return 400;
	for (size_t i = 0; i < whole; i++)
		if (target[i] <= ' ' || target[i] > '~')
			return 400;
	if (length >= sizeof(out->path))
		return 404;
	memcpy(out->path, target, length);
	return 200;
}
