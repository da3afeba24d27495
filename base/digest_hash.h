/* SPDX-License-Identifier: MIT */
#pragma once

/* SHA-256 for the files of base/ that digest. libsodium computes it in portable C. Nettle, which
 * libarchive brings along on Linux, uses the processor's instructions and is five times as fast: a
 * run digests hundreds of megabytes of drivers, and layers of images have gigabytes. */

#include <sodium.h>

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
