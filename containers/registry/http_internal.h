/* SPDX-License-Identifier: MIT */
#pragma once

#include "containers/registry/http.h"

#include <curl/curl.h>

struct http {
	struct http_options options;
	char *base;
	CURLM *multi;
	uint64_t retry_after_ms; /* requested by the last answer; 0: none */
	uint64_t until_ms;	 /* when all calls end; 0: never */
};
