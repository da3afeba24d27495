/* SPDX-License-Identifier: MIT */
#pragma once

/* Where reports are kept: a repository of a registry, or a folder of a web server. Internal to publish/. */

#include "containers/registry/registry.h"
#include "reports/certificates/publish/publication.h"
#include "reports/certificates/publish/publish.h"

struct store;

/* Errors are those of registry.h. */
struct store_kind {
	/* Does the store already have everything? NULL: each file is checked. */
	int (*has)(struct store *store, const struct publication *what, bool *has,
		   struct error *err);
	/* Puts a file there unless it exists; *sent says whether it did. */
	int (*put)(struct store *store, const struct image_descriptor *file, const void *data,
		   bool *sent, struct error *err);
	int (*put_manifest)(struct store *store, const struct publication *what, struct error *err);
	int (*get_manifest)(struct store *store, struct text *out, struct error *err);
	/* Reads a file from `offset` on, not yet verified. */
	void (*open)(struct store *store, const struct image_descriptor *file, uint64_t offset,
		     struct blob_reader **out);
	void (*close)(struct store *store); /* frees it */
};

struct store {
	const struct store_kind *kind;
	cJSON *subject; /* the descriptor of the image that reports are attached to; NULL: none */
};

static inline void store_close(struct store **store)
{
	if (*store != NULL)
		(*store)->kind->close(*store);
	*store = NULL;
}

#define CLEANUP_STORE __attribute__((cleanup(store_close)))

/* Opens a store by the scheme of `place`. `writes`: files will be put there. ERROR_ARGUMENT: not a place. */
int store_open(const char *place, bool writes, const struct publish_options *options,
	       struct store **out, struct error *err);

/* The kinds; `rest` is what follows "oci://". */
int store_oci_open(const char *rest, bool writes, const struct publish_options *options,
		   struct store **out, struct error *err);
int store_http_open(const char *url, const struct publish_options *options, struct store **out,
		    struct error *err);
