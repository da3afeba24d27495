/* SPDX-License-Identifier: MIT */
#include "containers/registry/registry_internal.h"

#include "base/json.h"

#include <inttypes.h>
#include <string.h>

/* The digest of a document, in the algorithm of the one that `who` says, which it must be; NULL: SHA-256. */
static int digest_document(const struct text *data, const char *wanted, const char *who,
			   char out[DIGEST_TEXT_SIZE], struct error *err)
{
	struct digester *digester CLEANUP_DIGESTER = NULL;
	if (wanted == NULL || !digest_is_valid(wanted)) {
		digest_bytes(text_string(data), data->size, out);
		return 0;
	}
	int rc = digester_new(wanted, &digester, err);
	if (rc < 0)
		return rc;
	digester_add(digester, text_string(data), data->size);
	digester_end(digester, out);
	return strcmp(out, wanted) == 0
		       ? 0
		       : error_set(err, ERROR_PROTOCOL, "the content has the digest %s, %s says %s",
				   out, who, wanted);
}

int registry_get_manifest(struct registry *registry, const char *name, const char *reference,
			  struct registry_document *out, struct error *err)
{
	struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
	const struct registry_call call = {
		.method = "GET",
		.name = name,
		.target = "/manifests/",
		.reference = reference,
		.accept = image_media_types,
	};
	*out = (struct registry_document){0};
	int rc = registry_call(registry, &call, &out->data, &answer, err);
	if (rc < 0)
		return rc;
	const char *type = http_header(answer, "Content-Type", 0);
	size_t length = type != NULL ? strcspn(type, "; ") : 0;
	if (length > 0 && length < sizeof(out->media_type))
		memcpy(out->media_type, type, length);
	rc = digest_document(&out->data, http_header(answer, "Docker-Content-Digest", 0),
			     "Docker-Content-Digest", out->digest, err);
	if (rc == 0)
		rc = digest_document(&out->data, reference, "its name", out->digest, err);
	return rc < 0 ? error_wrap(err, rc, "%s/%s %s", registry->host, name, reference) : 0;
}

enum { PROGRESS_BYTES = 1024 * 1024 };

struct remote_blob {
	struct blob_reader reader;
	struct registry *registry; /* borrowed: lives longer */
	struct http_exchange *answer;
	char *name, *digest;
	uint64_t size, at;
	uint64_t to_skip; /* of an answer that begins at the beginning again */
	struct registry_patience patience;
	uint64_t patient_at; /* where it was full last */
};

static void remote_close(struct blob_reader *reader)
{
	struct remote_blob *blob = (struct remote_blob *)reader;
	http_end(&blob->answer);
	free(blob->name);
	free(blob->digest);
	free(blob);
}

/* "bytes 100-199/200": does it begin where it was asked to? */
static bool range_begins_at(const struct http_exchange *answer, uint64_t at)
{
	const char *range = http_header(answer, "Content-Range", 0);
	char wanted[48] = "";
	(void)snprintf(wanted, sizeof(wanted), "bytes %" PRIu64 "-", at);
	return range != NULL && text_starts_with(range, wanted);
}

static int remote_connect(struct remote_blob *blob, struct error *err)
{
	const struct registry_call call = {
		.method = "GET",
		.name = blob->name,
		.target = "/blobs/",
		.reference = blob->digest,
		.offset = blob->at,
	};
	int rc = registry_call_once(blob->registry, &call, &blob->answer, err);
	if (rc < 0)
		return rc;
	uint64_t length = http_length(blob->answer);
	bool is_part = http_status(blob->answer) == 206;
	if (is_part && !range_begins_at(blob->answer, blob->at))
		return error_set(err, ERROR_PROTOCOL, "another range than was asked for");
	blob->to_skip = is_part ? 0 : blob->at;
	if (blob->size != UINT64_MAX && length != UINT64_MAX &&
	    length != blob->size - (is_part ? blob->at : 0))
		return error_set(err, ERROR_PROTOCOL,
				 "Content-Length %" PRIu64 " does not fit a blob of %" PRIu64
				 " bytes",
				 length, blob->size);
	return 0;
}

