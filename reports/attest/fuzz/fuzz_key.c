/* SPDX-License-Identifier: MIT */
/* Key files: what is read as a private key signs what its public key verifies, and its PEM reads as the same key. */
#include "reports/attest/key.h"

#include "base/cleanup.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same(const struct public_key *key)
{
	char pem[KEY_PEM_SIZE] = "";
	struct public_key again = {0};
	key_public_pem(key, pem);
	if (key_parse_public(pem, strlen(pem), &again, NULL) < 0 ||
	    memcmp(&again, key, sizeof(again)) != 0)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct signing_key *signing CLEANUP_SIGNING_KEY = NULL;
	unsigned char signature[KEY_SIGNATURE_SIZE] = {0};
	struct public_key key = {0};
	struct error err = {0};
	char *pem CLEANUP_FREE = calloc(size + 1, 1);
	if (pem == NULL)
		return 0;
	memcpy(pem, data, size);
	int rc = key_parse_public(pem, size, &key, &err);
	if (rc == 0)
		check_same(&key);
	if (rc != err.code || rc > 0)
		__builtin_trap();
	if (key_parse_signing(pem, size, &signing, &err) < 0)
		return 0;
	key_sign(signing, data, size, signature);
	if (rc == 0 || !key_verifies(signing_key_public(signing), data, size, signature))
		__builtin_trap();
	check_same(signing_key_public(signing));
	return 0;
}
