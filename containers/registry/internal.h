/* SPDX-License-Identifier: MIT */
#pragma once

/* Sources of images, and the parts of the registry client. Internal to registry/. */

#include "base/cleanup.h"
#include "base/text.h"
#include "containers/registry/credentials.h"
#include "containers/registry/image_source.h"

/* One kind of source. */
struct source_kind {
	/* Fills `top`; NULL: done when the source was opened. */
	int (*index)(void *self, struct image_index *top, struct error *err);
	/* `is_document`: an index or a manifest, which registries serve at another URL. */
	int (*open)(void *self, const struct image_descriptor *what, bool is_document,
		    struct blob_reader **out, struct error *err);
	void (*close)(void *self);
	/* NULL: never has any. */
	int (*referrers)(void *self, const char *digest, const char *artifact_type,
			 struct image_index *out, struct error *err);
};

struct source {
	const struct source_kind *kind;
	void *self;		/* the kind's own data */
	char *cache;		/* the content cache that keeps its blobs; NULL: none */
	struct image_index top; /* the entries that the name stands for */
};

/* The part after the prefix: a path, and the image chosen there. */
struct source_name {
	const char *whole;
	const char *path;
	const char *tag;    /* NULL: none */
	const char *digest; /* NULL: none */
};

/* Each opens a kind. The caller closes *out, even when it fails. */
int source_layout_open(const struct source_name *name, const struct image_source_options *options,
		       struct source *out, struct error *err);
int source_containerd_open(const struct source_name *name,
			   const struct image_source_options *options, struct source *out,
			   struct error *err);
int source_registry_open(const struct source_name *name, const struct image_source_options *options,
			 struct source *out, struct error *err);

/* Adds an entry of which only the digest is known. */
void source_add_digest(const char *digest, struct image_index *out);

/* "DIRECTORY/sha256/HEX". Caller frees. */
char *blob_path(const char *directory, const char *digest);

/* Reads a file; errors of file_open_to_read(). */
int blob_file_open(const char *path, struct blob_reader **out, struct error *err);

/* Reads a regular file of a tar archive, which may be compressed. ERROR_NOT_FOUND: it has none of that name; ERROR_FORMAT: not an
 * archive; ERROR_LIMIT: it unpacks to far more than it is. */
int archive_open(const char *path, const char *name, struct blob_reader **out, struct error *err);

/* Reads memory, which the reader then owns. */
void blob_text_open(struct text *text, struct blob_reader **out);

struct registry {
	struct http *http;
	char *host;  /* as in references */
	char *name;  /* of the repository */
	char *scope; /* of the requested tokens */
	struct credentials credentials;
	bool has_credentials;	      /* the credential files were searched */
	char *basic;		      /* "Basic ..." once the registry asked for it */
	char *token;		      /* "Bearer ...": the latest */
	uint64_t token_expires_at_ms; /* by the client's own clock: a registry's may be wrong */
};

/* The index of referrers that clients push under the tag "sha256-..." where the registry keeps none (distribution-spec,
 * "Referrers Tag Schema"). *out is NULL when it does not exist. Caller frees *tag. */
int registry_get_fallback(struct registry *registry, const char *digest, char **tag, cJSON **out,
			  struct error *err);
