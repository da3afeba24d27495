/* SPDX-License-Identifier: MIT */
#include "containers/registry/registry_internal.h"

#include "base/clock.h"
#include "base/json.h"
#include "containers/registry/reference.h"

#include <curl/curl.h>
#include <sodium.h>
#include <string.h>
#include <time.h>

int registry_open(const char *host, const struct registry_options *options, struct registry **out,
		  struct error *err)
{
	struct registry *registry CLEANUP_REGISTRY = calloc(1, sizeof(*registry));
	if (registry == NULL)
		return error_memory(err);
	registry->options = *options;
	registry->may_be_plain = !options->plain_http && registry_host_is_local(host);
	registry->host = strdup(host);
	registry->origin =
		text_format("http%s://%s", options->plain_http ? "" : "s",
			    strcmp(host, "docker.io") == 0 ? "registry-1.docker.io" : host);
	if (registry->host == NULL || registry->origin == NULL)
		return error_memory(err);
	int rc = http_open(options->ca_certificate, options->stall_ms, &registry->http, err);
	if (rc == 0)
		*out = STEAL(registry);
	return rc;
}

void registry_close(struct registry **registry)
{
	struct registry *closed = STEAL(*registry);
	if (closed == NULL)
		return;
	credentials_free(&closed->credentials);
	http_close(closed->http);
	free(closed->basic);
	free(closed->token);
	free(closed->scope);
	free(closed->host);
	free(closed->origin);
	free(closed);
}

void registry_document_free(struct registry_document *document)
{
	text_free(&document->data);
}

uint64_t registry_now_ms(const struct registry *registry)
{
	const struct registry_clock *clock = registry->options.clock;
	return clock != NULL ? clock->now_ms(clock->user) : clock_monotonic_ms();
}

static bool may_pass(int rc)
{
	return rc == ERROR_UNAVAILABLE || rc == ERROR_TIMEOUT || rc == ERROR_IO || rc == ERROR_BUSY;
}

/* Between half and all of a time that doubles: clients that failed together do not come back together. */
bool registry_try_again(struct registry *registry, struct registry_patience *patience)
{
	const struct registry_clock *clock = registry->options.clock;
	struct error *failure = &patience->failure;
	uint64_t asked = registry->retry_after_ms;
	uint64_t most = (uint64_t)REGISTRY_WAIT_FIRST_MS << patience->failures;
	registry->retry_after_ms = 0;
	if (!may_pass(failure->code))
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

int registry_refusal(struct registry *registry, struct http_exchange *answer, struct error *err)
{
	struct text code CLEANUP_TEXT = {0};
	long status = http_status(answer);
	int rc = status_error(status);
	const char *wait = http_header(answer, "Retry-After", 0);
	if (wait != NULL && may_pass(rc))
		registry->retry_after_ms = read_retry_after(wait);
	add_error_code(answer, &code);
	(void)error_set(err, rc, "status %ld%s", status, text_string(&code));
	if (err != NULL && rc == ERROR_REMOTE)
		err->remote = (int)status;
	return rc;
}

/* Behind the origin, unless it is a URL already. */
static int answer_to(struct registry *registry, const struct registry_call *call, const char *sent,
		     struct http_exchange **out, struct error *err)
{
	bool is_url = strstr(call->target, "://") != NULL;
	char *url CLEANUP_FREE =
		text_format("%s%s%s%s%s", is_url ? "" : registry->origin, is_url ? "" : "/v2/",
			    is_url ? "" : call->name, call->target,
			    call->reference != NULL ? call->reference : "");
	struct error failure = {0};
	if (url == NULL)
		return error_memory(err);
	const struct http_request request = {
		.method = call->method,
		.url = url,
		.accept = call->accept,
		.content_type = call->content_type,
		.authorization = http_same_origin(url, registry->origin) ? sent : NULL,
		.body = call->body,
		.body_size = call->body_size,
		.offset = call->offset,
	};
	int rc = http_begin(registry->http, &request, out, &failure);
	if (rc == 0)
		return 0;
	char *shown CLEANUP_FREE = http_shown(url);
	if (rc != ERROR_UNSUPPORTED || !registry->may_be_plain) {
		(void)error_copy(err, &failure);
		return error_wrap(err, rc, "%s %s", call->method, shown);
	}
	/* This machine's own registry does not speak TLS. */
	free(registry->origin);
	registry->origin = text_format("http://%s", registry->host);
	registry->may_be_plain = false;
	return registry->origin != NULL ? answer_to(registry, call, sent, out, err)
					: error_memory(err);
}

int registry_call_once(struct registry *registry, const struct registry_call *call,
		       struct http_exchange **out, struct error *err)
{
	struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
	char *scope CLEANUP_FREE =
		text_format("repository:%s:pull%s", call->name, call->pushes ? ",push" : "");
	if (scope == NULL)
		return error_memory(err);
	const char *sent = registry_authorization(registry, scope);
	int rc = answer_to(registry, call, sent, &answer, err);
	if (rc < 0)
		return rc;
	char *shown CLEANUP_FREE = http_shown(http_url(answer));
	if (http_status(answer) == 401) {
		rc = registry_authenticate(registry, answer, scope, sent, err);
		http_end(&answer);
		if (rc < 0)
			return error_wrap(err, rc, "%s %s", call->method, shown);
		rc = answer_to(registry, call, registry_authorization(registry, scope), &answer,
			       err);
		if (rc < 0)
			return rc;
	}
	if (http_status(answer) == 401)
		rc = registry_denied(registry, err);
	else if (http_status(answer) / 100 != 2)
		rc = registry_refusal(registry, answer, err);
	if (rc < 0)
		return error_wrap(err, rc, "%s %s", call->method, shown);
	*out = STEAL(answer);
	return 0;
}

int registry_call(struct registry *registry, const struct registry_call *call, struct text *body,
		  struct http_exchange **out, struct error *err)
{
	struct registry_patience patience = {0};
	struct error *failure = &patience.failure;
	int rc = 0;
	do {
		text_reset(body);
		http_end(out);
		rc = registry_call_once(registry, call, out, failure);
		if (rc < 0)
			continue;
		char *shown CLEANUP_FREE = http_shown(http_url(*out));
		rc = http_read_all(*out, IMAGE_DOCUMENT_MAX, body, failure);
		if (rc < 0)
			(void)error_wrap(failure, rc, "%s %s", call->method, shown);
	} while (rc < 0 && registry_try_again(registry, &patience));
	return rc < 0 ? error_copy(err, failure) : 0;
}
