/* SPDX-License-Identifier: MIT */
#pragma once

/* What the sources of images have in common, and the parts of the registry client. Internal to registry/. */

#include "base/cleanup.h"
#include "base/text.h"
#include "containers/registry/credentials.h"
#include "containers/registry/image_source.h"

/* One kind of source. */
struct source_kind {
	/* Reads `top`; NULL: it was read when the source was opened. */
	int (*index)(void *self, struct image_index *top, struct error *err);
	/* `is_document`: an index or a manifest, which registries keep elsewhere. */
	int (*open)(void *self, const struct image_descriptor *what, bool is_document,
		    struct blob_reader **out, struct error *err);
	void (*close)(void *self);
	/* NULL: there are none. */
	int (*referrers)(void *self, const char *digest, const char *artifact_type,
			 struct image_index *out, struct error *err);
};

struct source {
	const struct source_kind *kind;
	void *self;		/* the kind's */
	char *cache;		/* the content cache that keeps its blobs; NULL: none */
	struct image_index top; /* what the name stands for: one entry, or those of the top index */
};

/* What follows the prefix: a path, and what is chosen there. */
struct source_name {
	const char *whole;
	const char *path;
	const char *tag;    /* NULL: not told */
	const char *digest; /* NULL: not told */
};

/* Each opens a kind. What *out has is closed by the caller, also when it fails. */
int source_layout_open(const struct source_name *name, const struct image_source_options *options,
		       struct source *out, struct error *err);
int source_containerd_open(const struct source_name *name,
			   const struct image_source_options *options, struct source *out,
			   struct error *err);
int source_registry_open(const struct source_name *name, const struct image_source_options *options,
			 struct source *out, struct error *err);

/* One entry, of which the digest alone is known. */
int source_add_digest(const char *digest, struct image_index *out, struct error *err);

/* "DIRECTORY/sha256/HEX". Caller frees; NULL: no memory. */
char *blob_path(const char *directory, const char *digest);

/* Of a file; errors of file_open_to_read(). */
int blob_file_open(const char *path, struct blob_reader **out, struct error *err);

/* Of a regular file of a tar archive, also a compressed one. ERROR_NOT_FOUND: it has none of that name; ERROR_FORMAT: not an
 * archive; ERROR_LIMIT: it unpacks to far more than it is. */
int archive_open(const char *path, const char *name, struct blob_reader **out, struct error *err);

/* Of memory, which the reader takes over when it succeeds. */
int blob_text_open(struct text *text, struct blob_reader **out, struct error *err);

struct registry {
	struct http *http;
	char *host;  /* as references have it */
	char *name;  /* of the repository */
	char *scope; /* what tokens are asked for */
	struct credentials credentials;
	bool has_credentials;	      /* they were looked for */
	char *basic;		      /* "Basic ..." once it was asked for */
	char *token;		      /* "Bearer ...": the last that was handed out */
	uint64_t token_expires_at_ms; /* of the client's own clock: a registry's may be wrong */
};

/* The index that those who keep referrers themselves push under the tag "sha256-..." (distribution-spec,
 * "Referrers Tag Schema"). *out is NULL when there is none. Caller frees *tag. */
int registry_get_fallback(struct registry *registry, const char *digest, char **tag, cJSON **out,
			  struct error *err);
