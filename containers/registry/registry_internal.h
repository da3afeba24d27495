/* SPDX-License-Identifier: MIT */
#pragma once

/* The parts of the registry client. */

#include "containers/registry/credentials.h"
#include "containers/registry/registry.h"

struct registry {
	struct http *http;
	char *host;  /* as references have it */
	char *name;  /* of the repository */
	char *scope; /* what tokens are asked for */
	struct credentials credentials;
	bool has_credentials;	      /* they were looked for */
	char *basic;		      /* "Basic ..." once it was asked for */
	char *token;		      /* "Bearer ...": the last that was handed out */
	uint64_t token_expires_at_ms; /* of the client's own clock: a registry's may be wrong */
};

/* The index that those who keep referrers themselves push under the tag "sha256-..." (distribution-spec,
 * "Referrers Tag Schema"). *out is NULL when there is none. Caller frees *tag. */
int registry_get_fallback(struct registry *registry, const char *digest, char **tag, cJSON **out,
			  struct error *err);
