/* SPDX-License-Identifier: MIT */
#include "containers/registry/http.h"

#include "base/cleanup.h"

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
	    (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0) ||
	    curl_url_get(url, CURLUPART_URL, &whole, 0) != CURLUE_OK)
		return error_set(err, ERROR_PROTOCOL, "leads to what is not a URL of HTTP");
	*out = strdup(whole);
	return *out != NULL ? 0 : error_memory(err);
}

static bool same_part(CURLU *a, CURLU *b, CURLUPart what, unsigned flags)
{
	char *first CLEANUP_PART = NULL;
	char *second CLEANUP_PART = NULL;
	return curl_url_get(a, what, &first, flags) == CURLUE_OK &&
	       curl_url_get(b, what, &second, flags) == CURLUE_OK && curl_strequal(first, second);
}

bool http_same_origin(const char *a, const char *b)
{
	CURLU *first CLEANUP_URL = curl_url();
	CURLU *second CLEANUP_URL = curl_url();
	return first != NULL && second != NULL &&
	       curl_url_set(first, CURLUPART_URL, a, 0) == CURLUE_OK &&
	       curl_url_set(second, CURLUPART_URL, b, 0) == CURLUE_OK &&
	       same_part(first, second, CURLUPART_SCHEME, 0) &&
	       same_part(first, second, CURLUPART_HOST, 0) &&
	       same_part(first, second, CURLUPART_PORT, CURLU_DEFAULT_PORT);
}

char *http_shown(const char *url)
{
	CURLU *parts CLEANUP_URL = curl_url();
	char *whole CLEANUP_PART = NULL;
	if (parts == NULL)
		return NULL;
	if (curl_url_set(parts, CURLUPART_URL, url, 0) != CURLUE_OK ||
	    curl_url_set(parts, CURLUPART_USER, NULL, 0) != CURLUE_OK ||
	    curl_url_set(parts, CURLUPART_PASSWORD, NULL, 0) != CURLUE_OK ||
	    curl_url_set(parts, CURLUPART_QUERY, NULL, 0) != CURLUE_OK ||
	    curl_url_set(parts, CURLUPART_FRAGMENT, NULL, 0) != CURLUE_OK ||
	    curl_url_get(parts, CURLUPART_URL, &whole, 0) != CURLUE_OK)
		return strdup("a URL that cannot be read");
	return strdup(whole);
}

void http_add_query(struct text *url, const char *name, const char *value)
{
	char *escaped CLEANUP_PART = curl_easy_escape(NULL, value, 0);
	const char *separator = strchr(text_string(url), '?') != NULL ? "&" : "?";
	if (escaped == NULL)
		url->failed = true;
	text_addf(url, "%s%s=%s", separator, name, escaped != NULL ? escaped : "");
}
