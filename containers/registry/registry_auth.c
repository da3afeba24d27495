/* SPDX-License-Identifier: MIT */
#include "containers/registry/internal.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "containers/registry/challenge.h"
#include "containers/registry/reference.h"

#include <sodium.h>
#include <string.h>

enum { ANSWER_MAX = 256 * 1024, TOKEN_LIFE_S = 60 };

/* "Basic ..." of the credentials. Caller frees. */
static char *make_basic(const struct credentials *credentials)
{
	char *plain CLEANUP_FREE =
		text_format("%s:%s", credentials->username, credentials->password);
	size_t size = strlen(plain);
	size_t room = sodium_base64_encoded_len(size, sodium_base64_VARIANT_ORIGINAL);
	char *encoded CLEANUP_FREE = memory_allocate(1, room);
	(void)sodium_bin2base64(encoded, room, (const unsigned char *)plain, size,
				sodium_base64_VARIANT_ORIGINAL);
	sodium_memzero(plain, size);
	return text_format("Basic %s", encoded);
}

static bool has_password(const struct registry *registry)
{
	return registry->credentials.username != NULL && registry->credentials.password != NULL;
}

static int denied(const struct registry *registry, struct error *err)
{
	const char *source = registry->credentials.source;
	if (source != NULL)
		return error_set(err, ERROR_PERMISSION,
				 "%s does not accept the credentials of %s, or does not grant them "
				 "this repository",
				 registry->host, source);
	return error_set(err, ERROR_PERMISSION,
			 "%s requires credentials, or has no such repository; `docker login %s` "
			 "keeps them",
			 registry->host, registry->host);
}

/* Its lifetime starts now: "issued_at" comes from a clock that may be wrong. */
static int read_token(struct registry *registry, const struct text *body, struct error *err)
{
	cJSON *json CLEANUP_JSON = NULL;
	int64_t life_s = 0;
	if (json_parse(text_string(body), body->size, &json, NULL) < 0)
		return error_set(err, ERROR_FORMAT, "the answer is not JSON");
	struct json_at root = json_root(json);
	const char *token = json_pointer_string(json, "/token");
	if (!challenge_is_token(token))
		token = json_pointer_string(json, "/access_token");
	if (!challenge_is_token(token))
		return error_set(err, ERROR_FORMAT, "the answer has no token");
	if (json_have_int(&root, "expires_in", 0, INT32_MAX, &life_s, NULL) < 0 || life_s == 0)
		life_s = TOKEN_LIFE_S;

	free(registry->token);
	registry->token = text_format("Bearer %s", token);
	registry->token_expires_at_ms = http_now_ms(registry->http) + (uint64_t)life_s * 1000;
	return 0;
}

static void wipe_text(struct text *text)
{
	if (text->data != NULL)
		sodium_memzero(text->data, text->size);
	text_free(text);
}

/* Distribution, "Token Authentication Implementation": GET with Basic credentials, or with none; "OAuth2
 * Token Authentication": POST of a form with a refresh token. */
static int ask_for_token(struct registry *registry, const struct challenge *challenge,
			 struct error *err)
{
	struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
	struct text query CLEANUP(wipe_text) = {0};
	struct text body CLEANUP(wipe_text) = {0};
	char *basic CLEANUP_FREE = NULL;
	const char *refresh = registry->credentials.identity_token;

	text_add(&query, refresh != NULL ? "?" : challenge->realm);
	if (challenge->service != NULL || refresh != NULL)
		http_add_query(&query, "service",
			       challenge->service != NULL ? challenge->service : "");
	http_add_query(&query, "scope",
		       challenge->scope != NULL ? challenge->scope : registry->scope);

	struct http_request request = {.method = "GET", .accept = "application/json"};
	if (refresh != NULL) {
		http_add_query(&query, "grant_type", "refresh_token");
		http_add_query(&query, "client_id", "gpucert");
		http_add_query(&query, "refresh_token", refresh);
		request.method = "POST";
		request.content_type = "application/x-www-form-urlencoded";
	}
	if (refresh == NULL && has_password(registry))
		basic = make_basic(&registry->credentials);
	request.url = refresh != NULL ? challenge->realm : query.data;
	request.authorization = basic;
	if (refresh != NULL) {
		request.body = query.data + strlen("?&");
		request.body_size = query.size - strlen("?&");
	}

