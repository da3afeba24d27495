/* SPDX-License-Identifier: MIT */
#include "containers/registry/registry_internal.h"

#include "base/json.h"
#include "base/members.h"

#include <string.h>

enum { ANSWER_MAX = 64 * 1024 };

#define OCI_INDEX "application/vnd.oci.image.index.v1+json"

/* Where an upload goes to: the Location of the answer, as a URL. */
static int keep_location(const struct http_exchange *answer, const char *url, void *user,
			 struct error *err)
{
	char **location = user;
	const char *header = http_header(answer, "Location", 0);
	free(STEAL(*location));
	return header != NULL ? http_resolve(url, header, location, err)
			      : error_set(err, ERROR_PROTOCOL, "an upload without a Location");
}

static int has_blob(struct registry *registry, const char *name, const char *digest, bool *out,
		    struct error *err)
{
	struct text nothing CLEANUP_TEXT = {0};
	struct error missing = {0};
	char *target CLEANUP_FREE = text_format("/blobs/%s", digest);
	const struct registry_call call = {
		.method = "HEAD", .name = name, .target = target, .actions = "pull,push"};
	if (target == NULL)
		return error_memory(err);
	int rc = registry_call(registry, &call, ANSWER_MAX, &nothing, NULL, NULL, &missing);
	*out = rc == 0;
	return rc == 0 || rc == ERROR_NOT_FOUND ? 0 : error_copy(err, &missing);
}

/* An upload that failed begins again: its place is not of use any more. */
static int upload(struct registry *registry, const char *name, const void *data, size_t size,
		  const char *digest, struct error *err)
{
	struct text answer CLEANUP_TEXT = {0};
	struct text place CLEANUP_TEXT = {0};
	char *location CLEANUP_FREE = NULL;
	const struct registry_call begin = {
		.method = "POST",
		.name = name,
		.target = "/blobs/uploads/",
		.actions = "pull,push",
		.content_type = "application/octet-stream",
	};
	int rc =
		registry_call(registry, &begin, ANSWER_MAX, &answer, keep_location, &location, err);
	if (rc < 0)
		return rc;
	text_add(&place, location);
	http_add_query(&place, "digest", digest);
	if (place.failed)
		return error_memory(err);
	const struct registry_call put = {
		.method = "PUT",
		.name = name,
		.target = place.data,
		.actions = "pull,push",
		.content_type = "application/octet-stream",
		.body = data,
		.body_size = size,
	};
	struct http_exchange *end CLEANUP_HTTP_EXCHANGE = NULL;
	return registry_call_once(registry, &put, &end, NULL, err);
}

int registry_push_blob(struct registry *registry, const char *name, const void *data, size_t size,
		       char digest[DIGEST_TEXT_SIZE], struct error *err)
{
	struct registry_patience patience = {0};
	bool there = false;
	digest_bytes(data, size, digest);
	int rc = has_blob(registry, name, digest, &there, err);
	if (rc < 0 || there)
		return rc;
	do {
		rc = upload(registry, name, data, size, digest, &patience.failure);
	} while (rc < 0 && registry_try_again(registry, &patience));
	return rc < 0 ? error_copy(err, &patience.failure) : 0;
}

struct pushed {
	const char *digest;
	bool keeps_referrers;
};

static int keep_answer(const struct http_exchange *answer, const char *url, void *user,
		       struct error *err)
{
	struct pushed *pushed = user;
	const char *digest = http_header(answer, "Docker-Content-Digest", 0);
	(void)url;
	pushed->keeps_referrers = http_header(answer, "OCI-Subject", 0) != NULL;
	if (digest != NULL && text_starts_with(digest, "sha256:") &&
	    strcmp(digest, pushed->digest) != 0)
		return error_set(err, ERROR_PROTOCOL, "stored with the digest %s instead of %s",
				 digest, pushed->digest);
	return 0;
}

static int put_manifest(struct registry *registry, const char *name, const char *reference,
			const char *media_type, const void *data, size_t size,
			struct pushed *pushed, struct error *err)
{
	struct text answer CLEANUP_TEXT = {0};
	char *target CLEANUP_FREE = text_format("/manifests/%s", reference);
	const struct registry_call call = {
		.method = "PUT",
		.name = name,
		.target = target,
		.actions = "pull,push",
		.content_type = media_type,
		.body = data,
		.body_size = size,
	};
	return target != NULL ? registry_call(registry, &call, ANSWER_MAX, &answer, keep_answer,
					      pushed, err)
			      : error_memory(err);
}

/* The index under the fallback tag as it is, or a new one. */
static int get_fallback(struct registry *registry, const char *name, const char *tag, cJSON **out,
			struct error *err)
{
	struct registry_document document CLEANUP_REGISTRY_DOCUMENT = {0};
	struct error missing = {0};
	struct members index CLEANUP_MEMBERS = members_new();
	int rc = registry_get_manifest(registry, name, tag, &document, &missing);
	if (rc == 0)
		return image_document_parse(text_string(&document.data), document.data.size, out,
					    err);
	if (rc != ERROR_NOT_FOUND)
		return error_copy(err, &missing);
	member_int(&index, "schemaVersion", 2);
	member_string(&index, "mediaType", OCI_INDEX);
	member_item(&index, "manifests", cJSON_CreateArray());
	*out = members_take(&index);
	return *out != NULL ? 0 : error_memory(err);
}

static bool index_has(const cJSON *manifests, const char *digest)
{
	json_each (entry, manifests) {
		if (text_equal(json_pointer_string(entry, "/digest"), digest))
			return true;
	}
	return false;
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
	int rc = registry_fallback_tag(subject, &tag, err);
	if (rc == 0)
		rc = owned != NULL ? get_fallback(registry, name, tag, &index, err)
				   : error_memory(err);
	if (rc < 0)
		return rc;
	cJSON *manifests = cJSON_GetObjectItemCaseSensitive(index, "manifests");
	if (!cJSON_IsArray(manifests))
		return error_set(err, ERROR_FORMAT, "%s:%s is not an index", name, tag);
	if (index_has(manifests, json_pointer_string(owned, "/digest")))
		return 0;
	rc = members_append(manifests, STEAL(owned), err);
	char *printed CLEANUP_FREE = rc == 0 ? json_print_compact(index) : NULL;
	if (printed == NULL)
		return rc < 0 ? rc : error_memory(err);
	digest_bytes(printed, strlen(printed), digest);
	struct pushed pushed = {.digest = digest};
	return put_manifest(registry, name, tag, OCI_INDEX, printed, strlen(printed), &pushed, err);
}

int registry_push_manifest(struct registry *registry, const char *name, const char *tag,
			   const char *media_type, const void *data, size_t size,
			   char digest[DIGEST_TEXT_SIZE], struct error *err)
{
	cJSON *manifest CLEANUP_JSON = NULL;
	struct pushed pushed = {.digest = digest};
	int rc = image_document_parse(data, size, &manifest, err);
	digest_bytes(data, size, digest);
	if (rc == 0)
		rc = put_manifest(registry, name, tag != NULL ? tag : digest, media_type, data,
				  size, &pushed, err);
	const char *subject = json_pointer_string(manifest, "/subject/digest");
	if (rc < 0 || subject == NULL || pushed.keeps_referrers)
		return rc;
	if (!digest_is_valid(subject))
		return error_set(err, ERROR_ARGUMENT, "the subject of the manifest has no digest");
	return add_to_fallback(registry, name, subject,
			       describe(manifest, media_type, digest, size), err);
}
