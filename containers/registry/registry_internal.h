/* SPDX-License-Identifier: MIT */
#pragma once

/* The parts of the registry client. */

#include "containers/registry/credentials.h"
#include "containers/registry/http.h"
#include "containers/registry/internal.h"
#include "containers/registry/registry.h"

struct registry {
	struct registry_options options;
	struct http *http;
	char *host;   /* as references have it */
	char *origin; /* "https://registry-1.docker.io" */
	bool may_be_plain;
	struct credentials credentials;
	bool has_credentials; /* they were looked for */
	char *basic;	      /* "Basic ..." once it was asked for */
	char *token, *scope;  /* "Bearer ..." and what it is for: the last that was handed out */
	uint64_t token_expires_at_ms; /* of the client's own clock: a registry's may be wrong */
	struct registry_retries retries;
};

struct registry_call {
	const char *method;
	const char *name;      /* of the repository */
	const char *target;    /* "/manifests/" behind it, or a URL that the registry told */
	const char *reference; /* behind that; NULL: nothing */
	bool pushes;
	const char *accept, *content_type, *content_range;
	const void *body;
	size_t body_size;
	uint64_t offset;
};

/* Sends it once, with authentication, until an answer of 2xx. Errors are those of registry.h. */
int registry_call_once(struct registry *registry, const struct registry_call *call,
		       struct http_exchange **out, struct error *err);

/* Sends it, again when that helps, and reads the whole answer, whose headers *out has. */
int registry_call(struct registry *registry, const struct registry_call *call, struct text *body,
		  struct http_exchange **out, struct error *err);

/* What to send as Authorization; NULL: nothing is known. */
const char *registry_authorization(struct registry *registry, const char *scope);

/* Obeys the WWW-Authenticate of an answer 401 so that registry_authorization() has something. `sent`: what was
 * sent already and refused, or NULL. */
int registry_authenticate(struct registry *registry, const struct http_exchange *answer,
			  const char *scope, const char *sent, struct error *err);

/* ERROR_PERMISSION: the credentials are refused, or there are none. */
int registry_denied(const struct registry *registry, struct error *err);

/* The index that those who keep referrers themselves push under the tag "sha256-..." (distribution-spec,
 * "Referrers Tag Schema"). *out is NULL when there is none. Caller frees *tag. */
int registry_get_fallback(struct registry *registry, const char *name, const char *digest,
			  char **tag, cJSON **out, struct error *err);
