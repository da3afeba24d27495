/* SPDX-License-Identifier: MIT */
#include "containers/registry/internal.h"

#include "base/json.h"
#include "base/members.h"

#include <string.h>

/* A blob that is being uploaded. */
struct upload {
	struct http *http;
	const char *digest;
	const char *data;
	size_t size, piece;
	char *location;	 /* NULL: not begun */
	size_t at, best; /* bytes sent, and the most ever reached */
	bool resumed;	 /* after a failure, where the registry said it stopped */
};

/* One request of an upload, whose answer may name the URL of the next. */
static int upload_send(struct upload *upload, const char *method, const char *target, size_t count,
		       struct http_exchange **answer, struct error *err)
{
	bool is_piece = text_equal(method, "PATCH");
	bool has_body = !text_equal(method, "GET");
	char range[48] = "";
	(void)snprintf(range, sizeof(range), "%zu-%zu", upload->at, upload->at + count - 1);
	const struct http_request request = {
		.method = method,
		.url = target,
		.content_type = has_body ? "application/octet-stream" : NULL,
		.content_range = is_piece ? range : NULL,
		.body = has_body ? upload->data + upload->at : NULL,
		.body_size = count,
	};
	int rc = http_call_once(upload->http, &request, answer, err);
	const char *header = rc == 0 ? http_header(*answer, "Location", 0) : NULL;
	char *location CLEANUP_FREE = NULL;
	if (header != NULL)
		rc = http_resolve(http_url(*answer), header, &location, err);
	if (location == NULL)
		return rc;
	free(upload->location);
	upload->location = STEAL(location);
	return 0;
}

static int upload_begin(struct upload *upload, struct error *err)
{
	struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
	long long least = 0;
	upload->at = 0;
	upload->resumed = false;
	free(STEAL(upload->location));
	int rc = upload_send(upload, "POST", "/blobs/uploads/", 0, &answer, err);
	if (rc == 0 && upload->location == NULL)
		return error_set(err, ERROR_PROTOCOL, "an upload without a Location");
	const char *wanted = rc == 0 ? http_header(answer, "OCI-Chunk-Min-Length", 0) : NULL;
	if (wanted != NULL &&
	    text_to_int64(wanted, "OCI-Chunk-Min-Length", 1, INT32_MAX, &least, NULL) == 0 &&
	    (size_t)least > upload->piece)
		upload->piece = (size_t)least;
	return rc;
}

/* "0-99": how much the registry has; "0-0" also means nothing. `otherwise` when the answer does not say. */
static size_t received(const struct http_exchange *answer, size_t otherwise)
{
	const char *range = http_header(answer, "Range", 0);
	const char *end = range != NULL ? strrchr(range, '-') : NULL;
	long long last = 0;
	if (end == NULL || text_to_int64(end + 1, "Range", 0, INT64_MAX - 1, &last, NULL) < 0)
		return otherwise;
	return last > 0 ? (size_t)last + 1 : 0;
}

static int upload_rest(struct upload *upload, struct error *err)
{
	struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
	struct text place CLEANUP_TEXT = {0};
	while (upload->size > upload->piece && upload->at < upload->size) {
		size_t left = upload->size - upload->at;
		size_t count = left < upload->piece ? left : upload->piece;
		http_end(&answer);
		int rc = upload_send(upload, "PATCH", upload->location, count, &answer, err);
		if (rc < 0)
			return rc;
		size_t at = received(answer, upload->at + count);
		if (at <= upload->at || at - upload->at > count)
			return error_set(err, ERROR_PROTOCOL,
					 "%s: PATCH up to %zu is answered with Range up to %zu",
					 upload->digest, upload->at + count, at);
		upload->at = at;
	}

	http_end(&answer);
	text_add(&place, upload->location);
	http_add_query(&place, "digest", upload->digest);
	return upload_send(upload, "PUT", text_string(&place), upload->size - upload->at, &answer,
			   err);
}

static int upload_once(struct upload *upload, struct error *err)
{
	bool begins = upload->location == NULL || upload->size <= upload->piece;
	int rc = 0;
	if (!begins) {
		/* Asks where the upload stopped. An upload that the registry has forgotten begins again. */
		struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
		struct error failure = {0};
		rc = upload_send(upload, "GET", upload->location, 0, &answer, &failure);
		if (rc < 0 && http_may_pass(rc))
			return error_copy(err, &failure);
		upload->at = rc == 0 ? received(answer, 0) : 0;
		begins = rc < 0 || upload->at > upload->size;
		upload->resumed = !begins;
	}
	rc = begins ? upload_begin(upload, err) : 0;
	if (rc == 0)
		rc = upload_rest(upload, err);
	if (rc == 0 || http_may_pass(rc) || !upload->resumed)
		return rc;

	/* A registry that refuses the range that it asked for gets the whole blob again. */
	*err = (struct error){0};
	rc = upload_begin(upload, err);
	return rc == 0 ? upload_rest(upload, err) : rc;
}

