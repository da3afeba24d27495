/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Keys of Ed25519 (RFC 8032) in the files that other tools write and read: a private key as PKCS #8 and a public one as
 * SubjectPublicKeyInfo (RFC 8410), both as PEM (RFC 7468). `openssl genpkey -algorithm ed25519` makes such a pair.
 */

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	KEY_PUBLIC_SIZE = 32,
	KEY_SIGNATURE_SIZE = 64,
	KEY_ID_SIZE = 64 + 1,
	KEY_FILE_MAX = 16 * 1024, /* bytes of a key file */
	KEY_PEM_SIZE = 256,	  /* of a written one */
};

enum key_kind { KEY_PUBLIC, KEY_PRIVATE };

struct key {
	unsigned char bytes[KEY_PUBLIC_SIZE]; /* the public key */
	char id[KEY_ID_SIZE]; /* SHA-256 of the DER of its SubjectPublicKeyInfo, in lower-case hex */
	unsigned char *secret; /* of a private key, in locked memory, zeroed when freed; or NULL */
};

#define CLEANUP_KEY __attribute__((cleanup(key_free)))

/* Writes a new private key (mode 0600) to `path` and its public key to `path`.pub, both or none. Nothing is overwritten:
 * ERROR_EXISTS. Free with key_free(). */
int key_generate(const char *path, struct key *out, struct error *err);

/* Reads a key of that kind. ERROR_FORMAT: it is not a key of Ed25519 in that form, or is encrypted; ERROR_ARGUMENT: it
 * is a key of the other kind; ERROR_LIMIT; ERROR_PERMISSION: others than its owner may use the file of a private key.
 * Free with key_free(). */
int key_read(const char *path, enum key_kind kind, struct key *out, struct error *err);

/* The same from memory; `pem` has `size` bytes and a NUL after them. */
int key_parse(const char *pem, size_t size, enum key_kind kind, struct key *out, struct error *err);

/* The PEM file of the public key. */
void key_public_pem(const struct key *key, char out[KEY_PEM_SIZE]);

/* With a private key. */
void key_sign(const struct key *key, const void *data, size_t size,
	      unsigned char signature[KEY_SIGNATURE_SIZE]);
bool key_verifies(const struct key *key, const void *data, size_t size,
		  const unsigned char signature[KEY_SIGNATURE_SIZE]);
void key_free(struct key *key);
