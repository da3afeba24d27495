/* SPDX-License-Identifier: MIT */
#include "containers/registry/retries.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"

#include <curl/curl.h>
#include <sodium.h>
#include <string.h>
#include <time.h>

uint64_t registry_now_ms(const struct registry_clock *clock)
{
	return clock != NULL ? clock->now_ms(clock->user) : clock_monotonic_ms();
}

bool registry_may_pass(int rc)
{
	return rc == ERROR_UNAVAILABLE || rc == ERROR_TIMEOUT || rc == ERROR_IO || rc == ERROR_BUSY;
}

/* Between half and all of a time that doubles: clients that failed together do not come back together. */
bool registry_try_again(struct registry_retries *retries, struct registry_patience *patience)
{
	const struct registry_clock *clock = retries->clock;
	struct error *failure = &patience->failure;
	uint64_t asked = retries->retry_after_ms;
	uint64_t most = (uint64_t)REGISTRY_WAIT_FIRST_MS << patience->failures;
	retries->retry_after_ms = 0;
	if (!registry_may_pass(failure->code))
		return false;
	if (asked > REGISTRY_WAIT_MAX_MS) {
		(void)error_wrap(failure, failure->code, "it asks to be left alone for %llu s",
				 (unsigned long long)(asked / 1000));
		return false;
	}
	if (patience->failures++ == REGISTRY_RETRIES)
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
	static const struct {
		long status;
		int code;
	} known[] = {
		{401, ERROR_PERMISSION},  {403, ERROR_PERMISSION},  {404, ERROR_NOT_FOUND},
		{429, ERROR_BUSY},	  {408, ERROR_UNAVAILABLE}, {500, ERROR_UNAVAILABLE},
		{502, ERROR_UNAVAILABLE}, {503, ERROR_UNAVAILABLE}, {504, ERROR_UNAVAILABLE},
	};
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (known[i].status == status)
			return known[i].code;
	}
	return ERROR_REMOTE;
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

int registry_refusal(struct registry_retries *retries, struct http_exchange *answer,
		     struct error *err)
{
	struct text code CLEANUP_TEXT = {0};
	long status = http_status(answer);
	int rc = status_error(status);
	const char *wait = http_header(answer, "Retry-After", 0);
	if (wait != NULL && registry_may_pass(rc))
		retries->retry_after_ms = read_retry_after(wait);
	add_error_code(answer, &code);
	(void)error_set(err, rc, "status %ld%s", status, text_string(&code));
	if (err != NULL && rc == ERROR_REMOTE)
		err->remote = (int)status;
	return rc;
}
