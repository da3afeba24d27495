/* SPDX-License-Identifier: MIT */
#include "containers/registry/internal.h"

#include "base/file.h"
#include "base/path.h"

#include <string.h>
#include <uv.h>

struct image_stream {
	struct blob_reader verified;
	struct blob_reader *reader;
	struct digester *digester;
	char digest[DIGEST_TEXT_SIZE];
	uint64_t size, seen;
	struct error failure; /* stays */
	bool ended;
};

void image_stream_close(struct image_stream **stream)
{
	if (*stream == NULL)
		return;
	blob_reader_close(&(*stream)->reader);
	digester_free(&(*stream)->digester);
	free(*stream);
	*stream = NULL;
}

static int stream_read(struct blob_reader *verified, void *out, size_t size, size_t *count,
		       struct error *err)
{
	return image_stream_read((struct image_stream *)verified, out, size, count, err);
}

struct blob_reader *image_stream_reader(struct image_stream *stream)
{
	return &stream->verified;
}

int image_stream_new(struct blob_reader *reader, const char *digest, uint64_t size,
		     struct image_stream **out, struct error *err)
{
	struct blob_reader *owned CLEANUP_BLOB_READER = reader;
	struct image_stream *stream CLEANUP_IMAGE_STREAM = calloc(1, sizeof(*stream));
	if (stream == NULL)
		return error_memory(err);
	int rc = digester_new(digest, &stream->digester, err);
	if (rc < 0)
		return rc;
	memcpy(stream->digest, digest, strlen(digest) + 1);
	stream->size = size;
	stream->verified = (struct blob_reader){.read = stream_read, .is_copy = owned->is_copy};
	stream->reader = STEAL(owned);
	*out = STEAL(stream);
	return 0;
}

static int stream_end(struct image_stream *stream, struct error *err)
{
	char seen[DIGEST_TEXT_SIZE] = "";
	stream->ended = true;
	digester_end(stream->digester, seen);
	if (stream->size != UINT64_MAX && stream->seen < stream->size)
		return error_set(err, ERROR_PROTOCOL, "%s ends after %llu of %llu bytes",
				 stream->digest, (unsigned long long)stream->seen,
				 (unsigned long long)stream->size);
	if (strcmp(seen, stream->digest) != 0)
		return error_set(err, ERROR_PROTOCOL, "the content of %s has the digest %s",
				 stream->digest, seen);
	return 0;
}

static int stream_next(struct image_stream *stream, void *out, size_t size, size_t *count,
		       struct error *err)
{
	int rc = stream->reader->read(stream->reader, out, size, count, err);
	if (rc < 0)
		return rc;
	if (*count > stream->size - stream->seen)
		return error_set(err, ERROR_PROTOCOL, "%s is longer than the %llu bytes promised",
				 stream->digest, (unsigned long long)stream->size);
	stream->seen += *count;
	digester_add(stream->digester, out, *count);
	return *count == 0 ? stream_end(stream, err) : 0;
}

int image_stream_read(struct image_stream *stream, void *out, size_t size, size_t *count,
		      struct error *err)
{
	struct blob_reader *reader = stream->reader;
	*count = 0;
	if (stream->failure.code == 0 && !stream->ended && size > 0) {
		int rc = stream_next(stream, out, size, count, &stream->failure);
		if (reader->judged != NULL && (stream->ended || rc == ERROR_PROTOCOL))
			reader->judged(reader, rc == 0);
	}
	if (stream->failure.code == 0)
		return 0;
	*count = 0;
	return error_copy(err, &stream->failure);
}

int blob_read_all(struct blob_reader *reader, const char *name, struct text *out, struct error *err)
{
	char chunk[65536];
	size_t count = 0;
	int rc = 0;
	do {
		rc = reader->read(reader, chunk, sizeof(chunk), &count, err);
		if (rc == 0 && count > IMAGE_DOCUMENT_MAX - out->size)
			return error_set(err, ERROR_LIMIT, "%s is longer than %d bytes", name,
					 IMAGE_DOCUMENT_MAX);
		text_append(out, chunk, rc == 0 ? count : 0);
	} while (rc == 0 && count > 0);
	return rc == 0 && out->failed ? error_memory(err) : rc;
}

char *blob_path(const char *directory, const char *digest)
{
	return text_format("%s/%.6s/%s", directory, digest, digest + sizeof("sha256"));
}

void blob_file_remove(const char *path)
{
	uv_fs_t request = {0};
	(void)uv_fs_unlink(NULL, &request, path, NULL);
	uv_fs_req_cleanup(&request);
}

struct file_reader {
	struct blob_reader reader;
	int fd;
	char *path;
};

static int file_reader_read(struct blob_reader *reader, void *out, size_t size, size_t *count,
			    struct error *err)
{
	struct file_reader *file = (struct file_reader *)reader;
	return file_read_some(file->fd, file->path, out, size, count, err);
}

static void file_reader_close(struct blob_reader *reader)
{
	struct file_reader *file = (struct file_reader *)reader;
	cleanup_fd_(&file->fd);
	free(file->path);
	free(file);
}

static void file_reader_judged(struct blob_reader *reader, bool right)
{
	const struct file_reader *file = (const struct file_reader *)reader;
	if (!right && reader->is_copy)
		blob_file_remove(file->path);
}

int blob_file_open(const char *directory, const char *digest, bool is_copy,
		   struct blob_reader **out, struct error *err)
{
	if (!digest_is_valid(digest))
		return error_set(err, ERROR_ARGUMENT, "not a digest");
	struct file_reader *file = calloc(1, sizeof(*file));
	if (file == NULL)
		return error_memory(err);
	struct blob_reader *owned CLEANUP_BLOB_READER = &file->reader;
	file->reader = (struct blob_reader){file_reader_read, file_reader_close, file_reader_judged,
					    is_copy};
	file->fd = -1;
	file->path = blob_path(directory, digest);
	if (file->path == NULL)
		return error_memory(err);
	int rc = file_open_to_read(file->path, &file->fd, err);
	if (rc == ERROR_NOT_FOUND)
		return error_set(err, rc, "%s is not in %s", digest, directory);
	if (rc < 0)
		return rc;
	*out = STEAL(owned);
	return 0;
}

struct text_reader {
	struct blob_reader reader;
	struct text text;
	size_t at;
};

static int text_reader_read(struct blob_reader *reader, void *out, size_t size, size_t *count,
			    struct error *err)
{
	struct text_reader *self = (struct text_reader *)reader;
	size_t left = self->text.size - self->at;
	(void)err;
	*count = size < left ? size : left;
	memcpy(out, text_string(&self->text) + self->at, *count);
	self->at += *count;
	return 0;
}

static void text_reader_close(struct blob_reader *reader)
{
	text_free(&((struct text_reader *)reader)->text);
	free(reader);
}

int blob_text_open(struct text *text, struct blob_reader **out, struct error *err)
{
	struct text_reader *self = text->failed ? NULL : calloc(1, sizeof(*self));
	if (self == NULL)
		return error_memory(err);
	self->reader = (struct blob_reader){.read = text_reader_read, .close = text_reader_close};
	self->text = *text;
	*text = (struct text){0};
	*out = &self->reader;
	return 0;
}
