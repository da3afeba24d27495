/* SPDX-License-Identifier: MIT */
#pragma once

/* The parts of the registry client. */

#include "containers/registry/credentials.h"
#include "containers/registry/http.h"
#include "containers/registry/internal.h"
#include "containers/registry/registry.h"

struct registry_token {
	char *scope;
	char *authorization;	/* "Bearer ..." */
	uint64_t expires_at_ms; /* of the client's own clock: a registry's may be wrong */
};

enum { TOKENS_MAX = 16 };

struct registry {
	struct registry_options options;
	struct http *http;
	char *host;   /* as references have it */
	char *origin; /* "https://registry-1.docker.io" */
	bool may_be_plain;
	struct credentials credentials;
	bool has_credentials; /* they were looked for */
	char *basic;	      /* "Basic ..." once it was asked for */
	struct registry_token tokens[TOKENS_MAX];
	size_t token_count;
	uint64_t retry_after_ms; /* that the last answer asked for; 0: nothing */
};

struct registry_call {
	const char *method;
	const char *name;    /* of the repository */
	const char *target;  /* "/manifests/latest" behind it, or a URL that the registry told */
	const char *actions; /* "pull", "pull,push" */
	const char *accept, *content_type;
	const void *body;
	size_t body_size;
	uint64_t offset;
};

uint64_t registry_now_ms(const struct registry *registry);

/* Sends it once, with authentication and redirects, until an answer of 2xx. *url receives the place that
 * answered, unless it is NULL; caller frees. Errors are those of registry.h. */
int registry_call_once(struct registry *registry, const struct registry_call *call,
		       struct http_exchange **out, char **url, struct error *err);

/* How often something failed already, and how the last time. */
struct registry_patience {
	unsigned failures;
	struct error failure;
};

/* May the failure pass, and is there patience left? Then waits, forgets the failure and is true. */
bool registry_try_again(struct registry *registry, struct registry_patience *patience);

/* Sends it, again when that helps, and reads the whole answer. `on_answer` (NULL: none) sees its headers
 * before the exchange ends. */
int registry_call(struct registry *registry, const struct registry_call *call, size_t max,
		  struct text *body,
		  int (*on_answer)(const struct http_exchange *exchange, const char *url,
				   void *user, struct error *err),
		  void *user, struct error *err);

/* What to send as Authorization; NULL: nothing is known. */
const char *registry_authorization(struct registry *registry, const char *scope);

/* Obeys the WWW-Authenticate of an answer 401 so that registry_authorization() has something. `sent`: what was
 * sent already and refused, or NULL. */
int registry_authenticate(struct registry *registry, const struct http_exchange *answer,
			  const char *scope, const char *sent, struct error *err);

/* ERROR_PERMISSION: the credentials are refused, or there are none. */
int registry_denied(const struct registry *registry, struct error *err);

/* GET and HEAD with redirects. `authorization` goes to its own origin alone. */
int registry_send(struct registry *registry, struct http_request request,
		  struct http_exchange **out, char **url, struct error *err);

/* An answer that is not 2xx, as an error; remembers what it says of Retry-After. */
int registry_refusal(struct registry *registry, struct http_exchange *answer, struct error *err);

/* "sha256-..." of "sha256:...". Caller frees *out. */
int registry_fallback_tag(const char *digest, char **out, struct error *err);

/* A blob as a reader that goes on where it was cut. `size` UINT64_MAX: not known. */
int registry_open_blob(struct registry *registry, const char *name, const char *digest,
		       uint64_t size, struct blob_reader **out, struct error *err);
