/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "containers/judging/contents/internal.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_LOOK = 256 * 1024, GROWTH = 64 * 1024 };

/* A piece that holds `offset`, or will. */
static struct capture_piece *find_piece(struct capture *capture, uint64_t offset)
{
	for (size_t i = 0; i < capture->piece_count; i++) {
		struct capture_piece *piece = &capture->pieces[i];
		if (offset >= piece->offset && offset - piece->offset < piece->size)
			return piece;
	}
	return NULL;
}

/* Succeeds once the range has passed; before, ERROR_BUSY. A range that no piece has is kept from now
 * on. */
static int want(struct capture *capture, uint64_t offset, uint64_t size, struct error *err)
{
	const struct capture_piece *piece = find_piece(capture, offset);
	if (piece == NULL) {
		if (offset < capture->position)
			return error_set(err, ERROR_LIMIT, "byte %llu has passed",
					 (unsigned long long)offset);
		if (size > capture->size - offset)
			size = capture->size - offset;
		if (capture->piece_count == CAPTURE_PIECES_MAX ||
		    size > CONTENTS_KEPT_MAX - capture->kept)
			return error_set(err, ERROR_LIMIT, "its headers do not fit %d bytes",
					 (int)CONTENTS_KEPT_MAX);
		capture->pieces[capture->piece_count] =
			(struct capture_piece){.offset = offset, .size = size};
		piece = &capture->pieces[capture->piece_count++];
	}
	const uint64_t end = piece->offset + piece->size;
	capture->ready = size < end - offset ? offset + size : end;
	if (capture->ready <= capture->position)
		return 0;
	return error_set(err, ERROR_BUSY, "byte %llu has not passed yet",
			 (unsigned long long)offset);
}

static int expect(void *user, uint64_t offset, uint64_t size, struct error *err)
{
	struct capture *capture = user;
	return offset < capture->size ? want(capture, offset, size, err) : 0;
}

static int read_at(void *user, uint64_t offset, void *out, size_t size, size_t *got,
		   struct error *err)
{
	struct capture *capture = user;
	*got = 0;
	if (offset >= capture->size)
		return 0;
	if (size > capture->size - offset)
		size = (size_t)(capture->size - offset);
	int rc = want(capture, offset, size, err);
	const struct capture_piece *piece = find_piece(capture, offset);
	if (rc < 0 || piece == NULL)
		return rc;
	const size_t start = (size_t)(offset - piece->offset);
	*got = piece->filled > start ? piece->filled - start : 0;
	if (*got > size)
		*got = size;
	memcpy(out, piece->data + start, *got);
	return 0;
}

void capture_begin(struct capture *capture, uint64_t size)
{
	*capture = (struct capture){.size = size, .ready = size < FIRST_LOOK ? size : FIRST_LOOK};
	capture->source =
		(struct byte_source){.read_at = read_at, .expect = expect, .user = capture};
	capture->pieces[capture->piece_count++] = (struct capture_piece){
		.size = size < CONTENTS_KEPT_MAX / 2 ? size : CONTENTS_KEPT_MAX / 2};
}

/* Copies the part of the data that lies in the piece; a gap before it is zero. */
static void keep(struct capture *capture, struct capture_piece *piece, uint64_t offset,
		 const unsigned char *data, size_t size)
{
	const uint64_t end = offset + size;
	const uint64_t from = offset > piece->offset ? offset : piece->offset;
	const uint64_t to = end < piece->offset + piece->size ? end : piece->offset + piece->size;
	if (from >= to)
		return;

	const size_t filled = (size_t)(to - piece->offset);
	if (filled > piece->room) {
		size_t room = piece->room * 2 > filled ? piece->room * 2 : filled + GROWTH;
		if (room > piece->size)
			room = (size_t)piece->size;
		piece->data = memory_resize(piece->data, room, 1);
		memset(piece->data + piece->room, 0, room - piece->room);
		piece->room = room;
	}
	memcpy(piece->data + (from - piece->offset), data + (from - offset), (size_t)(to - from));
	capture->kept += filled - piece->filled;
	piece->filled = filled;
}

int capture_feed(struct capture *capture, uint64_t offset, const void *data, size_t size,
		 struct error *err)
{
	if (offset < capture->position || offset > capture->size || size > capture->size - offset)
		return error_set(err, ERROR_FORMAT,
				 "a file's content does not stay within its size");
	for (size_t i = 0; i < capture->piece_count; i++)
		keep(capture, &capture->pieces[i], offset, data, size);
	capture->position = offset + size;
	return 0;
}

void capture_end(struct capture *capture)
{
	for (size_t i = 0; i < capture->piece_count; i++)
		free(capture->pieces[i].data);
	*capture = (struct capture){0};
}
