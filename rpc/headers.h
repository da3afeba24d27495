/* SPDX-License-Identifier: MIT */
#pragma once

/* One HTTP/2 header list, as it comes in. */

#include "base/text.h"
#include "rpc/rpc.h"

#include <stdbool.h>

/* Zero-initialise. */
struct headers {
	struct text pairs; /* name NUL value NUL, one pair behind the other */
	size_t count;
	size_t listed;	/* size as RFC 9113, 6.5.2 counts it: 32 bytes more for each field */
	bool too_large; /* a field beyond the limit came; it and all later ones are left out */
	bool malformed; /* a field that RFC 9113, 8.2.1 does not allow came; it is left out */
};

void headers_add(struct headers *headers, struct rpc_slice name, struct rpc_slice value,
		 size_t max);

/* The first value with this name; NULL when absent. Borrowed. */
const char *headers_get(const struct headers *headers, const char *name);

void headers_reset(struct headers *headers); /* empties it and keeps the memory */
void headers_free(struct headers *headers);
