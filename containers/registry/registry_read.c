/* SPDX-License-Identifier: MIT */
#include "containers/registry/internal.h"

#include "base/json.h"
#include "base/memory.h"

#include <string.h>

void registry_document_free(struct registry_document *document)
{
	text_free(&document->data);
}

int registry_get_manifest(struct registry *registry, const char *reference,
			  struct registry_document *out, struct error *err)
{
	struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
	char *url CLEANUP_FREE = text_format("/manifests/%s", reference);
	const struct http_request request = {
		.method = "GET", .url = url, .accept = image_media_types};
	*out = (struct registry_document){0};
	int rc = http_call(registry->http, &request, &out->data, &answer, err);
	if (rc < 0)
		return rc;
	const char *type = http_header(answer, "Content-Type", 0);
	size_t length = type != NULL ? strcspn(type, "; ") : 0;
	if (length > 0 && length < sizeof(out->media_type))
		memcpy(out->media_type, type, length);

	/* The digest must be the requested one, or the one in the header. */
	const bool is_named = digest_is_valid(reference);
	const char *promised =
		is_named ? reference : http_header(answer, "Docker-Content-Digest", 0);
	if (promised == NULL || !digest_is_valid(promised)) {
		digest_bytes(text_string(&out->data), out->data.size, out->digest);
		return 0;
	}
	struct digester *digester CLEANUP_DIGESTER = NULL;
	rc = digester_new(promised, &digester, err);
	if (rc == 0) {
		digester_add(digester, text_string(&out->data), out->data.size);
		digester_end(digester, out->digest);
		if (!text_equal(out->digest, promised))
			rc = error_set(err, ERROR_PROTOCOL,
				       "the content has the digest %s, %s says %s", out->digest,
				       is_named ? "its name" : "Docker-Content-Digest", promised);
	}
	return rc < 0 ? error_wrap(err, rc, "%s/%s %s", registry->host, registry->name, reference)
		      : 0;
}

void registry_open_blob(struct registry *registry, const char *digest, uint64_t size,
			uint64_t offset, struct blob_reader **out)
{
	char *url CLEANUP_FREE = text_format("/blobs/%s", digest);
	http_download(registry->http, url, size, offset, out);
}

static int read_pages(struct registry *registry, const char *first,
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
		const struct http_request request = {
			.method = "GET",
			.url = next != NULL ? next : first,
			.accept = "application/json, " OCI_INDEX,
		};
		if (pages++ == REGISTRY_PAGES_MAX)
			return error_set(err, ERROR_LIMIT, "%s/%s: more than %d pages",
					 registry->host, registry->name, REGISTRY_PAGES_MAX);
		rc = http_call(registry->http, &request, &body, &answer, err);
		if (rc < 0)
			return rc;

		/* The URL of the next page: Link: <...>; rel="next" (RFC 8288). */
		const char *url = http_url(answer);
		const char *link = http_header(answer, "Link", 0);
		const char *end = link != NULL && link[0] == '<' ? strchr(link, '>') : NULL;
		free(STEAL(next));
		if (end != NULL && strstr(end, "next") != NULL) {
			char *target CLEANUP_FREE =
				memory_copy_start(link + 1, (size_t)(end - link - 1));
			rc = http_resolve(url, target, &next, err);
			if (rc == 0 && (!http_same_origin(url, next) || text_equal(url, next)))
				rc = error_set(err, ERROR_PROTOCOL,
					       "Link leads to itself or to another host");
		}
		if (rc == 0)
			rc = image_document_parse(text_string(&body), body.size, &document, err);
		if (rc == 0)
			rc = on_page(document, user, err);
	} while (rc == 0 && next != NULL);
	return rc < 0 ? error_wrap(err, rc, "%s/%s", registry->host, registry->name) : 0;
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
			text_list_add(tags, tag->valuestring);
	}
	return rc;
}

int registry_list_tags(struct registry *registry, struct text_list *tags, struct error *err)
{
	return read_pages(registry, "/tags/list?n=1000", add_tags, tags, err);
}

static int add_referrers(const cJSON *document, void *user, struct error *err)
{
	return image_index_read(document, user, err);
}

int registry_get_fallback(struct registry *registry, const char *digest, char **tag, cJSON **out,
			  struct error *err)
{
	struct registry_document document CLEANUP_REGISTRY_DOCUMENT = {0};
	struct error failure = {0};
	*tag = text_format("%.6s-%s", digest, digest + sizeof("sha256"));
	int rc = registry_get_manifest(registry, *tag, &document, &failure);
	if (rc < 0)
		return rc == ERROR_NOT_FOUND ? 0 : error_copy(err, &failure);
	return image_document_parse(text_string(&document.data), document.data.size, out, err);
}

int registry_list_referrers(struct registry *registry, const char *digest,
			    const char *artifact_type, struct image_index *out, struct error *err)
{
	char *url CLEANUP_FREE = text_format("/referrers/%s", digest);
	char *tag CLEANUP_FREE = NULL;
	cJSON *fallback CLEANUP_JSON = NULL;
	struct error failure = {0};
	size_t kept = 0;
	*out = (struct image_index){0};
	int rc = read_pages(registry, url, add_referrers, out, &failure);
	if (rc == ERROR_NOT_FOUND || (rc == ERROR_REMOTE && failure.remote == 405)) {
		failure = (struct error){0};
		rc = registry_get_fallback(registry, digest, &tag, &fallback, &failure);
		if (rc == 0 && fallback != NULL)
			rc = image_index_read(fallback, out, &failure);
	}
	for (size_t i = 0; rc == 0 && i < out->count; i++) {
		if (artifact_type[0] == '\0' ||
		    text_equal(out->entries[i].artifact_type, artifact_type))
			out->entries[kept++] = out->entries[i];
	}
	out->count = kept;
	if (rc == 0)
		return 0;
	image_index_free(out);
	return error_copy(err, &failure);
}
