/* SPDX-License-Identifier: MIT */
#include "containers/registry/registry_internal.h"

#include "base/json.h"
#include "containers/registry/challenge.h"
#include "containers/registry/reference.h"

#include <sodium.h>
#include <string.h>

enum { ANSWER_MAX = 256 * 1024, TOKEN_LIFE_S = 60 };

const char *registry_authorization(struct registry *registry, const char *scope)
{
	bool has_token = registry->token != NULL && strcmp(registry->scope, scope) == 0 &&
			 registry_now_ms(registry->options.clock) < registry->token_expires_at_ms;
	return has_token ? registry->token : registry->basic;
}

static int keep_token(struct registry *registry, const char *scope, const char *value,
		      int64_t life_s, struct error *err)
{
	free(STEAL(registry->token));
	free(registry->scope);
	registry->scope = strdup(scope);
	if (registry->scope != NULL)
		registry->token = text_format("Bearer %s", value);
	registry->token_expires_at_ms =
		registry_now_ms(registry->options.clock) + (uint64_t)life_s * 1000;
	return registry->token != NULL ? 0 : error_memory(err);
}

static int make_basic(struct registry *registry, char **out, struct error *err)
{
	struct text plain CLEANUP_TEXT = {0};
	text_addf(&plain, "%s:%s", registry->credentials.username, registry->credentials.password);
	size_t room = sodium_base64_encoded_len(plain.size, sodium_base64_VARIANT_ORIGINAL);
	char *encoded CLEANUP_FREE = malloc(room);
	if (plain.failed || encoded == NULL)
		return error_memory(err);
	(void)sodium_bin2base64(encoded, room, (const unsigned char *)plain.data, plain.size,
				sodium_base64_VARIANT_ORIGINAL);
	sodium_memzero(plain.data, plain.size);
	*out = text_format("Basic %s", encoded);
	return *out != NULL ? 0 : error_memory(err);
}

static bool has_password(const struct registry *registry)
{
	return registry->credentials.username != NULL && registry->credentials.password != NULL;
}

int registry_denied(const struct registry *registry, struct error *err)
{
	const char *source = registry->credentials.source;
	if (source != NULL)
		return error_set(err, ERROR_PERMISSION,
				 "%s does not accept the credentials of %s, or does not give them "
				 "this repository",
				 registry->host, source);
	return error_set(err, ERROR_PERMISSION,
			 "%s wants credentials, or has no such repository; `docker login %s` "
			 "keeps them",
			 registry->host, registry->host);
}

/* How long it lives is counted from now on: "issued_at" is of a clock that may be wrong. */
static int read_token(struct registry *registry, const char *scope, const struct text *body,
		      struct error *err)
{
	cJSON *json CLEANUP_JSON = NULL;
	int64_t life = TOKEN_LIFE_S;
	if (json_parse(text_string(body), body->size, &json, NULL) < 0)
		return error_set(err, ERROR_FORMAT, "the answer is not JSON");
	struct json_at root = json_root(json);
	const char *token = json_pointer_string(json, "/token");
	if (!challenge_is_token(token))
		token = json_pointer_string(json, "/access_token");
	if (!challenge_is_token(token))
		return error_set(err, ERROR_FORMAT, "the answer has no token");
	if (json_have_int(&root, "expires_in", 0, INT32_MAX, &life, NULL) < 0 || life == 0)
		life = TOKEN_LIFE_S;
	return keep_token(registry, scope, token, life, err);
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
			 const char *asked, const char *scope, struct error *err)
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
	http_add_query(&query, "scope", asked);
	struct http_request request = {.method = "GET", .accept = "application/json"};
	if (refresh != NULL) {
		http_add_query(&query, "grant_type", "refresh_token");
		http_add_query(&query, "client_id", "gpucert");
		http_add_query(&query, "refresh_token", refresh);
		request.method = "POST";
		request.content_type = "application/x-www-form-urlencoded";
	}
	int rc = refresh == NULL && has_password(registry) ? make_basic(registry, &basic, err) : 0;
	if (rc < 0 || query.failed)
		return rc < 0 ? rc : error_memory(err);
	request.url = refresh != NULL ? challenge->realm : query.data;
	request.authorization = basic;
	if (refresh != NULL) {
		request.body = query.data + strlen("?&");
		request.body_size = query.size - strlen("?&");
	}
	rc = http_begin(registry->http, &request, &answer, err);
	if (rc == 0 && (http_status(answer) == 401 || http_status(answer) == 403))
		return registry_denied(registry, err);
	if (rc == 0 && http_status(answer) != 200)
		rc = registry_refusal(&registry->retries, answer, err);
	if (rc == 0)
		rc = http_read_all(answer, ANSWER_MAX, &body, err);
	return rc == 0 ? read_token(registry, scope, &body, err) : rc;
}

