/* SPDX-License-Identifier: MIT */
#include "containers/registry/content_cache.h"
#include "containers/registry/internal.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"

#include <string.h>
#include <uv.h>

int blob_read_all(struct blob_reader *reader, size_t max, struct text *out, struct error *err)
{
	char chunk[65536];
	size_t count = 1;
	while (count > 0) {
		int rc = reader->read(reader, chunk, sizeof(chunk), &count, err);
		if (rc < 0)
			return rc;
		if (count > max - out->size)
			return error_set(err, ERROR_LIMIT, "more than %zu bytes", max);
		text_append(out, chunk, count);
	}
	return 0;
}

struct verifier {
	struct blob_reader reader, *from;
	struct digester *digester;
	char digest[DIGEST_TEXT_SIZE];
	uint64_t size, seen;
	struct error failure; /* stays */
	bool ended;
	char *kept;	/* its path in the content cache; NULL: no cache */
	char *incoming; /* the file that becomes `kept` once verified; NULL: `kept` exists */
	int fd;		/* of `incoming`; -1: it cannot be kept */
};

static void verifier_close(struct blob_reader *reader)
{
	struct verifier *verifier = (struct verifier *)reader;
	bool whole = verifier->ended && verifier->failure.code == 0 && verifier->fd >= 0;
	blob_reader_close(&verifier->from);
	cleanup_fd_(&verifier->fd);

	if (verifier->incoming != NULL) {
		uv_fs_t request = {0};
		if (!whole ||
		    uv_fs_rename(NULL, &request, verifier->incoming, verifier->kept, NULL) < 0)
			(void)file_remove_tree(verifier->incoming, NULL);
		uv_fs_req_cleanup(&request);
	} else if (verifier->kept != NULL && verifier->failure.code == ERROR_PROTOCOL) {
		(void)file_remove_tree(verifier->kept, NULL);
	}
	digester_free(&verifier->digester);
	free(verifier->kept);
	free(verifier->incoming);
	free(verifier);
}

static int verifier_next(struct verifier *verifier, void *out, size_t size, size_t *count,
			 struct error *err)
{
	char seen[DIGEST_TEXT_SIZE] = "";
	int rc = verifier->from->read(verifier->from, out, size, count, err);
	if (rc < 0)
		return rc;
	if (*count > verifier->size - verifier->seen)
		return error_set(err, ERROR_PROTOCOL, "%s is longer than the %llu bytes promised",
				 verifier->digest, (unsigned long long)verifier->size);
	verifier->seen += *count;
	digester_add(verifier->digester, out, *count);
	/* A full disk only means that it is not kept. */
	if (verifier->fd >= 0 && !file_write_all(verifier->fd, out, *count)) {
		cleanup_fd_(&verifier->fd);
		verifier->fd = -1;
	}
	if (*count > 0)
		return 0;

	verifier->ended = true;
	digester_end(verifier->digester, seen);
	if (verifier->size != UINT64_MAX && verifier->seen < verifier->size)
		return error_set(err, ERROR_PROTOCOL, "%s ends after %llu of %llu bytes",
				 verifier->digest, (unsigned long long)verifier->seen,
				 (unsigned long long)verifier->size);
	if (!text_equal(seen, verifier->digest))
		return error_set(err, ERROR_PROTOCOL, "the content of %s has the digest %s",
				 verifier->digest, seen);
	return 0;
}

static int verifier_read(struct blob_reader *reader, void *out, size_t size, size_t *count,
			 struct error *err)
{
	struct verifier *verifier = (struct verifier *)reader;
	*count = 0;
	if (verifier->failure.code == 0 && !verifier->ended && size > 0)
		(void)verifier_next(verifier, out, size, count, &verifier->failure);
	if (verifier->failure.code == 0)
		return 0;
	*count = 0;
	return error_copy(err, &verifier->failure);
}

int blob_verify(struct blob_reader *reader, const struct image_descriptor *what, const char *cache,
		bool is_copy, struct blob_reader **out, struct error *err)
{
	struct verifier *verifier = memory_allocate(1, sizeof(*verifier));
	struct blob_reader *owned CLEANUP_BLOB_READER = &verifier->reader;
	verifier->reader = (struct blob_reader){verifier_read, verifier_close};
	verifier->from = reader;
	verifier->size = what->size;
	verifier->fd = -1;
	int rc = digester_new(what->digest, &verifier->digester, err);
	if (rc < 0)
		return rc;
	memcpy(verifier->digest, what->digest, strlen(what->digest) + 1);
	if (cache != NULL)
		verifier->kept = blob_path(cache, what->digest);
	if (verifier->kept != NULL && !is_copy)
		verifier->fd = content_cache_begin(verifier->kept, &verifier->incoming);
	*out = STEAL(owned);
	return 0;
}

char *blob_path(const char *directory, const char *digest)
{
	return text_format("%s/%.6s/%s", directory, digest, digest + sizeof("sha256"));
}

/* Reads a file, or memory. */
struct content_reader {
	struct blob_reader reader;
	int fd; /* -1: memory */
	char *path;
	struct text text;
	size_t at;
};

static int content_read(struct blob_reader *reader, void *out, size_t size, size_t *count,
			struct error *err)
{
	struct content_reader *self = (struct content_reader *)reader;
	size_t left = self->text.size - self->at;
	if (self->fd >= 0)
		return file_read_some(self->fd, self->path, out, size, count, err);
	*count = size < left ? size : left;
	memcpy(out, text_string(&self->text) + self->at, *count);
	self->at += *count;
	return 0;
}

static void content_close(struct blob_reader *reader)
{
	struct content_reader *self = (struct content_reader *)reader;
	cleanup_fd_(&self->fd);
	free(self->path);
	text_free(&self->text);
	free(self);
}

static struct content_reader *content_new(void)
{
	struct content_reader *self = memory_allocate(1, sizeof(*self));
	*self = (struct content_reader){{content_read, content_close}, .fd = -1};
	return self;
}

int blob_file_open(const char *path, struct blob_reader **out, struct error *err)
{
	struct content_reader *self = content_new();
	struct blob_reader *owned CLEANUP_BLOB_READER = &self->reader;
	self->path = memory_copy(path);
	int rc = file_open_to_read(path, &self->fd, err);
	if (rc == 0)
		*out = STEAL(owned);
	return rc;
}

void blob_text_open(struct text *text, struct blob_reader **out)
{
	struct content_reader *self = content_new();
	self->text = *text;
	*text = (struct text){0};
	*out = &self->reader;
}
