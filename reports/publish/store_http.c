/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "containers/registry/challenge.h"
#include "containers/registry/download.h"
#include "containers/registry/reference.h"
#include "reports/publish/store.h"

#include <sodium.h>
#include <string.h>

#define MANIFEST_NAME "manifest.json"

struct http_store {
	struct store store;
	struct http *http;
	struct registry_retries retries;
	char *url;	     /* without a slash at its end */
	char *authorization; /* NULL: none */
	const char *digest;  /* of the manifest that is wanted, behind `url`; NULL: any */
};

static void http_store_close(struct store *store)
{
	struct http_store *self = (struct http_store *)store;
	http_close(self->http);
	free(self->url);
	if (self->authorization != NULL)
		sodium_memzero(self->authorization, strlen(self->authorization));
	free(self->authorization);
	free(self);
}

static int denied(const struct http_store *self, struct error *err)
{
	return error_set(err, ERROR_PERMISSION, "%s",
			 self->authorization != NULL
				 ? "the token is not accepted, or not for this"
				 : "a token is wanted: GPUCERT_TOKEN or --token-file");
}

/* One request, whose answer is one of 2xx. */
static int request_once(struct http_store *self, struct http_request request, const char *title,
			struct http_exchange **out, struct error *err)
{
	struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
	struct text url CLEANUP_TEXT = {0};
	text_add(&url, self->url);
	http_add_path(&url, title);
	if (url.failed)
		return error_memory(err);
	request.url = text_string(&url);
	request.authorization = self->authorization;
	int rc = http_begin(self->http, &request, &answer, err);
	long status = rc == 0 ? http_status(answer) : 0;
	const char *elsewhere = status / 100 == 3 ? http_header(answer, "Location", 0) : NULL;
	char *target CLEANUP_FREE = NULL;
	if (elsewhere != NULL)
		(void)http_resolve(request.url, elsewhere, &target, NULL);
	char *shown CLEANUP_FREE = http_shown(target != NULL ? target : request.url);
	if (target != NULL)
		return error_set(err, ERROR_PROTOCOL,
				 "%s is answered with status %ld, which leads to %s",
				 request.method, status, shown);
	if (status == 401 || status == 403)
		rc = denied(self, err);
	else if (rc == 0 && status / 100 != 2)
		rc = registry_refusal(&self->retries, answer, err);
	if (rc < 0)
		return error_wrap(err, rc, "%s %s", request.method, shown);
	*out = STEAL(answer);
	return 0;
}

static int connect_file(struct download *download, uint64_t offset, struct http_exchange **out,
			struct error *err)
{
	const struct http_request request = {.method = "GET", .offset = offset};
	return request_once(download->server, request, download->place, out, err);
}

static int open_file(struct http_store *self, const char *title, uint64_t size, uint64_t offset,
		     struct blob_reader **out, struct error *err)
{
	const struct download from = {
		.connect = connect_file,
		.retries = &self->retries,
		.server = self,
		.place = strdup(title),
		.shown = text_format("%s/%s", self->url, title),
		.size = size,
		.at = offset,
	};
	return download_open(&from, out, err);
}

static int http_store_open_file(struct store *store, const struct image_descriptor *file,
				uint64_t offset, struct blob_reader **out, struct error *err)
{
	return open_file((struct http_store *)store, file->title, file->size, offset, out, err);
}

static int read_all(struct http_store *self, const char *title, size_t max, struct text *out,
		    struct error *err)
{
	struct blob_reader *reader CLEANUP_BLOB_READER = NULL;
	char chunk[65536];
	size_t count = 0;
	int rc = open_file(self, title, UINT64_MAX, 0, &reader, err);
	do {
		if (rc == 0)
			rc = reader->read(reader, chunk, sizeof(chunk), &count, err);
		if (rc == 0 && count > max - out->size)
			return error_set(err, ERROR_LIMIT, "%s has more than %zu bytes", title,
					 max);
		text_append(out, chunk, rc == 0 ? count : 0);
	} while (rc == 0 && count > 0);
	return rc == 0 && out->failed ? error_memory(err) : rc;
}

/* Names of files say nothing of their content, nor do the tags of servers: it is read. Servers that let nobody read
 * get it again. */
static int is_there(struct http_store *self, const char *title, const void *data, size_t size,
		    bool *there, struct error *err)
{
	struct text content CLEANUP_TEXT = {0};
	struct error failure = {0};
	int rc = read_all(self, title, size, &content, &failure);
	*there = rc == 0 && content.size == size &&
		 (size == 0 || memcmp(content.data, data, size) == 0);
	return rc == ERROR_MEMORY || registry_may_pass(rc) ? error_copy(err, &failure) : 0;
}

