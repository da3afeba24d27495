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
	KEY_PEM_SIZE = 256,	  /* of one that is written */
};

struct public_key {
	unsigned char bytes[KEY_PUBLIC_SIZE];
	char id[KEY_ID_SIZE]; /* SHA-256 of the DER of its SubjectPublicKeyInfo, in lower-case hex */
};

/* A private key, in memory that is locked against swapping and zeroed when it is freed. */
struct signing_key;

#define CLEANUP_SIGNING_KEY __attribute__((cleanup(signing_key_free)))

/* Writes a new private key (mode 0600) to `path` and its public key to `path`.pub. Nothing is overwritten: ERROR_EXISTS. */
int key_generate(const char *path, struct public_key *out, struct error *err);

/* Reads a private key. ERROR_PERMISSION: others than its owner may read the file. ERROR_FORMAT: it is not a key of
 * Ed25519 in that form, or is encrypted; ERROR_ARGUMENT: it is a public key. Caller frees *out. */
int key_read_signing(const char *path, struct signing_key **out, struct error *err);

/* Reads a public key. ERROR_FORMAT; ERROR_ARGUMENT: it is a private one, which is not for those who verify. */
int key_read_public(const char *path, struct public_key *out, struct error *err);

/* What the two read, of memory; `pem` is NUL-ended behind its `size` bytes. */
int key_parse_signing(const char *pem, size_t size, struct signing_key **out, struct error *err);
int key_parse_public(const char *pem, size_t size, struct public_key *out, struct error *err);

/* The PEM file of a public key. */
void key_public_pem(const struct public_key *key, char out[KEY_PEM_SIZE]);

const struct public_key *signing_key_public(const struct signing_key *key);
void key_sign(const struct signing_key *key, const void *data, size_t size,
	      unsigned char signature[KEY_SIGNATURE_SIZE]);
bool key_verifies(const struct public_key *key, const void *data, size_t size,
		  const unsigned char signature[KEY_SIGNATURE_SIZE]);
void signing_key_free(struct signing_key **key);
