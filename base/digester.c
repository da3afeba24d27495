/* SPDX-License-Identifier: MIT */
#include "base/digester.h"

#include "base/digest_hash.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

struct digester {
	bool is_512;
	union {
		hash_state sha256;
		crypto_hash_sha512_state sha512;
	} state;
};

bool digest_is_valid(const char *digest)
{
	static const char digits[] = "0123456789abcdef";
	size_t length = text_starts_with(digest, "sha256:") ? 64 : 128;
	if (length == 128 && !text_starts_with(digest, "sha512:"))
		return false;
	digest += sizeof("sha256:") - 1;
	return strspn(digest, digits) == length && digest[length] == '\0';
}

int digester_new(const char *digest, struct digester **out, struct error *err)
{
	if (!digest_is_valid(digest))
		return error_set(err, ERROR_ARGUMENT, "not a digest");
	struct digester *digester = memory_allocate(1, sizeof(*digester));
	digester->is_512 = text_starts_with(digest, "sha512:");
	if (digester->is_512)
		(void)crypto_hash_sha512_init(&digester->state.sha512);
	else
		(void)hash_init(&digester->state.sha256);
	*out = digester;
	return 0;
}

void digester_add(struct digester *digester, const void *data, size_t size)
{
	if (digester->is_512)
		(void)crypto_hash_sha512_update(&digester->state.sha512, data, size);
	else
		(void)hash_update(&digester->state.sha256, data, size);
}

void digester_end(struct digester *digester, char out[DIGEST_TEXT_SIZE])
{
	unsigned char hash[crypto_hash_sha512_BYTES] = {0};
	size_t size = digester->is_512 ? sizeof(hash) : crypto_hash_sha256_BYTES;
	const char *prefix = digester->is_512 ? "sha512:" : "sha256:";
	if (digester->is_512)
		(void)crypto_hash_sha512_final(&digester->state.sha512, hash);
	else
		(void)hash_final(&digester->state.sha256, hash);
	memcpy(out, prefix, strlen(prefix) + 1);
	text_hex(out + strlen(prefix), hash, size);
}

void digester_free(struct digester **digester)
{
	free(*digester);
	*digester = NULL;
}
