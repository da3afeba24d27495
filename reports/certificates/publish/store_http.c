/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "containers/registry/blob_reader.h"
#include "containers/registry/challenge.h"
#include "containers/registry/http.h"
#include "containers/registry/reference.h"
#include "reports/certificates/publish/store.h"

#include <sodium.h>
#include <string.h>

#define MANIFEST_NAME "manifest.json"

struct http_store {
	struct store store;
	struct http *http;
	char *url;	     /* without a slash at its end */
	char *authorization; /* NULL: none */
	const char *digest;  /* digest of the requested manifest, after `url`; NULL: any */
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

static int authorize(void *user, const struct http_exchange *refused, unsigned refusals,
		     const char **out, struct error *err)
{
	const struct http_store *self = user;
	(void)refusals;
	*out = self->authorization;
	if (refused == NULL)
		return 0;
	return error_set(err, ERROR_PERMISSION, "%s",
			 self->authorization != NULL
				 ? "the token is not accepted, or not for this"
				 : "a token is required: GPUCERT_TOKEN or --token-file");
}

/* Caller frees. */
static char *url_of(const char *title)
{
	struct text url CLEANUP_TEXT = {0};
	http_add_path(&url, title);
	return text_take(&url);
}

static void http_store_open_file(struct store *store, const struct image_descriptor *file,
				 uint64_t offset, struct blob_reader **out)
{
	struct http_store *self = (struct http_store *)store;
	char *url CLEANUP_FREE = url_of(file->title);
	http_download(self->http, url, file->size, offset, out);
}

/* Neither file names nor entity tags identify the content, so the file is read. *unknown: the server does not allow
 * that. */
static int is_there(struct http_store *self, const struct image_descriptor *file, bool *there,
		    bool *unknown, struct error *err)
{
	struct blob_reader *reader CLEANUP_BLOB_READER = NULL;
	struct text found CLEANUP_TEXT = {0};
	struct error failure = {0};
	char *url CLEANUP_FREE = url_of(file->title);
	char digest[DIGEST_TEXT_SIZE] = "";
	http_download(self->http, url, UINT64_MAX, 0, &reader);
	int rc = blob_read_all(reader, (size_t)file->size, &found, &failure);
	digest_bytes(text_string(&found), found.size, digest);
	*there = rc == 0 && text_equal(digest, file->digest);
	*unknown = rc < 0 && rc != ERROR_NOT_FOUND && rc != ERROR_LIMIT;
	return rc == ERROR_MEMORY || http_may_pass(rc) ? error_copy(err, &failure) : 0;
}

/* WebDAV servers make no folders by themselves (RFC 4918, section 9.7.1). Failures are ignored: the folder may exist,
 * and otherwise PUT fails. */
static void make_folders(struct http_store *self, const char *title)
{
	struct text url CLEANUP_TEXT = {0};
	text_add(&url, self->url);
	http_add_path(&url, title);
	char *at = strchr(strstr(url.data, "://") + 3, '/');
	while ((at = strchr(at + 1, '/')) != NULL) {
		struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
		const struct http_request request = {
			.method = "MKCOL", .url = url.data, .authorization = self->authorization};
		*at = '\0';
		(void)http_begin(self->http, &request, &answer, NULL);
		*at = '/';
	}
}

static int http_store_put(struct store *store, const struct image_descriptor *file,
			  const void *data, bool *sent, struct error *err)
{
	struct http_store *self = (struct http_store *)store;
	char *url CLEANUP_FREE = url_of(file->title);
	const struct http_request request = {.method = "PUT",
					     .url = url,
					     .content_type = file->media_type,
					     .body = data,
					     .body_size = (size_t)file->size};
	struct http_patience patience = {0};
	bool there = false;
	bool unknown = false;
	int rc = is_there(self, file, &there, &unknown, err);
	*sent = rc == 0 && !there;
	if (!*sent)
		return rc;
	do {
		struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
		rc = http_call_once(self->http, &request, &answer, &patience.failure);
		if (rc == ERROR_REMOTE && patience.failure.remote == 409) {
			make_folders(self, file->title);
			patience.failure = (struct error){0};
			rc = http_call_once(self->http, &request, &answer, &patience.failure);
		}
	} while (rc < 0 && http_try_again(self->http, &patience));
	if (rc < 0)
		return error_copy(err, &patience.failure);

	/* Some servers answer everything with 200, or store only a part. */
	rc = is_there(self, file, &there, &unknown, err);
	if (rc == 0 && !there && !unknown)
		rc = error_set(err, ERROR_PROTOCOL,
			       "PUT is accepted, and GET does not give it back: not a place for "
			       "files, or a part is missing");
	return rc;
}

static int http_store_put_manifest(struct store *store, const struct publication *what,
				   struct error *err)
{
	const struct image_descriptor manifest = {OCI_MANIFEST, what->digest, what->document.size,
						  MANIFEST_NAME};
	bool sent = false;
	int rc = http_store_put(store, &manifest, text_string(&what->document), &sent, err);
	return rc < 0 ? error_wrap(err, rc, MANIFEST_NAME) : 0;
}

static int http_store_get_manifest(struct store *store, struct text *out, struct error *err)
{
	struct http_store *self = (struct http_store *)store;
	char digest[DIGEST_TEXT_SIZE] = "";
	struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
	const struct http_request request = {.method = "GET", .url = "/" MANIFEST_NAME};
	int rc = http_call(self->http, &request, out, &answer, err);
	digest_bytes(text_string(out), out->size, digest);
	if (rc == 0 && self->digest != NULL && !text_equal(digest, self->digest))
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

/* Validates the place, and cuts off its digest. */
static int check_url(struct http_store *self, const struct publish_options *options,
		     struct error *err)
{
	char *host = strstr(self->url, "://") + 3;
	char *digest = strstr(host, "@sha256:");
	if (digest != NULL && digest_is_valid(digest + 1)) {
		*digest = '\0';
		self->digest = digest + 1;
	}
	char *name CLEANUP_FREE = memory_copy_start(host, strcspn(host, "/"));
	if (strpbrk(host, "?#@") != NULL)
		return error_set(err, ERROR_ARGUMENT,
				 "expected a URL without user, query and fragment; a token goes "
				 "into GPUCERT_TOKEN or --token-file");
	if (!http_has_host(self->url))
		return error_set(err, ERROR_ARGUMENT, "%s: not a URL with a host", self->url);
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
	struct http_store *self = memory_allocate(1, sizeof(*self));
	struct store *store CLEANUP_STORE = &self->store;
	store->kind = &http_kind;
	self->url = memory_copy(url);
	if (options->subject != NULL)
		return error_set(err, ERROR_ARGUMENT,
				 "--subject: only registries attach reports to images");
	int rc = check_url(self, options, err);
	if (rc == 0 && options->token != NULL && !challenge_is_token(options->token))
		rc = error_set(err, ERROR_ARGUMENT,
			       "the token is empty, or has characters that tokens cannot have");
	if (rc == 0 && options->token != NULL)
		self->authorization = text_format("Bearer %s", options->token);
	const struct http_options http = {
		.base = self->url,
		.ca_certificate = options->registry.ca_certificate,
		.stall_ms = options->registry.stall_ms,
		.within_ms = options->registry.within_ms,
		.clock = options->registry.clock,
		.authorize = authorize,
		.user = self,
	};
	if (rc == 0)
		rc = http_open(&http, &self->http, err);
	if (rc == 0)
		*out = STEAL(store);
	return rc;
}
