/* SPDX-License-Identifier: MIT */
/* Calls until they succeed: authorization, what an answer means, patience, downloads that go on. */
#include "containers/registry/http_internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"

#include <inttypes.h>
#include <sodium.h>
#include <string.h>
#include <time.h>

uint64_t http_now_ms(const struct http *http)
{
	const struct http_clock *clock = http->options.clock;
	return clock != NULL ? clock->now_ms(clock->user) : clock_monotonic_ms();
}

bool http_may_pass(int rc)
{
	return rc == ERROR_UNAVAILABLE || rc == ERROR_TIMEOUT || rc == ERROR_IO || rc == ERROR_BUSY;
}

/* Between half and all of a time that doubles: clients that failed together do not come back together. */
bool http_try_again(struct http *http, struct http_patience *patience)
{
	const struct http_clock *clock = http->options.clock;
	struct error *failure = &patience->failure;
	uint64_t asked = http->retry_after_ms;
	uint64_t most = (uint64_t)HTTP_WAIT_FIRST_MS << patience->failures;
	http->retry_after_ms = 0;
	if (!http_may_pass(failure->code))
		return false;
	if (asked > HTTP_WAIT_MAX_MS) {
		(void)error_wrap(failure, failure->code, "it asks to be left alone for %llu s",
				 (unsigned long long)(asked / 1000));
		return false;
	}
	if (patience->failures++ == HTTP_RETRIES)
		return false;
	uint64_t jitter = randombytes_uniform((uint32_t)(most / 2));
	uint64_t duration = asked > 0 ? asked + jitter : most / 2 + jitter;
	if (clock != NULL)
		clock->wait_ms(duration, clock->user);
	else
		clock_sleep_ms(duration);
	*failure = (struct error){0};
	return true;
}

/* Seconds, or a date (RFC 9110, section 10.2.3). */
static uint64_t read_retry_after(const char *value)
{
	long long seconds = 0;
	if (text_to_int64(value, "Retry-After", 0, INT32_MAX, &seconds, NULL) == 0)
		return (uint64_t)seconds * 1000;
	time_t at = curl_getdate(value, NULL);
	time_t now = (time_t)(clock_realtime_ns() / 1000000000);
	return at > now ? (uint64_t)(at - now) * 1000 : 0;
}

static int status_error(long status)
{
	if (status == 401 || status == 403)
		return ERROR_PERMISSION;
	if (status == 404)
		return ERROR_NOT_FOUND;
	if (status == 429)
		return ERROR_BUSY;
	bool passes = status == 408 || status == 500 || (status >= 502 && status <= 504);
	return passes ? ERROR_UNAVAILABLE : ERROR_REMOTE;
}

/* The code of the first error that the body tells ("MANIFEST_UNKNOWN"). Its words are left out: they
 * may repeat what was sent. */
