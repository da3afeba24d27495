/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The header "WWW-Authenticate" (RFC 9110, section 11.6.1), of which registries use two schemes: Basic,
 * and Bearer with the URL of the token server (distribution, "Token Authentication
 * Specification").
 */

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum challenge_scheme { CHALLENGE_NONE, CHALLENGE_BASIC, CHALLENGE_BEARER };

enum { CHALLENGE_HEADER_MAX = 8192, CHALLENGE_TOKEN_MAX = 64 * 1024 };

struct challenge {
	enum challenge_scheme scheme;
	char *realm, *service, *scope; /* of Bearer; NULL: absent */
};

#define CLEANUP_CHALLENGE __attribute__((cleanup(challenge_free)))

/* Adds one header, which may hold several challenges: Bearer wins over Basic, the first over later ones.
 * Other schemes are skipped. ERROR_FORMAT: cannot be parsed; ERROR_LIMIT: longer than
 * CHALLENGE_HEADER_MAX. */
int challenge_add(struct challenge *challenge, const char *header, size_t size, struct error *err);
void challenge_free(struct challenge *challenge);

/* Can it follow "Authorization: Bearer" (RFC 6750, section 2.1)? NULL cannot. */
bool challenge_is_token(const char *token);
