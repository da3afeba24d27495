/* SPDX-License-Identifier: MIT */
/* Calls with authorization, retries, and answers as errors. */
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

enum { DOUBLINGS = 6 }; /* 32 s */

/* Between half and all of a time that doubles: clients that failed together do not come back together. */
bool http_try_again(struct http *http, struct http_patience *patience)
{
	const struct http_clock *clock = http->options.clock;
	struct error *failure = &patience->failure;
	uint64_t asked = http->retry_after_ms;
	uint64_t most = (uint64_t)HTTP_WAIT_FIRST_MS
			<< (patience->failures < DOUBLINGS ? patience->failures : DOUBLINGS);
	http->retry_after_ms = 0;
	if (!http_may_pass(failure->code))
		return false;
	if (asked > HTTP_WAIT_MAX_MS) {
		(void)error_wrap(failure, failure->code, "Retry-After asks for %llu s",
				 (unsigned long long)(asked / 1000));
		return false;
	}
	if (patience->failures++ >= HTTP_RETRIES && http->until_ms == 0)
		return false;
	uint64_t jitter = randombytes_uniform((uint32_t)(most / 2));
	uint64_t duration = asked > 0 ? asked + jitter : most / 2 + jitter;
	if (http->until_ms > 0 && http_now_ms(http) + duration >= http->until_ms)
		return false;
	if (clock != NULL)
		clock->wait_ms(duration, clock->user);
	else
		clock_sleep_ms(duration);
	*failure = (struct error){0};
	return true;
}

int http_refusal(struct http *http, struct http_exchange *answer, struct error *err)
{
	enum { BODY_MAX = 16384, CODE_MAX = 64 };
	long status = http_status(answer);
	const char *location = http_header(answer, "Location", 0);
	if (status / 100 == 3 && location != NULL) {
		char *target CLEANUP_FREE = NULL;
		int rc = http_resolve(http_url(answer), location, &target, err);
		if (rc < 0)
			return error_wrap(err, rc, "status %ld", status);
		char *shown CLEANUP_FREE = http_shown(target);
		return error_set(err, ERROR_PROTOCOL, "status %ld, which leads to %s", status,
				 shown);
	}

	int rc = ERROR_REMOTE;
	if (status == 401 || status == 403)
		rc = ERROR_PERMISSION;
	else if (status == 404)
		rc = ERROR_NOT_FOUND;
	else if (status == 429)
		rc = ERROR_BUSY;
	else if (status == 408 || status == 500 || (status >= 502 && status <= 504))
		rc = ERROR_UNAVAILABLE;

	/* Statuses that a person has to act on. */
	const char *meaning = status == 413   ? ": the server accepts no file of this size"
			      : status == 507 ? ": the server's storage is full"
					      : "";

	/* Seconds, or a date (RFC 9110, section 10.2.3). */
	const char *wait = http_header(answer, "Retry-After", 0);
	if (wait != NULL && http_may_pass(rc)) {
		long long seconds = 0;
		if (text_to_int64(wait, "Retry-After", 0, INT32_MAX, &seconds, NULL) < 0)
			seconds = curl_getdate(wait, NULL) - clock_realtime_ns() / 1000000000;
		http->retry_after_ms = seconds > 0 ? (uint64_t)seconds * 1000 : 0;
	}

	/* The code of the first error ("MANIFEST_UNKNOWN"). The message is left out: it may repeat what was sent. */
	struct text body CLEANUP_TEXT = {0};
	cJSON *json CLEANUP_JSON = NULL;
	const char *code = NULL;
	if (http_read_all(answer, BODY_MAX, &body, NULL) == 0 &&
	    json_parse(text_string(&body), body.size, &json, NULL) == 0)
		code = json_pointer_string(json, "/errors/0/code");
	if (code != NULL && strlen(code) <= CODE_MAX &&
	    strspn(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == strlen(code))
		(void)error_set(err, rc, "status %ld (%s)", status, code);
	else
		(void)error_set(err, rc, "status %ld%s", status, meaning);
	if (err != NULL && rc == ERROR_REMOTE)
		err->remote = (int)status;
	return rc;
}

/* Sends it with credentials that the server of `base` accepts; *answer is NULL without an answer. */
static int send_authorized(struct http *http, struct http_request request,
			   struct http_exchange **answer, struct error *err)
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
		if (rc < 0)
			return rc;

		/* A refusal by the target of a redirect says nothing about the credentials for `base`. */
		long status = http_status(*answer);
		if ((status != 401 && status != 403) ||
		    !http_same_origin(http_url(*answer), http->base))
			return 0;
	}
}

int http_call_once(struct http *http, const struct http_request *request,
		   struct http_exchange **out, struct error *err)
{
	struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
	struct http_request sent = *request;
	struct error failure = {0};
	const bool is_below = request->url[0] == '/';
	char *url CLEANUP_FREE = text_format("%s%s", is_below ? http->base : "", request->url);
	sent.url = url;
	int rc = send_authorized(http, sent, &answer, &failure);

	/* This machine's own servers do not always speak TLS. */
	if (rc == ERROR_UNSUPPORTED && answer == NULL && is_below && http->options.may_be_plain &&
	    text_starts_with(http->base, "https://")) {
		char *plain = text_format("http%s", http->base + strlen("https"));
		free(http->base);
		http->base = plain;
		return http_call_once(http, request, out, err);
	}

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
	return rc == 0 ? 0 : error_copy(err, failure);
}
