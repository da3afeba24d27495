/* SPDX-License-Identifier: MIT */
#pragma once

/* The content of something on a server, as a reader that goes on where it was cut. */

#include "containers/registry/blob_reader.h"
#include "containers/registry/retries.h"

struct download {
	struct blob_reader reader;
	/* Asks for it from `offset` on; the answer is one of 2xx. */
	int (*connect)(struct download *download, uint64_t offset, struct http_exchange **out,
		       struct error *err);
	struct registry_retries *retries; /* borrowed, like what `connect` needs: live longer */
	void *server;			  /* the connector's */
	char *place;			  /* what it is asked for there */
	char *shown;			  /* for errors */
	uint64_t size, at;		  /* UINT64_MAX: not known; what is read already */
	/* Its own. */
	struct http_exchange *answer;
	uint64_t to_skip; /* of an answer that begins at the beginning again */
	struct registry_patience patience;
	uint64_t patient_at; /* where it was full last */
};

/* A reader of what `from` says; takes over the strings, of which NULL is ERROR_MEMORY. Nothing is asked yet. Reads fail
 * as registry.h says, also with ERROR_PROTOCOL for answers of another range or size. */
int download_open(const struct download *from, struct blob_reader **out, struct error *err);
