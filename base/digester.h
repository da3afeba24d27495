/* SPDX-License-Identifier: MIT */
#pragma once

/* Digests of bytes that arrive in pieces, in the algorithms that the OCI image specification
 * registers (descriptor.md): "sha256:" and 64, or "sha512:" and 128 lower-case hex digits. */

#include "base/digest.h"

#include <stdbool.h>

enum { DIGEST_TEXT_SIZE = sizeof("sha512:") + 128 }; /* room for either */

struct digester;

#define CLEANUP_DIGESTER __attribute__((cleanup(digester_free)))

/* Is it a complete digest in one of the two algorithms? */
bool digest_is_valid(const char *digest);

/* In the algorithm of `digest`. ERROR_ARGUMENT: digest_is_valid() says no. */
int digester_new(const char *digest, struct digester **out, struct error *err);
void digester_add(struct digester *digester, const void *data, size_t size);

/* The digest of everything that was added; only once, and nothing can be added afterwards. */
void digester_end(struct digester *digester, char out[DIGEST_TEXT_SIZE]);
void digester_free(struct digester **digester);
