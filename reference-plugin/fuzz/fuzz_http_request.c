/* SPDX-License-Identifier: MIT */
/* Any bytes as the head of a request for metrics: the same answer however they arrive, and a path without surprises. */
#include "reference-plugin/serving/http_request.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_request_head head = {0};
	struct http_request_head first = {0};
	int status = http_request_parse((const char *)data, size, &head);
	int early = 0;
	for (size_t part = 0; early == 0 && part <= size; part++)
		early = http_request_parse((const char *)data, part, &first);
	if (early != status && size <= HTTP_REQUEST_MAX)
		abort();
	if (status == 200 &&
	    (head.path[0] != '/' || memchr(head.path, '\0', sizeof(head.path)) == NULL ||
	     strpbrk(head.path, " ?\r\n") != NULL))
		abort();
	return 0;
}
