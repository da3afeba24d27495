/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "base/members.h"
#include "base/memory.h"
#include "containers/registry/reference.h"
#include "reports/certificates/publish/store.h"
#include "reports/view.h"

#include <string.h>

struct oci_store {
	struct store store;
	struct registry *registry;
	struct image_reference reference;
	const char *tag; /* NULL: it is known only by its digest */
};

static void oci_close(struct store *store)
{
	struct oci_store *self = (struct oci_store *)store;
	registry_close(&self->registry);
	image_reference_free(&self->reference);
	cJSON_Delete(store->subject);
	free(self);
}

/* Is the report among those that refer to its subject? */
static int is_attached(struct oci_store *self, const char *digest, bool *is, struct error *err)
{
	struct image_index index CLEANUP_IMAGE_INDEX = {0};
	const char *subject = json_pointer_string(self->store.subject, "/digest");
	int rc = registry_list_referrers(self->registry, subject, PUBLICATION_TYPE, &index, err);
	*is = false;
	for (size_t i = 0; rc == 0 && i < index.count; i++)
		*is = *is || text_equal(index.entries[i].descriptor.digest, digest);
	return rc;
}

static int oci_has(struct store *store, const struct publication *what, bool *has,
		   struct error *err)
{
	struct oci_store *self = (struct oci_store *)store;
	struct registry_document document CLEANUP_REGISTRY_DOCUMENT = {0};
	struct error failure = {0};
	int rc = registry_get_manifest(self->registry, self->tag != NULL ? self->tag : what->digest,
				       &document, &failure);
	*has = rc == 0 && text_equal(document.digest, what->digest);
	if (*has && store->subject != NULL)
		return is_attached(self, what->digest, has, err);
	/* Some registries hide from strangers whether a repository exists. */
	return rc == 0 || rc == ERROR_NOT_FOUND || rc == ERROR_PERMISSION
		       ? 0
		       : error_copy(err, &failure);
}

static int oci_put(struct store *store, const struct image_descriptor *file, const void *data,
		   bool *sent, struct error *err)
{
	struct oci_store *self = (struct oci_store *)store;
	char digest[DIGEST_TEXT_SIZE] = "";
	return registry_push_blob(self->registry, data, (size_t)file->size, digest, sent, err);
}

static int oci_put_manifest(struct store *store, const struct publication *what, struct error *err)
{
	struct oci_store *self = (struct oci_store *)store;
	char digest[DIGEST_TEXT_SIZE] = "";
	int rc = registry_push_blob(self->registry, PUBLICATION_EMPTY, strlen(PUBLICATION_EMPTY),
				    digest, NULL, err);
	return rc == 0 ? registry_push_manifest(self->registry, self->tag, OCI_MANIFEST,
						text_string(&what->document), what->document.size,
						digest, err)
		       : rc;
}

/* An image may have reports attached to it. */
static int no_report(struct oci_store *self, const char *digest, struct error *err)
{
	struct image_index index CLEANUP_IMAGE_INDEX = {0};
	struct text names CLEANUP_TEXT = {0};
	if (registry_list_referrers(self->registry, digest, PUBLICATION_TYPE, &index, NULL) == 0)
		for (size_t i = 0; i < index.count; i++)
			text_addf(&names, " oci://%s/%s@%s", self->reference.host,
				  self->reference.name, index.entries[i].descriptor.digest);
	return error_set(err, ERROR_FORMAT, "%s/%s@%s is not a report%s%s", self->reference.host,
			 self->reference.name, digest,
			 names.size > 0 ? "; attached to it:" : ", and none is attached to it",
			 text_string(&names));
}

static int oci_get_manifest(struct store *store, struct text *out, struct error *err)
{
	struct oci_store *self = (struct oci_store *)store;
	const struct image_reference *reference = &self->reference;
	struct registry_document document CLEANUP_REGISTRY_DOCUMENT = {0};
	cJSON *json CLEANUP_JSON = NULL;
	int rc = registry_get_manifest(
		self->registry, reference->digest != NULL ? reference->digest : reference->tag,
		&document, err);
	if (rc == 0)
		rc = image_document_parse(text_string(&document.data), document.data.size, &json,
					  err);
	if (rc < 0)
		return rc;
	if (!view_is(json, "/artifactType", PUBLICATION_TYPE))
		return no_report(self, document.digest, err);
	text_add_all(out, &document.data);
	return 0;
}

static void oci_open(struct store *store, const struct image_descriptor *file, uint64_t offset,
		     struct blob_reader **out)
{
	struct oci_store *self = (struct oci_store *)store;
	registry_open_blob(self->registry, file->digest, file->size, offset, out);
}

/* The descriptor of the image; referrers are found only in its repository (distribution-spec, "Listing
 * Referrers"). */
static int find_subject(struct oci_store *self, const char *image, struct error *err)
{
	struct image_reference reference CLEANUP_IMAGE_REFERENCE = {0};
	struct registry_document document CLEANUP_REGISTRY_DOCUMENT = {0};
	struct members descriptor CLEANUP_MEMBERS = members_new();
	const char *name = strstr(image, "://") != NULL ? strstr(image, "://") + 3 : image;
	int rc = image_reference_parse(name, &reference, err);
	if (rc == 0 && (!text_equal(reference.host, self->reference.host) ||
			!text_equal(reference.name, self->reference.name)))
		rc = error_set(err, ERROR_ARGUMENT,
			       "a report is attached in the repository of its image: publish to "
			       "oci://%s/%s",
			       reference.host, reference.name);
	if (rc == 0)
		rc = registry_get_manifest(
			self->registry, reference.digest != NULL ? reference.digest : reference.tag,
			&document, err);
	if (rc < 0)
		return error_wrap(err, rc, "--subject");
	image_descriptor_write(&descriptor, document.media_type, document.digest,
			       document.data.size);
	self->store.subject = members_take(&descriptor);
	return 0;
}

static const struct store_kind oci_kind = {
	.has = oci_has,
	.put = oci_put,
	.put_manifest = oci_put_manifest,
	.get_manifest = oci_get_manifest,
	.open = oci_open,
	.close = oci_close,
};

int store_oci_open(const char *rest, bool writes, const struct publish_options *options,
		   struct store **out, struct error *err)
{
	struct oci_store *self = memory_allocate(1, sizeof(*self));
	struct store *store CLEANUP_STORE = &self->store;
	store->kind = &oci_kind;
	int rc = image_reference_parse(rest, &self->reference, err);
	if (rc < 0)
		return rc;
	/* "latest" is the default tag of images, and means nothing for a report. */
	bool named = self->reference.tag != NULL && (!text_equal(self->reference.tag, "latest") ||
						     strstr(rest, ":latest") != NULL);
	self->tag = named ? self->reference.tag : NULL;
	if (writes && self->reference.digest != NULL)
		return error_set(err, ERROR_ARGUMENT,
				 "oci://%s: the digest follows from the report; name a tag", rest);
	if (self->tag == NULL && self->reference.digest == NULL && options->subject == NULL)
		return error_set(err, ERROR_ARGUMENT, "oci://%s: name a tag (oci://%s:TAG)", rest,
				 rest);
	rc = registry_open(self->reference.host, self->reference.name, writes, &options->registry,
			   &self->registry, err);
	if (rc == 0 && options->subject != NULL)
		rc = find_subject(self, options->subject, err);
	if (rc == 0)
		*out = STEAL(store);
	return rc;
}
