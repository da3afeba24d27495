/* SPDX-License-Identifier: MIT */
#include "base/digest.h"

#include "base/cleanup.h"
#include "base/digest_hash.h"
#include "base/file.h"

#include <string.h>

static void digest_print(const unsigned char hash[crypto_hash_sha256_BYTES], char out[DIGEST_SIZE])
{
	static const char prefix[] = "sha256:";
	size_t length = sizeof(prefix) - 1;
	memcpy(out, prefix, length);
	text_hex(out + length, hash, crypto_hash_sha256_BYTES);
}

void digest_bytes(const void *data, size_t size, char out[DIGEST_SIZE])
{
	unsigned char hash[crypto_hash_sha256_BYTES] = {0};
	(void)crypto_hash_sha256(hash, size != 0 ? data : hash, size);
	digest_print(hash, out);
}

int digest_file(const char *path, char out[DIGEST_SIZE], unsigned long long *size,
		struct error *err)
{
	int fd CLEANUP_FD = -1;
	unsigned char hash[crypto_hash_sha256_BYTES] = {0};
	hash_state state;
	unsigned char chunk[65536];
	unsigned long long total = 0;
	size_t count = 0;
	int rc = file_open_to_read(path, &fd, err);
	if (rc < 0)
		return rc;
	(void)hash_init(&state);
	do {
		rc = file_read_some(fd, path, chunk, sizeof(chunk), &count, err);
		if (rc < 0)
			return rc;
		(void)hash_update(&state, chunk, count);
		total += count;
	} while (count > 0);
	(void)hash_final(&state, hash);
	digest_print(hash, out);
	if (size != NULL)
		*size = total;
	return 0;
}
