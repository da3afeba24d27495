/* SPDX-License-Identifier: MIT */
/* Targets of Location, Link and realm, from untrusted response heads: a URL of HTTP that never leaves HTTPS, and is
 * shown without secrets. */
#include "containers/registry/http.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void resolve(const char *base, const char *target)
{
	char *url CLEANUP_FREE = NULL;
	struct error err = {0};
	int rc = http_resolve(base, target, &url, &err);
	if (rc != err.code || (rc == 0) != (url != NULL))
		abort();
	if (rc < 0)
		return;
	if (!text_starts_with(url, "https://") &&
	    (text_starts_with(base, "https://") || !text_starts_with(url, "http://")))
		abort();
	(void)http_has_host(url);
	(void)http_same_origin(base, url);
	char *shown CLEANUP_FREE = http_shown(url);
	if (shown != NULL && strchr(shown, '?') != NULL)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *target CLEANUP_FREE = strndup((const char *)data, size);
	if (target == NULL)
		return 0;
	resolve("https://registry.example:5000/v2/a/blobs/uploads/1", target);
	resolve("http://127.0.0.1:5000/v2/", target);
	return 0;
}
