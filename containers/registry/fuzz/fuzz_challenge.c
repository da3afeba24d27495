/* SPDX-License-Identifier: MIT */
/* A WWW-Authenticate header. */
#include "containers/registry/challenge.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct challenge challenge CLEANUP_CHALLENGE = {0};
	struct error err = {0};
	int rc = challenge_add(&challenge, (const char *)data, size, &err);
	if (rc != err.code)
		__builtin_trap();
	/* Values for a URL have no line breaks. */
	if (challenge.realm != NULL && strpbrk(challenge.realm, "\r\n") != NULL)
		__builtin_trap();
	return 0;
}
