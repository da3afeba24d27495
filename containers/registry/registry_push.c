/* SPDX-License-Identifier: MIT */
#include "containers/registry/registry_internal.h"

#include "base/json.h"
#include "base/members.h"

#include <string.h>

/* An upload that failed begins again: its place is not of use any more. */
static int upload(struct registry *registry, struct registry_call call, const char *digest,
		  struct error *err)
{
	struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
	struct text place CLEANUP_TEXT = {0};
	char *location CLEANUP_FREE = NULL;
	struct registry_call begin = call;
	begin.method = "POST";
	begin.body = NULL;
	begin.body_size = 0;
	int rc = registry_call_once(registry, &begin, &answer, err);
	if (rc < 0)
		return rc;
	const char *header = http_header(answer, "Location", 0);
	rc = header != NULL ? http_resolve(http_url(answer), header, &location, err)
			    : error_set(err, ERROR_PROTOCOL, "an upload without a Location");
	if (rc < 0)
		return rc;
	text_add(&place, location);
	http_add_query(&place, "digest", digest);
	if (place.failed)
		return error_memory(err);
	call.target = place.data;
	http_end(&answer);
	return registry_call_once(registry, &call, &answer, err);
}

int registry_push_blob(struct registry *registry, const char *name, const void *data, size_t size,
		       char digest[DIGEST_TEXT_SIZE], struct error *err)
{
	struct registry_patience patience = {0};
	const struct registry_call call = {
		.method = "PUT",
		.name = name,
		.target = "/blobs/uploads/",
		.pushes = true,
		.content_type = "application/octet-stream",
		.body = data,
		.body_size = size,
	};
	int rc = 0;
	digest_bytes(data, size, digest);
	do {
		rc = upload(registry, call, digest, &patience.failure);
	} while (rc < 0 && registry_try_again(registry, &patience));
	return rc < 0 ? error_copy(err, &patience.failure) : 0;
}

/* *keeps_referrers: the registry lists it with its subject itself. */
static int put_manifest(struct registry *registry, const char *name, const char *tag,
			const char *media_type, const void *data, size_t size,
			char digest[DIGEST_TEXT_SIZE], bool *keeps_referrers, struct error *err)
{
	struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
	struct text nothing CLEANUP_TEXT = {0};
	digest_bytes(data, size, digest);
	const struct registry_call call = {
		.method = "PUT",
		.name = name,
		.target = "/manifests/",
		.reference = tag != NULL ? tag : digest,
		.pushes = true,
		.content_type = media_type,
		.body = data,
		.body_size = size,
	};
	int rc = registry_call(registry, &call, &nothing, &answer, err);
	if (rc < 0)
		return rc;
	const char *stored = http_header(answer, "Docker-Content-Digest", 0);
	*keeps_referrers = http_header(answer, "OCI-Subject", 0) != NULL;
	if (stored != NULL && text_starts_with(stored, "sha256:") && strcmp(stored, digest) != 0)
		return error_set(err, ERROR_PROTOCOL, "%s: stored with the digest %s instead of %s",
				 name, stored, digest);
	return 0;
}

/* A descriptor as the referrers interface tells it: with type and annotations of the manifest. */
static cJSON *describe(const cJSON *manifest, const char *media_type, const char *digest,
		       size_t size)
{
	struct members members CLEANUP_MEMBERS = members_new();
	const char *type = json_pointer_string(manifest, "/artifactType");
	const cJSON *annotations = json_pointer(manifest, "/annotations");
	member_string(&members, "mediaType", media_type);
	member_string(&members, "digest", digest);
	member_int(&members, "size", (int64_t)size);
	if (type == NULL || type[0] == '\0')
		type = json_pointer_string(manifest, "/config/mediaType");
	if (type != NULL)
		member_string(&members, "artifactType", type);
	if (annotations != NULL)
		member_copy(&members, "annotations", annotations);
	return members_take(&members);
}

static int add_to_fallback(struct registry *registry, const char *name, const char *subject,
			   cJSON *descriptor, struct error *err)
{
	cJSON *owned CLEANUP_JSON = descriptor;
	cJSON *index CLEANUP_JSON = NULL;
	char *tag CLEANUP_FREE = NULL;
	char digest[DIGEST_TEXT_SIZE] = "";
	bool ignored = false;
	int rc = owned != NULL ? registry_get_fallback(registry, name, subject, &tag, &index, err)
			       : error_memory(err);
	if (rc == 0 && index == NULL) {
		static const char empty[] = "{\"schemaVersion\": 2, \"mediaType\": \"" OCI_INDEX
					    "\", \"manifests\": []}";
		rc = json_parse(empty, strlen(empty), &index, err);
	}
	if (rc < 0)
		return rc;
	cJSON *manifests = cJSON_GetObjectItemCaseSensitive(index, "manifests");
	if (!cJSON_IsArray(manifests))
		return error_set(err, ERROR_FORMAT, "%s:%s is not an index", name, tag);
	json_each (entry, manifests) {
		if (text_equal(json_pointer_string(entry, "/digest"),
			       json_pointer_string(owned, "/digest")))
			return 0;
	}
	rc = members_append(manifests, STEAL(owned), err);
	char *printed CLEANUP_FREE = rc == 0 ? json_print_compact(index) : NULL;
	if (printed == NULL)
		return rc < 0 ? rc : error_memory(err);
	return put_manifest(registry, name, tag, OCI_INDEX, printed, strlen(printed), digest,
			    &ignored, err);
}

int registry_push_manifest(struct registry *registry, const char *name, const char *tag,
			   const char *media_type, const void *data, size_t size,
			   char digest[DIGEST_TEXT_SIZE], struct error *err)
{
	cJSON *manifest CLEANUP_JSON = NULL;
	bool keeps_referrers = false;
	int rc = image_document_parse(data, size, &manifest, err);
	if (rc == 0)
		rc = put_manifest(registry, name, tag, media_type, data, size, digest,
				  &keeps_referrers, err);
	const char *subject = json_pointer_string(manifest, "/subject/digest");
	if (rc < 0 || subject == NULL || keeps_referrers)
		return rc;
	if (!digest_is_valid(subject))
		return error_set(err, ERROR_ARGUMENT, "the subject of the manifest has no digest");
	return add_to_fallback(registry, name, subject,
			       describe(manifest, media_type, digest, size), err);
}
