/* SPDX-License-Identifier: MIT */
/* Key files: a private key makes signatures that its public key verifies, and its PEM is read as the same key. */
#include "reports/certificates/key.h"

#include "base/cleanup.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same(const struct key *key)
{
	char pem[KEY_PEM_SIZE] = "";
	struct key again CLEANUP_KEY = {0};
	key_public_pem(key, pem);
	if (key_parse(pem, strlen(pem), KEY_PUBLIC, &again, NULL) < 0 ||
	    memcmp(again.bytes, key->bytes, sizeof(again.bytes)) != 0 ||
	    strcmp(again.id, key->id) != 0)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct key signing CLEANUP_KEY = {0};
	unsigned char signature[KEY_SIGNATURE_SIZE] = {0};
	struct key key CLEANUP_KEY = {0};
	struct error err = {0};
	char *pem CLEANUP_FREE = calloc(size + 1, 1);
	if (pem == NULL)
		return 0;
	memcpy(pem, data, size);
	int rc = key_parse(pem, size, KEY_PUBLIC, &key, &err);
	if (rc == 0)
		check_same(&key);
	if (rc != err.code || rc > 0)
		__builtin_trap();
	if (key_parse(pem, size, KEY_PRIVATE, &signing, &err) < 0)
		return 0;
	key_sign(&signing, data, size, signature);
	if (rc == 0 || !key_verifies(&signing, data, size, signature))
		__builtin_trap();
	check_same(&signing);
	return 0;
}
