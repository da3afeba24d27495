/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Client of a repository of a container registry: OCI distribution-spec v1.1, and Docker's registries of schema 2.
 * Calls block. Authentication is what the registry asks for (WWW-Authenticate): nothing, Basic, or a
 * bearer token from the URL that it names, with the credentials of credentials.h.
 *
 * Errors of every call are those of http.h; ERROR_PROTOCOL also for violations of the specification, such as wrong digests;
 * ERROR_LIMIT: more than this client reads; ERROR_FORMAT: documents that cannot be parsed.
 */

#include "containers/registry/blob_reader.h"
#include "containers/registry/http.h"
#include "containers/registry/image.h"

enum { REGISTRY_TAGS_MAX = 100000, REGISTRY_PAGES_MAX = 1000 };

/* All may be 0 and NULL. Strings and clock live as long as the client. */
struct registry_options {
	/* HTTP instead of HTTPS. Without it, "localhost" and its addresses are tried with TLS first. */
	bool plain_http;
	const char *ca_certificate; /* PEM file, trusted as well as the system's */
	uint64_t stall_ms;	    /* 0: 30 s */
	uint64_t within_ms;	    /* http.h; 0: no limit */
	const struct http_clock *clock;
};

struct registry;

#define CLEANUP_REGISTRY __attribute__((cleanup(registry_close)))

/* A client of the repository `name` of a host ("docker.io", "localhost:5000"); connects to nothing yet. `pushes`: tokens are
 * requested for pushing, too. */
int registry_open(const char *host, const char *name, bool pushes,
		  const struct registry_options *options, struct registry **out, struct error *err);
void registry_close(struct registry **registry);

/* An index or a manifest as it was sent. */
struct registry_document {
	struct text data;
	char media_type[128];
	char digest[DIGEST_TEXT_SIZE]; /* of `data`, always computed */
};

#define CLEANUP_REGISTRY_DOCUMENT __attribute__((cleanup(registry_document_free)))
void registry_document_free(struct registry_document *document);

/* `reference` is a tag or a digest. ERROR_PROTOCOL also when the content does not have the digest that was
 * asked for, or for a tag the one in the header Docker-Content-Digest. */
int registry_get_manifest(struct registry *registry, const char *reference,
			  struct registry_document *out, struct error *err);

/* All tags, in the registry's order. */
int registry_list_tags(struct registry *registry, struct text_list *tags, struct error *err);

/* The referrers of a manifest ("subject"); `artifact_type` "" for all. Where the registry does not
 * support them, those that clients keep under the tag "sha256-...". None is not an error. */
int registry_list_referrers(struct registry *registry, const char *digest,
			    const char *artifact_type, struct image_index *out, struct error *err);

/* A reader of a blob's bytes from `offset` on, not yet verified. `size`: of the whole blob; UINT64_MAX: unknown. */
void registry_open_blob(struct registry *registry, const char *digest, uint64_t size,
			uint64_t offset, struct blob_reader **out);

/* Larger blobs are uploaded in pieces of this size, or of the registry's minimum. */
enum { REGISTRY_PIECE_SIZE = 4 * 1024 * 1024 };

/* Uploads a blob unless the registry has it; *sent (NULL: not needed) says whether it did. `digest` receives its digest. */
int registry_push_blob(struct registry *registry, const void *data, size_t size,
		       char digest[DIGEST_TEXT_SIZE], bool *sent, struct error *err);

/* Uploads an index or a manifest, under a tag, or under its digest with `tag` NULL. When it has a "subject"
 * and the registry does not keep referrers, it is added to the index under the tag "sha256-...". */
int registry_push_manifest(struct registry *registry, const char *tag, const char *media_type,
			   const void *data, size_t size, char digest[DIGEST_TEXT_SIZE],
			   struct error *err);
