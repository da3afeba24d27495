/* SPDX-License-Identifier: MIT */
#include "base/digest.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

static void digest_print(const unsigned char hash[crypto_hash_sha256_BYTES], char out[DIGEST_SIZE])
{
	static const char prefix[] = "sha256:";
	size_t length = sizeof(prefix) - 1;

	memcpy(out, prefix, length);
	(void)sodium_bin2hex(out + length, DIGEST_SIZE - length, hash, crypto_hash_sha256_BYTES);
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
	crypto_hash_sha256_state state;
	unsigned char chunk[65536];
	unsigned long long total = 0;
	int rc = file_open_to_read(path, &fd, err);

	if (rc < 0)
		return rc;
	(void)crypto_hash_sha256_init(&state);
	for (;;) {
		ssize_t count = read(fd, chunk, sizeof(chunk));

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return error_system(err, errno, "%s", path);
		if (count == 0)
			break;
		(void)crypto_hash_sha256_update(&state, chunk, (size_t)count);
		total += (unsigned long long)count;
	}
	(void)crypto_hash_sha256_final(&state, hash);
	digest_print(hash, out);
	if (size != NULL)
		*size = total;
	return 0;
}