/* Servers of WebDAV make no folders by themselves (RFC 4918, section 9.7.1). What cannot be made, or is there, PUT tells. */
static void make_folders(struct http_store *self, const char *title)
{
	struct text url CLEANUP_TEXT = {0};
	text_add(&url, self->url);
	http_add_path(&url, title);
	char *at = url.failed ? NULL : strchr(strstr(url.data, "://") + 3, '/');
	while (at != NULL && (at = strchr(at + 1, '/')) != NULL) {
		struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
		const struct http_request request = {
			.method = "MKCOL", .url = url.data, .authorization = self->authorization};
		*at = '\0';
		(void)http_begin(self->http, &request, &answer, NULL);
		*at = '/';
	}
}

static int put(struct http_store *self, const char *title, const char *type, const void *data,
	       size_t size, bool *sent, struct error *err)
{
	const struct http_request request = {
		.method = "PUT", .content_type = type, .body = data, .body_size = size};
	struct registry_patience patience = {0};
	bool there = false;
	int rc = is_there(self, title, data, size, &there, err);
	*sent = rc == 0 && !there;
	if (!*sent)
		return rc;
	do {
		struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
		rc = request_once(self, request, title, &answer, &patience.failure);
		if (rc == ERROR_REMOTE && patience.failure.remote == 409) {
			make_folders(self, title);
			patience.failure = (struct error){0};
			rc = request_once(self, request, title, &answer, &patience.failure);
		}
	} while (rc < 0 && registry_try_again(&self->retries, &patience));
	return rc < 0 ? error_copy(err, &patience.failure) : 0;
}

static int http_store_put(struct store *store, const struct image_descriptor *file,
			  const void *data, bool *sent, struct error *err)
{
	return put((struct http_store *)store, file->title, file->media_type, data,
		   (size_t)file->size, sent, err);
}

static int http_store_put_manifest(struct store *store, const struct publication *what,
				   struct error *err)
{
	bool sent = false;
	return put((struct http_store *)store, MANIFEST_NAME, OCI_MANIFEST,
		   text_string(&what->document), what->document.size, &sent, err);
}

static int http_store_get_manifest(struct store *store, struct text *out, struct error *err)
{
	struct http_store *self = (struct http_store *)store;
	char digest[DIGEST_TEXT_SIZE] = "";
	int rc = read_all(self, MANIFEST_NAME, IMAGE_DOCUMENT_MAX, out, err);
	digest_bytes(text_string(out), out->size, digest);
	if (rc == 0 && self->digest != NULL && strcmp(digest, self->digest) != 0)
		rc = error_set(err, ERROR_PROTOCOL, MANIFEST_NAME " has the digest %s, not %s",
			       digest, self->digest);
	return rc;
}

static const struct store_kind http_kind = {
	.put = http_store_put,
	.put_manifest = http_store_put_manifest,
	.get_manifest = http_store_get_manifest,
	.open = http_store_open_file,
	.close = http_store_close,
};

/* What a place may be; cuts off its digest. */
static int check_url(struct http_store *self, const struct publish_options *options,
		     struct error *err)
{
	char *host = strstr(self->url, "://") + 3;
	char *digest = strstr(host, "@sha256:");
	if (digest != NULL && digest_is_valid(digest + 1)) {
		*digest = '\0';
		self->digest = digest + 1;
	}
	char *name CLEANUP_FREE = strndup(host, strcspn(host, "/"));
	if (name == NULL)
		return error_memory(err);
	if (strpbrk(host, "?#@") != NULL)
		return error_set(err, ERROR_ARGUMENT,
				 "a URL without user, query and fragment is wanted; a token goes "
				 "into GPUCERT_TOKEN or --token-file");
	if (text_starts_with(self->url, "http://") && !options->registry.plain_http &&
	    !registry_host_is_local(name))
		return error_set(err, ERROR_ARGUMENT,
				 "%s: everybody on the way can read what goes over plain HTTP; use "
				 "https://, or --plain-http all the same",
				 self->url);
	for (size_t size = strlen(self->url); self->url[size - 1] == '/'; size--)
		self->url[size - 1] = '\0';
	return 0;
}

int store_http_open(const char *url, const struct publish_options *options, struct store **out,
		    struct error *err)
{
	struct http_store *self = calloc(1, sizeof(*self));
	if (self == NULL)
		return error_memory(err);
	struct store *store CLEANUP_STORE = &self->store;
	store->kind = &http_kind;
	self->retries.clock = options->registry.clock;
	self->url = strdup(url);
	if (self->url == NULL)
		return error_memory(err);
	if (options->subject != NULL)
		return error_set(err, ERROR_ARGUMENT,
				 "--subject: only registries attach reports to images");
	int rc = check_url(self, options, err);
	if (rc == 0 && options->token != NULL && !challenge_is_token(options->token))
		rc = error_set(err, ERROR_ARGUMENT,
			       "the token is empty, or has characters that tokens cannot have");
	if (rc == 0 && options->token != NULL) {
		self->authorization = text_format("Bearer %s", options->token);
		rc = self->authorization != NULL ? 0 : error_memory(err);
	}
	if (rc == 0)
		rc = http_open(options->registry.ca_certificate, options->registry.stall_ms,
			       &self->http, err);
	if (rc == 0)
		*out = STEAL(store);
	return rc;
}