static void add_error_code(struct http_exchange *answer, struct text *out)
{
	enum { BODY_MAX = 16384, CODE_MAX = 64 };
	struct text body CLEANUP_TEXT = {0};
	cJSON *json CLEANUP_JSON = NULL;
	if (http_read_all(answer, BODY_MAX, &body, NULL) < 0 ||
	    json_parse(text_string(&body), body.size, &json, NULL) < 0)
		return;
	const char *code = json_pointer_string(json, "/errors/0/code");
	if (code != NULL && strlen(code) <= CODE_MAX &&
	    strspn(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == strlen(code))
		text_addf(out, " (%s)", code);
}

/* Where it leads, that was not followed. */
static int redirected(const struct http_exchange *answer, struct error *err)
{
	char *target CLEANUP_FREE = NULL;
	int rc = http_resolve(http_url(answer), http_header(answer, "Location", 0), &target, err);
	if (rc < 0)
		return error_wrap(err, rc, "status %ld", http_status(answer));
	char *shown CLEANUP_FREE = http_shown(target);
	return error_set(err, ERROR_PROTOCOL, "status %ld, which leads to %s", http_status(answer),
			 shown);
}

int http_refusal(struct http *http, struct http_exchange *answer, struct error *err)
{
	struct text code CLEANUP_TEXT = {0};
	long status = http_status(answer);
	int rc = status_error(status);
	const char *wait = http_header(answer, "Retry-After", 0);
	if (status / 100 == 3 && http_header(answer, "Location", 0) != NULL)
		return redirected(answer, err);
	if (wait != NULL && http_may_pass(rc))
		http->retry_after_ms = read_retry_after(wait);
	add_error_code(answer, &code);
	(void)error_set(err, rc, "status %ld%s", status, text_string(&code));
	if (err != NULL && rc == ERROR_REMOTE)
		err->remote = (int)status;
	return rc;
}

/* Does the host of `base` itself refuse it? Where it led to, nobody is asked what would be accepted there. */
static bool is_refused(const struct http *http, const struct http_exchange *answer)
{
	return (http_status(answer) == 401 || http_status(answer) == 403) &&
	       http_same_origin(http_url(answer), http->base);
}

/* With what the other side accepts; *answer is NULL when none came. */
static int ask(struct http *http, struct http_request request, struct http_exchange **answer,
	       struct error *err)
{
	const struct http_options *options = &http->options;
	if (options->authorize == NULL || !http_same_origin(request.url, http->base))
		return http_begin(http, &request, answer, err);
	for (unsigned refusals = 0;; refusals++) {
		int rc = options->authorize(options->user, *answer, refusals,
					    &request.authorization, err);
		if (rc < 0 || (refusals > 0 && request.authorization == NULL))
			return rc;
		http_end(answer);
		rc = http_begin(http, &request, answer, err);
		if (rc < 0 || !is_refused(http, *answer))
			return rc;
	}
}

/* This machine's own servers do not always speak TLS. */
static bool goes_plain(struct http *http)
{
	char *plain = http->options.may_be_plain && text_starts_with(http->base, "https://")
			      ? text_format("http%s", http->base + strlen("https"))
			      : NULL;
	if (plain == NULL)
		return false;
	free(http->base);
	http->base = plain;
	return true;
}

int http_call_once(struct http *http, const struct http_request *request,
		   struct http_exchange **out, struct error *err)
{
	struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
	struct http_request sent = *request;
	struct error failure = {0};
	const bool is_below = request->url[0] == '/';
	char *url CLEANUP_FREE = text_format("%s%s", is_below ? http->base : "", request->url);
	if (url == NULL)
		return error_memory(err);
	sent.url = url;
	int rc = ask(http, sent, &answer, &failure);
	if (rc == ERROR_UNSUPPORTED && answer == NULL && is_below && goes_plain(http))
		return http_call_once(http, request, out, err);
	char *shown CLEANUP_FREE = http_shown(answer != NULL ? http_url(answer) : url);
	if (rc == 0 && http_status(answer) / 100 != 2)
		rc = http_refusal(http, answer, &failure);
	if (rc == 0) {
		*out = STEAL(answer);
		return 0;
	}
	(void)error_copy(err, &failure);
	return error_wrap(err, rc, "%s %s", request->method, shown);
}

int http_call(struct http *http, const struct http_request *request, struct text *body,
	      struct http_exchange **out, struct error *err)
{
	struct http_patience patience = {0};
	struct error *failure = &patience.failure;
	int rc = 0;
	do {
		text_reset(body);
		http_end(out);
		rc = http_call_once(http, request, out, failure);
		if (rc < 0)
			continue;
		char *shown CLEANUP_FREE = http_shown(http_url(*out));
		rc = http_read_all(*out, HTTP_BODY_MAX, body, failure);
		if (rc < 0)
			(void)error_wrap(failure, rc, "%s %s", request->method, shown);
	} while (rc < 0 && http_try_again(http, &patience));
	return rc < 0 ? error_copy(err, failure) : 0;
}
