/* SPDX-License-Identifier: MIT */
#include "base/cache_directory.h"
#include "base/memory.h"
#include "containers/registry/internal.h"
#include "containers/registry/reference.h"

struct remote_source {
	struct registry *registry;
	struct image_reference reference;
	struct registry_document top; /* the manifest or index of the tag */
};

static void remote_close(void *self)
{
	struct remote_source *source = self;
	registry_close(&source->registry);
	image_reference_free(&source->reference);
	registry_document_free(&source->top);
	free(source);
}

static int remote_index(void *self, struct image_index *top, struct error *err)
{
	struct remote_source *source = self;
	const struct image_reference *reference = &source->reference;
	int rc = 0;
	if (reference->digest == NULL)
		rc = registry_get_manifest(source->registry, reference->tag, &source->top, err);
	if (rc == 0)
		source_add_digest(
			reference->digest != NULL ? reference->digest : source->top.digest, top);
	return rc;
}

static int remote_open(void *self, const struct image_descriptor *what, bool is_document,
		       struct blob_reader **out, struct error *err)
{
	struct remote_source *source = self;
	struct registry_document document CLEANUP_REGISTRY_DOCUMENT = {0};
	int rc = 0;
	if (!is_document) {
		registry_open_blob(source->registry, what->digest, what->size, 0, out);
		return 0;
	}

	/* Some registries do not serve an index or a manifest as a blob. */
	if (text_equal(source->top.digest, what->digest))
		text_add_all(&document.data, &source->top.data);
	else
		rc = registry_get_manifest(source->registry, what->digest, &document, err);
	if (rc == 0)
		blob_text_open(&document.data, out);
	return rc;
}

static int remote_referrers(void *self, const char *digest, const char *artifact_type,
			    struct image_index *out, struct error *err)
{
	struct remote_source *source = self;
	return registry_list_referrers(source->registry, digest, artifact_type, out, err);
}

static const struct source_kind remote_kind = {remote_index, remote_open, remote_close,
					       remote_referrers};

int source_registry_open(const struct source_name *name, const struct image_source_options *options,
			 struct source *out, struct error *err)
{
	struct remote_source *source = memory_allocate(1, sizeof(*source));
	*out = (struct source){.kind = &remote_kind, .self = source};
	if (!options->no_cache && options->cache_directory != NULL)
		out->cache = memory_copy(options->cache_directory);
	else if (!options->no_cache)
		out->cache = cache_directory();
	int rc = image_reference_parse(name->whole, &source->reference, err);
	return rc == 0 ? registry_open(source->reference.host, source->reference.name, false,
				       &options->registry, &source->registry, err)
		       : rc;
}
