/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Credentials for registries, where Docker and Podman keep them: "config.json" in $DOCKER_CONFIG, the
 * file $REGISTRY_AUTH_FILE, and without $DOCKER_CONFIG "~/.docker/config.json". The first that has some
 * for the host is used; in each the host's credential helper (credHelpers), then the store for all
 * hosts (credsStore), then the file's own entries (auths).
 *
 * Errors and reports contain no secrets.
 */

#include "base/arena.h"
#include "base/json.h"

struct credentials {
	struct arena arena;		 /* owns the strings */
	const char *username, *password; /* NULL: none */
	const char *identity_token;	 /* exchanged for a token (OAuth 2 refresh token) */
	const char *source;		 /* where they come from: a file, a helper */
};

/* Overwrites what it frees. */
void credentials_free(struct credentials *credentials);

/* `host` as references have it, `name` of the repository: Podman's files may distinguish them. All
 * NULL: none were found. ERROR_FORMAT, ERROR_IO: a file that cannot be read, a helper that fails or is
 * not installed; names it. ERROR_TIMEOUT: a helper that does not answer within 30 seconds. */
int credentials_find(const char *host, const char *name, struct credentials *out,
		     struct error *err);

/* Reads one file: fills `out`, or *helper with the name of the credential helper to ask (borrowed from
 * the document; "": none). */
int credentials_read(const cJSON *file, const char *host, const char *name, struct credentials *out,
		     const char **helper, struct error *err);

/* The output of a helper (docker-credential-helpers, "get"). */
int credentials_read_helper(const char *data, size_t size, struct credentials *out,
			    struct error *err);