int registry_push_blob(struct registry *registry, const void *data, size_t size,
		       char digest[DIGEST_TEXT_SIZE], bool *sent, struct error *err)
{
	struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
	struct text nothing CLEANUP_TEXT = {0};
	struct http_patience patience = {0};
	digest_bytes(data, size, digest);
	char *url CLEANUP_FREE = text_format("/blobs/%s", digest);
	const struct http_request request = {.method = "HEAD", .url = url};
	int rc = http_call(registry->http, &request, &nothing, &answer, &patience.failure);
	if (sent != NULL)
		*sent = rc < 0;
	if (rc == 0)
		return 0;
	if (rc != ERROR_NOT_FOUND && rc != ERROR_REMOTE)
		return error_copy(err, &patience.failure);
	patience = (struct http_patience){0};

	struct upload upload = {
		.http = registry->http,
		.digest = digest,
		.data = data,
		.size = size,
		.piece = REGISTRY_PIECE_SIZE,
	};
	do {
		rc = upload_once(&upload, &patience.failure);
		/* Only new bytes count as progress. */
		if (upload.at > upload.best)
			patience.failures = 0;
		upload.best = upload.at > upload.best ? upload.at : upload.best;
	} while (rc < 0 && http_try_again(registry->http, &patience));
	free(upload.location);
	return rc == 0 ? 0 : error_copy(err, &patience.failure);
}

/* *keeps_referrers: the registry itself lists it as a referrer of its subject. */
static int put_manifest(struct registry *registry, const char *tag, const char *media_type,
			const void *data, size_t size, char digest[DIGEST_TEXT_SIZE],
			bool *keeps_referrers, struct error *err)
{
	struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
	struct text nothing CLEANUP_TEXT = {0};
	digest_bytes(data, size, digest);
	char *url CLEANUP_FREE = text_format("/manifests/%s", tag != NULL ? tag : digest);
	const struct http_request request = {
		.method = "PUT",
		.url = url,
		.content_type = media_type,
		.body = data,
		.body_size = size,
	};
	int rc = http_call(registry->http, &request, &nothing, &answer, err);
	if (rc < 0)
		return rc;
	const char *stored = http_header(answer, "Docker-Content-Digest", 0);
	*keeps_referrers = http_header(answer, "OCI-Subject", 0) != NULL;
	if (stored != NULL && text_starts_with(stored, "sha256:") && !text_equal(stored, digest))
		return error_set(err, ERROR_PROTOCOL, "%s: stored with the digest %s instead of %s",
				 registry->name, stored, digest);
	return 0;
}

int registry_push_manifest(struct registry *registry, const char *tag, const char *media_type,
			   const void *data, size_t size, char digest[DIGEST_TEXT_SIZE],
			   struct error *err)
{
	static const char empty[] =
		"{\"schemaVersion\": 2, \"mediaType\": \"" OCI_INDEX "\", \"manifests\": []}";
	cJSON *manifest CLEANUP_JSON = NULL;
	cJSON *index CLEANUP_JSON = NULL;
	char *index_tag CLEANUP_FREE = NULL;
	char index_digest[DIGEST_TEXT_SIZE] = "";
	bool keeps_referrers = false;
	int rc = image_document_parse(data, size, &manifest, err);
	if (rc == 0)
		rc = put_manifest(registry, tag, media_type, data, size, digest, &keeps_referrers,
				  err);
	const char *subject = json_pointer_string(manifest, "/subject/digest");
	if (rc < 0 || subject == NULL || keeps_referrers)
		return rc;
	if (!digest_is_valid(subject))
		return error_set(err, ERROR_ARGUMENT, "the subject of the manifest has no digest");

	/* It goes into the index of referrers that its subject has under a tag. Its descriptor has type and annotations of
	 * the manifest, as the referrers interface lists them. */
	rc = registry_get_fallback(registry, subject, &index_tag, &index, err);
	if (rc == 0 && index == NULL)
		rc = json_parse(empty, strlen(empty), &index, err);
	if (rc < 0)
		return rc;
	cJSON *manifests = cJSON_GetObjectItemCaseSensitive(index, "manifests");
	if (!cJSON_IsArray(manifests))
		return error_set(err, ERROR_FORMAT, "%s:%s is not an index", registry->name,
				 index_tag);
	json_each (entry, manifests) {
		if (text_equal(json_pointer_string(entry, "/digest"), digest))
			return 0;
	}

	struct members members CLEANUP_MEMBERS = members_new();
	const char *type = json_pointer_string(manifest, "/artifactType");
	const cJSON *annotations = json_pointer(manifest, "/annotations");
	if (type == NULL || type[0] == '\0')
		type = json_pointer_string(manifest, "/config/mediaType");
	image_descriptor_write(&members, media_type, digest, size);
	if (type != NULL)
		member_string(&members, "artifactType", type);
	if (annotations != NULL)
		member_copy(&members, "annotations", annotations);
	array_add(manifests, members_take(&members));
	char *printed CLEANUP_FREE = json_print_compact(index);
	return put_manifest(registry, index_tag, OCI_INDEX, printed, strlen(printed), index_digest,
			    &keeps_referrers, err);
}
