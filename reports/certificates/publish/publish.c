/* SPDX-License-Identifier: MIT */
#include "reports/certificates/publish/store.h"

#include "base/digest.h"
#include "reports/render.h"

#include <string.h>

int store_open(const char *place, bool writes, const struct publish_options *options,
	       struct store **out, struct error *err)
{
	if (text_starts_with(place, "oci://") && options->token != NULL)
		return error_set(err, ERROR_ARGUMENT,
				 "registries take the credentials of `docker login`, and no token");
	if (text_starts_with(place, "oci://"))
		return store_oci_open(place + strlen("oci://"), writes, options, out, err);
	if (text_starts_with(place, "https://") || text_starts_with(place, "http://"))
		return store_http_open(place, options, out, err);
	return error_set(
		err, ERROR_ARGUMENT,
		"'%s' is not a place for reports: oci://HOST/REPOSITORY:TAG or https://HOST/PATH",
		place);
}

int report_place_check(const char *place, const struct publish_options *options, struct error *err)
{
	struct store *store CLEANUP_STORE = NULL;
	return store_open(place, true, options, &store, err);
}

/* Sends the file only if it matches the manifest, even when the folder changes meanwhile. */
static int put_file(struct store *store, const char *directory, const struct image_descriptor *file,
		    bool *sent, struct error *err)
{
	char *data CLEANUP_FREE = NULL;
	char digest[DIGEST_SIZE] = "";
	size_t size = 0;
	int rc = report_read_file(directory, file->title, PUBLICATION_FILE_MAX, &data, &size, err);
	if (rc < 0)
		return rc;
	digest_bytes(data, size, digest);
	if (!text_equal(digest, file->digest))
		return error_set(err, ERROR_BUSY, "it changes while it is read");
	return store->kind->put(store, file, data, sent, err);
}

int report_publish(const char *directory, const char *place, const struct publish_options *options,
		   struct publish_result *out, struct error *err)
{
	struct store *store CLEANUP_STORE = NULL;
	struct publication what CLEANUP_PUBLICATION = {0};
	bool has = false;
	*out = (struct publish_result){0};
	int rc = store_open(place, true, options, &store, err);
	if (rc == 0)
		rc = publication_make(directory, store->subject, &what, err);
	if (rc < 0)
		return rc;
	publication_describe(&what, out);
	if (store->kind->has != NULL)
		rc = store->kind->has(store, &what, &has, err);
	if (rc < 0 || has)
		return rc;
	for (size_t i = 0; i < what.manifest.layer_count; i++) {
		const struct image_descriptor *file = &what.manifest.layers[i];
		bool sent = false;
		if (options->progress != NULL)
			options->progress(i + 1, what.manifest.layer_count, file);
		rc = put_file(store, directory, file, &sent, err);
		if (rc < 0)
			return error_wrap(err, rc, "%s", file->title);
		out->moved_files += sent;
		out->moved_bytes += sent ? file->size : 0;
	}
	return store->kind->put_manifest(store, &what, err);
}
