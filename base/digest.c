/* SPDX-License-Identifier: MIT */
#include "base/digest.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <sodium.h>
#include <string.h>

/* libsodium computes SHA-256 in portable C. Nettle, which libarchive brings along on Linux, has the
 * processor do it, five times as fast: a run digests hundreds of megabytes of drivers. */
#ifdef _WIN32
typedef crypto_hash_sha256_state hash_state;
#define hash_init(state)	       crypto_hash_sha256_init(state)
#define hash_update(state, data, size) crypto_hash_sha256_update(state, data, size)
#define hash_final(state, hash)	       crypto_hash_sha256_final(state, hash)
#else
#include <nettle/sha2.h>
typedef struct sha256_ctx hash_state;
#define hash_init(state)	       nettle_sha256_init(state)
#define hash_update(state, data, size) nettle_sha256_update(state, size, data)
#define hash_final(state, hash)	       nettle_sha256_digest(state, crypto_hash_sha256_BYTES, hash)
#endif

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
