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
	for (size_t i = 0; i < closed->token_count; i++) {
		free(closed->tokens[i].scope);
		free(closed->tokens[i].authorization);
	}
	credentials_free(&closed->credentials);
	http_close(closed->http);
	free(closed->basic);
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

static void wait_for(const struct registry *registry, uint64_t duration_ms)
{
	const struct registry_clock *clock = registry->options.clock;
	if (clock != NULL)
		clock->wait_ms(duration_ms, clock->user);
	else
		clock_sleep_ms(duration_ms);
}

static bool may_pass(int rc)
{
	return rc == ERROR_UNAVAILABLE || rc == ERROR_TIMEOUT || rc == ERROR_IO || rc == ERROR_BUSY;
}

/* Between half and all of a time that doubles: clients that failed together do not come back together. */
bool registry_try_again(struct registry *registry, struct registry_patience *patience)
{
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
	wait_for(registry, asked > 0 ? asked + jitter : most / 2 + jitter);
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
	switch (status) {
	case 401:
	case 403:
		return ERROR_PERMISSION;
	case 404:
		return ERROR_NOT_FOUND;
	case 429:
		return ERROR_BUSY;
	case 408:
	case 500:
	case 502:
	case 503:
	case 504:
		return ERROR_UNAVAILABLE;
	default:
		return ERROR_REMOTE;
	}
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

static bool is_redirect(long status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* Where an answer leads: HTTPS never to HTTP. */
static int next_place(const struct http_exchange *answer, char **url, struct error *err)
{
	const char *location = http_header(answer, "Location", 0);
	char *next CLEANUP_FREE = NULL;
	if (location == NULL)
		return error_set(err, ERROR_PROTOCOL, "status %ld without a Location",
				 http_status(answer));
	int rc = http_resolve(*url, location, &next, err);
	if (rc < 0)
		return error_wrap(err, rc, "Location");
	if (text_starts_with(*url, "https://") && !text_starts_with(next, "https://"))
		return error_set(err, ERROR_PROTOCOL, "leads from HTTPS to plain HTTP");
	free(*url);
	*url = STEAL(next);
	return 0;
}

int registry_send(struct registry *registry, struct http_request request,
		  struct http_exchange **out, char **url, struct error *err)
{
	char *place CLEANUP_FREE = strdup(request.url);
	bool may_follow = strcmp(request.method, "GET") == 0 || strcmp(request.method, "HEAD") == 0;
	const char *authorization = request.authorization;
	for (unsigned hops = 0; place != NULL; hops++) {
		struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
		bool own = http_same_origin(request.url, place);
		struct http_request next = request;
		next.url = place;
		next.authorization = own ? authorization : NULL;
		authorization = next.authorization; /* nor when it leads back */
		int rc = http_begin(registry->http, &next, &answer, err);
		if (rc < 0)
			return rc;
		if (!may_follow || !is_redirect(http_status(answer))) {
			*out = STEAL(answer);
			if (url != NULL)
				*url = STEAL(place);
			return 0;
		}
		if (hops == REGISTRY_REDIRECTS_MAX)
			return error_set(err, ERROR_PROTOCOL, "more than %d redirects",
					 REGISTRY_REDIRECTS_MAX);
		rc = next_place(answer, &place, err);
		if (rc < 0)
			return rc;
	}
	return error_memory(err);
}

static char *call_url(const struct registry *registry, const struct registry_call *call)
{
	if (strstr(call->target, "://") != NULL)
		return strdup(call->target);
	return text_format("%s/v2/%s%s", registry->origin, call->name, call->target);
}

/* One answer, whatever it is; `sent` is what was said of who we are. */
static int answer_to(struct registry *registry, const struct registry_call *call, const char *sent,
		     struct http_exchange **out, char **url, struct error *err)
{
	char *target CLEANUP_FREE = call_url(registry, call);
	if (target == NULL)
		return error_memory(err);
	const struct http_request request = {
		.method = call->method,
		.url = target,
		.accept = call->accept,
		.content_type = call->content_type,
		.authorization = http_same_origin(target, registry->origin) ? sent : NULL,
		.body = call->body,
		.body_size = call->body_size,
		.offset = call->offset,
	};
	struct error failure = {0};
	int rc = registry_send(registry, request, out, url, &failure);
	if (rc == 0)
		return 0;
	if (rc != ERROR_UNSUPPORTED || !registry->may_be_plain)
		return error_copy(err, &failure);
	/* This machine's own registry does not speak TLS. */
	char *plain = text_format("http://%s", registry->host);
	if (plain == NULL)
		return error_memory(err);
	free(registry->origin);
	registry->origin = plain;
	registry->may_be_plain = false;
	return answer_to(registry, call, sent, out, url, err);
}

static int call_once(struct registry *registry, const struct registry_call *call, const char *scope,
		     struct http_exchange **out, char **url, struct error *err)
{
	struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
	char *place CLEANUP_FREE = NULL;
	const char *sent = registry_authorization(registry, scope);
	int rc = answer_to(registry, call, sent, &answer, &place, err);
	if (rc == 0 && http_status(answer) == 401) {
		rc = registry_authenticate(registry, answer, scope, sent, err);
		http_end(&answer);
		free(STEAL(place));
		if (rc == 0)
			rc = answer_to(registry, call, registry_authorization(registry, scope),
				       &answer, &place, err);
	}
	if (rc == 0 && http_status(answer) == 401)
		rc = registry_denied(registry, err);
	if (rc == 0 && (http_status(answer) < 200 || http_status(answer) > 299))
		rc = registry_refusal(registry, answer, err);
	if (rc < 0)
		return rc;
	*out = STEAL(answer);
	if (url != NULL)
		*url = STEAL(place);
	return 0;
}

int registry_call_once(struct registry *registry, const struct registry_call *call,
		       struct http_exchange **out, char **url, struct error *err)
{
	char *scope CLEANUP_FREE = text_format("repository:%s:%s", call->name, call->actions);
	char *target CLEANUP_FREE = call_url(registry, call);
	char *shown CLEANUP_FREE = target != NULL ? http_shown(target) : NULL;
	if (scope == NULL || shown == NULL)
		return error_memory(err);
	int rc = call_once(registry, call, scope, out, url, err);
	return rc < 0 ? error_wrap(err, rc, "%s %s", call->method, shown) : 0;
}

int registry_call(struct registry *registry, const struct registry_call *call, size_t max,
		  struct text *body,
		  int (*on_answer)(const struct http_exchange *exchange, const char *url,
				   void *user, struct error *err),
		  void *user, struct error *err)
{
	struct registry_patience patience = {0};
	struct error *failure = &patience.failure;
	int rc = 0;
	do {
		struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
		char *url CLEANUP_FREE = NULL;
		text_reset(body);
		rc = registry_call_once(registry, call, &answer, &url, failure);
		if (rc < 0)
			continue;
		rc = http_read_all(answer, max, body, failure);
		if (rc == 0 && on_answer != NULL)
			rc = on_answer(answer, url, user, failure);
		if (rc < 0)
			(void)error_wrap(failure, rc, "%s %s%s", registry->host, call->name,
					 strstr(call->target, "://") != NULL ? "" : call->target);
	} while (rc < 0 && registry_try_again(registry, &patience));
	return rc < 0 ? error_copy(err, failure) : 0;
}