	int rc = http_begin(registry->http, &request, &answer, err);
	if (rc == 0 && (http_status(answer) == 401 || http_status(answer) == 403))
		return denied(registry, err);
	if (rc == 0 && http_status(answer) != 200)
		rc = http_refusal(registry->http, answer, err);
	if (rc == 0)
		rc = http_read_all(answer, ANSWER_MAX, &body, err);
	return rc == 0 ? read_token(registry, &body, err) : rc;
}

/* Obeys the WWW-Authenticate header of a 401 answer. */
static int authenticate(struct registry *registry, const struct http_exchange *refused,
			struct error *err)
{
	enum { HEADERS_MAX = 16 };
	struct challenge challenge CLEANUP_CHALLENGE = {0};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < HEADERS_MAX; i++) {
		const char *header = http_header(refused, "WWW-Authenticate", i);
		if (header == NULL)
			break;
		rc = challenge_add(&challenge, header, strlen(header), err);
	}
	if (rc == 0 && !registry->has_credentials)
		rc = credentials_find(registry->host, registry->name, &registry->credentials, err);
	if (rc < 0)
		return rc;
	registry->has_credentials = true;

	if (challenge.scheme == CHALLENGE_NONE)
		return error_set(err, ERROR_UNSUPPORTED,
				 "status 401 asks neither for Basic nor for Bearer authentication");
	if (challenge.scheme == CHALLENGE_BASIC) {
		if (registry->basic != NULL || !has_password(registry))
			return denied(registry, err);
		registry->basic = make_basic(&registry->credentials);
		return 0;
	}

	/* Credentials for an HTTPS registry are never sent without HTTPS. */
	const char *realm = challenge.realm;
	const bool is_https = realm != NULL && text_starts_with(realm, "https://");
	if (realm == NULL || (!is_https && !text_starts_with(realm, "http://")))
		return error_set(err, ERROR_PROTOCOL,
				 "WWW-Authenticate: Bearer without the URL of a realm");
	if (!is_https && text_starts_with(http_url(refused), "https://"))
		return error_set(err, ERROR_PROTOCOL,
				 "WWW-Authenticate: a realm of plain HTTP for a registry of HTTPS");
	rc = ask_for_token(registry, &challenge, err);
	if (rc == 0 || rc == ERROR_PERMISSION)
		return rc;
	char *shown CLEANUP_FREE = http_shown(realm);
	return error_wrap(err, rc, "token of %s", shown);
}

static int authorize(void *user, const struct http_exchange *refused, unsigned refusals,
		     const char **out, struct error *err)
{
	struct registry *registry = user;
	*out = NULL;
	if (refused != NULL && http_status(refused) != 401)
		return 0;
	if (refusals > 1)
		return denied(registry, err);
	int rc = refused != NULL ? authenticate(registry, refused, err) : 0;
	bool has_token = registry->token != NULL &&
			 http_now_ms(registry->http) < registry->token_expires_at_ms;
	*out = has_token ? registry->token : registry->basic;
	return rc;
}

int registry_open(const char *host, const char *name, bool pushes,
		  const struct registry_options *options, struct registry **out, struct error *err)
{
	struct registry *registry CLEANUP_REGISTRY = memory_allocate(1, sizeof(*registry));
	char *base CLEANUP_FREE =
		text_format("http%s://%s/v2/%s", options->plain_http ? "" : "s",
			    text_equal(host, "docker.io") ? "registry-1.docker.io" : host, name);
	registry->host = memory_copy(host);
	registry->name = memory_copy(name);
	registry->scope = text_format("repository:%s:pull%s", name, pushes ? ",push" : "");
	const struct http_options http = {
		.base = base,
		.may_be_plain = registry_host_is_local(host),
		.ca_certificate = options->ca_certificate,
		.stall_ms = options->stall_ms,
		.within_ms = options->within_ms,
		.clock = options->clock,
		.authorize = authorize,
		.user = registry,
	};
	int rc = http_open(&http, &registry->http, err);
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
	free(closed->name);
	free(closed->host);
	free(closed);
}
