/* SPDX-License-Identifier: MIT */
#include "containers/registry/http.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <curl/curl.h>
#include <string.h>

static void url_cleanup(CURLU **url)
{
	curl_url_cleanup(*url);
}

static void part_cleanup(char **part)
{
	curl_free(*part);
}

#define CLEANUP_URL  CLEANUP(url_cleanup)
#define CLEANUP_PART CLEANUP(part_cleanup)

int http_resolve(const char *base, const char *target, char **out, struct error *err)
{
	CURLU *url CLEANUP_URL = curl_url();
	char *scheme CLEANUP_PART = NULL;
	char *whole CLEANUP_PART = NULL;
	if (url == NULL)
		return error_memory(err);
	if (curl_url_set(url, CURLUPART_URL, base, 0) != CURLUE_OK ||
	    curl_url_set(url, CURLUPART_URL, target, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK ||
	    curl_url_set(url, CURLUPART_FRAGMENT, NULL, 0) != CURLUE_OK ||
	    curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
	    (!text_equal(scheme, "http") && !text_equal(scheme, "https")) ||
	    curl_url_get(url, CURLUPART_URL, &whole, 0) != CURLUE_OK)
		return error_set(err, ERROR_PROTOCOL, "leads to a URL that is not HTTP");
	if (text_starts_with(base, "https://") && !text_equal(scheme, "https"))
		return error_set(err, ERROR_PROTOCOL, "leads from HTTPS to plain HTTP");
	*out = memory_copy(whole);
	return 0;
}

/* Without user, query and fragment, and with `whole` false without the path. NULL: not a URL. */
static char *reduce(const char *text, bool whole)
{
	CURLU *url CLEANUP_URL = curl_url();
	char *reduced CLEANUP_PART = NULL;
	if (url == NULL || curl_url_set(url, CURLUPART_URL, text, 0) != CURLUE_OK ||
	    curl_url_set(url, CURLUPART_USER, NULL, 0) != CURLUE_OK ||
	    curl_url_set(url, CURLUPART_PASSWORD, NULL, 0) != CURLUE_OK ||
	    curl_url_set(url, CURLUPART_QUERY, NULL, 0) != CURLUE_OK ||
	    curl_url_set(url, CURLUPART_FRAGMENT, NULL, 0) != CURLUE_OK ||
	    (!whole && curl_url_set(url, CURLUPART_PATH, NULL, 0) != CURLUE_OK) ||
	    curl_url_get(url, CURLUPART_URL, &reduced, CURLU_NO_DEFAULT_PORT) != CURLUE_OK)
		return NULL;
	return memory_copy(reduced);
}

bool http_same_origin(const char *a, const char *b)
{
	char *first CLEANUP_FREE = reduce(a, false);
	char *second CLEANUP_FREE = reduce(b, false);
	return first != NULL && second != NULL && curl_strequal(first, second);
}

bool http_has_host(const char *url)
{
	const char *host = strstr(url, "://");
	char *reduced CLEANUP_FREE = reduce(url, true);
	/* libcurl reads "https:///host" as "https://host". */
	return reduced != NULL && host != NULL && host[strlen("://")] != '/';
}

char *http_shown(const char *url)
{
	char *reduced = reduce(url, true);
	return reduced != NULL ? reduced : memory_copy("a URL that cannot be read");
}

void http_add_path(struct text *url, const char *path)
{
	for (size_t size = 0; *path != '\0'; path += size + (path[size] == '/')) {
		size = strcspn(path, "/");
		char *escaped CLEANUP_PART = curl_easy_escape(NULL, path, (int)size);
		if (escaped == NULL)
			url->failed = true;
		text_addf(url, "/%s", escaped != NULL ? escaped : "");
	}
}

void http_add_query(struct text *url, const char *name, const char *value)
{
	char *escaped CLEANUP_PART = curl_easy_escape(NULL, value, 0);
	const char *separator = strchr(text_string(url), '?') != NULL ? "&" : "?";
	if (escaped == NULL)
		url->failed = true;
	text_addf(url, "%s%s=%s", separator, name, escaped != NULL ? escaped : "");
}