/* Credentials that came over HTTPS are not sent on without it. */
static int check_realm(const struct registry *registry, const char *realm, struct error *err)
{
	if (realm == NULL ||
	    (!text_starts_with(realm, "https://") && !text_starts_with(realm, "http://")))
		return error_set(err, ERROR_PROTOCOL,
				 "WWW-Authenticate: Bearer without the URL of a realm");
	if (text_starts_with(registry->origin, "https://") && !text_starts_with(realm, "https://"))
		return error_set(err, ERROR_PROTOCOL,
				 "WWW-Authenticate: a realm of plain HTTP for a registry of HTTPS");
	return 0;
}

static int bearer(struct registry *registry, const struct challenge *challenge, const char *scope,
		  struct error *err)
{
	const struct credentials *credentials = &registry->credentials;
	const char *asked = challenge->scope != NULL ? challenge->scope : scope;
	int rc = check_realm(registry, challenge->realm, err);
	if (rc < 0)
		return rc;
	if (credentials->registry_token != NULL && challenge_is_token(credentials->registry_token))
		return keep_token(registry, scope, credentials->registry_token, TOKEN_LIFE_S, err);
	rc = ask_for_token(registry, challenge, asked, scope, err);
	if (rc == 0 || rc == ERROR_PERMISSION)
		return rc;
	char *shown CLEANUP_FREE = http_shown(challenge->realm);
	return error_wrap(err, rc, "token of %s", shown != NULL ? shown : "the realm");
}

/* The name of a repository out of "repository:NAME:ACTIONS". */
static int find_credentials(struct registry *registry, const char *scope, struct error *err)
{
	if (registry->has_credentials)
		return 0;
	const char *name = scope + strlen("repository:");
	char *only CLEANUP_FREE = strndup(name, strcspn(name, ":"));
	if (only == NULL)
		return error_memory(err);
	int rc = credentials_find(registry->host, only, &registry->credentials, err);
	registry->has_credentials = rc == 0;
	return rc;
}

int registry_authenticate(struct registry *registry, const struct http_exchange *answer,
			  const char *scope, const char *sent, struct error *err)
{
	enum { HEADERS_MAX = 16 };
	struct challenge challenge CLEANUP_CHALLENGE = {0};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < HEADERS_MAX; i++) {
		const char *header = http_header(answer, "WWW-Authenticate", i);
		if (header == NULL)
			break;
		rc = challenge_add(&challenge, header, strlen(header), err);
	}
	if (rc == 0)
		rc = find_credentials(registry, scope, err);
	if (rc < 0)
		return rc;
	if (challenge.scheme == CHALLENGE_BEARER)
		return bearer(registry, &challenge, scope, err);
	if (challenge.scheme == CHALLENGE_NONE)
		return error_set(err, ERROR_UNSUPPORTED,
				 "status 401 asks neither for Basic nor for Bearer authentication");
	if (sent != NULL || !has_password(registry))
		return registry_denied(registry, err);
	return make_basic(registry, &registry->basic, err);
}