static int remote_read_once(struct remote_blob *blob, void *out, size_t size, size_t *count,
			    struct error *err)
{
	int rc = blob->answer == NULL ? remote_connect(blob, err) : 0;
	bool skipped = true;
	*count = 1;
	while (rc == 0 && *count > 0 && skipped) {
		skipped = blob->to_skip > 0;
		rc = http_read(blob->answer, out,
			       skipped && blob->to_skip < size ? (size_t)blob->to_skip : size,
			       count, err);
		blob->to_skip -= skipped ? *count : 0;
	}
	if (rc == 0 && *count == 0 && blob->size != UINT64_MAX && blob->at < blob->size)
		rc = error_set(err, ERROR_IO, "cut after %" PRIu64 " of %" PRIu64 " bytes",
			       blob->at, blob->size);
	return rc;
}

/* A transfer that comes on has all its patience again; crumbs are not enough. */
static int remote_read(struct blob_reader *reader, void *out, size_t size, size_t *count,
		       struct error *err)
{
	struct remote_blob *blob = (struct remote_blob *)reader;
	struct error *failure = &blob->patience.failure;
	int rc = 0;
	do {
		rc = remote_read_once(blob, out, size, count, failure);
		if (rc < 0)
			http_end(&blob->answer);
	} while (rc < 0 && registry_try_again(blob->registry, &blob->patience));
	if (rc < 0) {
		(void)error_copy(err, failure);
		return error_wrap(err, rc, "%s %s", blob->registry->host, blob->name);
	}
	blob->at += *count;
	if (blob->at - blob->patient_at >= PROGRESS_BYTES) {
		blob->patient_at = blob->at;
		blob->patience.failures = 0;
	}
	return 0;
}

int registry_open_blob(struct registry *registry, const char *name, const char *digest,
		       uint64_t size, struct blob_reader **out, struct error *err)
{
	struct remote_blob *blob = calloc(1, sizeof(*blob));
	if (blob == NULL)
		return error_memory(err);
	struct blob_reader *owned CLEANUP_BLOB_READER = &blob->reader;
	blob->reader = (struct blob_reader){.read = remote_read, .close = remote_close};
	blob->registry = registry;
	blob->size = size;
	blob->name = strdup(name);
	blob->digest = strdup(digest);
	if (blob->name == NULL || blob->digest == NULL)
		return error_memory(err);
	*out = STEAL(owned);
	return 0;
}

/* Lists come in pages, each with the place of the next: Link: <...>; rel="next" (RFC 8288). *next stays NULL
 * behind the last. */
static int find_next(const struct http_exchange *answer, char **next, struct error *err)
{
	const char *url = http_url(answer);
	const char *link = http_header(answer, "Link", 0);
	const char *end = link != NULL && link[0] == '<' ? strchr(link, '>') : NULL;
	free(STEAL(*next));
	if (end == NULL || strstr(end, "next") == NULL)
		return 0;
	char *target CLEANUP_FREE = strndup(link + 1, (size_t)(end - link - 1));
	int rc = target != NULL ? http_resolve(url, target, next, err) : error_memory(err);
	if (rc == 0 && (!http_same_origin(url, *next) || strcmp(url, *next) == 0))
		rc = error_set(err, ERROR_PROTOCOL, "Link leads to itself or to another host");
	return rc;
}

