/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Envelopes of signed bytes: DSSE (github.com/secure-systems-lab/dsse, protocol 1.0.0). The signature covers
 * the pre-authentication encoding (PAE) of the payload's type and bytes.
 */

#include "base/json.h"
#include "reports/certificates/key.h"

enum {
	DSSE_FILE_MAX = 16 * 1024 * 1024, /* bytes of an envelope */
	DSSE_SIGNATURES_MAX = 16,
};

enum dsse_trust {
	DSSE_OTHER_KEY,	    /* every signature names another key */
	DSSE_BAD_SIGNATURE, /* one names this key, or none, and does not match */
	DSSE_TRUSTED,	    /* a signature is by this key */
};

struct dsse {
	const char *type; /* borrowed from the JSON, as is the keyid */
	char *payload;	  /* NUL-ended */
	size_t size;
	enum dsse_trust trust;
	const char *keyid; /* of the first signature; "": none; only a hint */
};

#define CLEANUP_DSSE __attribute__((cleanup(dsse_free)))

/* "DSSEv1 29 http://example.com/HelloWorld 11 hello world" */
void dsse_add_pae(const char *type, const void *payload, size_t size, struct text *out);

/* The envelope with one signature. Caller owns it. */
cJSON *dsse_sign(const char *type, const void *payload, size_t size, const struct key *key);

/* Reads an envelope and verifies it. Base64 in the standard and in the URL-safe alphabet. Unknown members are ignored.
 * ERROR_FORMAT, ERROR_LIMIT. Free with dsse_free(). */
int dsse_open(const cJSON *envelope, const struct key *key, struct dsse *out, struct error *err);
void dsse_free(struct dsse *dsse);