static int read_pages(struct registry *registry, const char *name, const char *target,
		      const char *reference,
		      int (*on_page)(const cJSON *document, void *user, struct error *err),
		      void *user, struct error *err)
{
	char *next CLEANUP_FREE = NULL;
	int rc = 0;
	unsigned pages = 0;
	do {
		struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
		struct text body CLEANUP_TEXT = {0};
		cJSON *document CLEANUP_JSON = NULL;
		const struct registry_call call = {
			.method = "GET",
			.name = name,
			.target = next != NULL ? next : target,
			.reference = next != NULL ? NULL : reference,
			.accept = "application/json, " OCI_INDEX,
		};
		if (pages++ == REGISTRY_PAGES_MAX)
			return error_set(err, ERROR_LIMIT, "%s/%s: more than %d pages",
					 registry->host, name, REGISTRY_PAGES_MAX);
		rc = registry_call(registry, &call, &body, &answer, err);
		if (rc < 0)
			return rc;
		rc = find_next(answer, &next, err);
		if (rc == 0)
			rc = image_document_parse(text_string(&body), body.size, &document, err);
		if (rc == 0)
			rc = on_page(document, user, err);
	} while (rc == 0 && next != NULL);
	return rc < 0 ? error_wrap(err, rc, "%s/%s", registry->host, name) : 0;
}

static int add_tags(const cJSON *document, void *user, struct error *err)
{
	struct text_list *tags = user;
	struct json_at root = json_root(document);
	struct json_at list = {0};
	int rc = json_have(&root, "tags", JSON_ARRAY, &list, err);
	json_each (tag, list.node) {
		if (rc == 0 && !cJSON_IsString(tag))
			rc = json_error(&list, err, "expected strings");
		if (rc == 0 && tags->count == REGISTRY_TAGS_MAX)
			rc = error_set(err, ERROR_LIMIT, "more than %d tags", REGISTRY_TAGS_MAX);
		if (rc == 0)
			rc = text_list_add(tags, tag->valuestring, err);
	}
	return rc;
}

int registry_list_tags(struct registry *registry, const char *name, struct text_list *tags,
		       struct error *err)
{
	return read_pages(registry, name, "/tags/list?n=1000", NULL, add_tags, tags, err);
}

static int add_referrers(const cJSON *document, void *user, struct error *err)
{
	return image_index_read(document, user, err);
}

int registry_get_fallback(struct registry *registry, const char *name, const char *digest,
			  char **tag, cJSON **out, struct error *err)
{
	struct registry_document document CLEANUP_REGISTRY_DOCUMENT = {0};
	struct error failure = {0};
	*tag = text_format("%.6s-%s", digest, digest + sizeof("sha256"));
	if (*tag == NULL)
		return error_memory(err);
	int rc = registry_get_manifest(registry, name, *tag, &document, &failure);
	if (rc < 0)
		return rc == ERROR_NOT_FOUND ? 0 : error_copy(err, &failure);
	return image_document_parse(text_string(&document.data), document.data.size, out, err);
}

int registry_list_referrers(struct registry *registry, const char *name, const char *digest,
			    const char *artifact_type, struct image_index *out, struct error *err)
{
	char *tag CLEANUP_FREE = NULL;
	cJSON *fallback CLEANUP_JSON = NULL;
	struct error failure = {0};
	size_t kept = 0;
	*out = (struct image_index){0};
	int rc = read_pages(registry, name, "/referrers/", digest, add_referrers, out, &failure);
	if (rc == ERROR_NOT_FOUND || (rc == ERROR_REMOTE && failure.remote == 405)) {
		failure = (struct error){0};
		rc = registry_get_fallback(registry, name, digest, &tag, &fallback, &failure);
		if (rc == 0 && fallback != NULL)
			rc = image_index_read(fallback, out, &failure);
	}
	for (size_t i = 0; rc == 0 && i < out->count; i++) {
		if (artifact_type[0] == '\0' ||
		    strcmp(out->entries[i].artifact_type, artifact_type) == 0)
			out->entries[kept++] = out->entries[i];
	}
	out->count = kept;
	if (rc == 0)
		return 0;
	image_index_free(out);
	return error_copy(err, &failure);
}
