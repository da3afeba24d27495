/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "workloads/video/walk_internal.h"

#include <string.h>

const char *const video_codec_names[VIDEO_CODECS] = {"h264", "hevc", "av1"};

int video_codec_find(const char *name, enum video_codec *codec, struct error *err)
{
	for (int i = 0; i < VIDEO_CODECS; i++) {
		if (strcmp(video_codec_names[i], name) != 0)
			continue;
		*codec = (enum video_codec)i;
		return 0;
	}
	return error_set(err, ERROR_ARGUMENT, "'%s' is no codec: h264, hevc and av1 are", name);
}

enum unit_kind { UNIT_OTHER, UNIT_HEADER, UNIT_SEQUENCE, UNIT_PICTURE, UNIT_KEY };

struct unit {
	enum unit_kind kind;
	size_t at;	  /* of the stream, for errors */
	struct bits bits; /* behind what tells the kind */
};

/* nal_unit_type of H.264 and HEVC, table 7-1 of both, and obu_type, 6.2.2. What an AV1 frame is, its
 * header tells. */
static enum unit_kind kind_of(enum video_codec codec, unsigned type)
{
	static const struct {
		enum video_codec codec;
		unsigned first, last;
		enum unit_kind kind;
	} rows[] = {
		{VIDEO_H264, 1, 1, UNIT_PICTURE},  {VIDEO_H264, 5, 5, UNIT_KEY},
		{VIDEO_H264, 7, 7, UNIT_SEQUENCE}, {VIDEO_H264, 8, 8, UNIT_HEADER},
		{VIDEO_HEVC, 0, 9, UNIT_PICTURE},  {VIDEO_HEVC, 16, 23, UNIT_KEY},
		{VIDEO_HEVC, 32, 32, UNIT_HEADER}, {VIDEO_HEVC, 33, 33, UNIT_SEQUENCE},
		{VIDEO_HEVC, 34, 34, UNIT_HEADER}, {VIDEO_AV1, 1, 1, UNIT_SEQUENCE},
		{VIDEO_AV1, 3, 3, UNIT_PICTURE},   {VIDEO_AV1, 6, 6, UNIT_PICTURE},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].codec == codec && type >= rows[i].first && type <= rows[i].last)
			return rows[i].kind;
	}
	return UNIT_OTHER;
}

/* The first slice of a picture: first_mb_in_slice is 0 (ue(v) "1"), or first_slice_segment_in_pic_flag
 * is 1. */
static void count_slice(struct unit *unit, struct video_walk *walk)
{
	const bool first = bits_flag(&unit->bits);
	walk->pictures += first;
	walk->keys += first && unit->kind == UNIT_KEY;
}

/* uncompressed_header(): show_existing_frame, frame_type (0: a key frame), show_frame. */
static void count_frame(struct unit *unit, struct video_walk *walk)
{
	const bool again = !walk->reduced && bits_flag(&unit->bits);
	const bool key = walk->reduced || (!again && bits_read(&unit->bits, 2) == 0);
	const bool shown = walk->reduced || again || bits_flag(&unit->bits);
	walk->pictures += shown;
	walk->keys += shown && key;
}

static int wrong(size_t at, const char *what, struct error *err)
{
	return error_set(err, ERROR_FORMAT, "byte %zu: %s", at, what);
}

static int walk_unit(enum video_codec codec, struct unit *unit, struct video_walk *walk,
		     struct error *err)
{
	walk->units++;
	walk->headers += unit->kind == UNIT_SEQUENCE || unit->kind == UNIT_HEADER;
	if (unit->kind == UNIT_SEQUENCE && walk->width == 0 &&
	    !walk_headers[codec](&unit->bits, walk))
		return wrong(unit->at, "a sequence header that makes no sense", err);
	if (unit->kind != UNIT_PICTURE && unit->kind != UNIT_KEY)
		return 0;
	if (walk->width == 0)
		return wrong(unit->at, "a picture before the first sequence header", err);
	if (codec == VIDEO_AV1)
		count_frame(unit, walk);
	else
		count_slice(unit, walk);
	return 0;
}

size_t video_start_code(const uint8_t *data, size_t size, size_t from)
{
	for (size_t i = from; i + 3 <= size; i++) {
		if (data[i] == 0 && data[i + 1] == 0 && data[i + 2] == 1)
			return i;
	}
	return size;
}

/* A NAL unit behind the start code at *at, which goes to the next one. */
static int next_nal_unit(enum video_codec codec, const uint8_t *data, size_t size, size_t *at,
			 struct unit *unit, struct error *err)
{
	const size_t head = codec == VIDEO_HEVC ? 2 : 1;
	const size_t begin = *at + 3;
	size_t end = *at = video_start_code(data, size, begin);
	while (end > begin && data[end - 1] == 0)
		end--;
	if (end - begin <= head)
		return wrong(begin, "a NAL unit without content", err);
	const unsigned first = data[begin];
	if ((first & 0x80) != 0)
		return wrong(begin, "a NAL unit whose first bit is set", err);
	*unit = (struct unit){
		.kind = kind_of(codec, codec == VIDEO_HEVC ? first >> 1 : first & 0x1F),
		.at = begin,
		.bits = {.data = data + begin + head, .size = end - begin - head, .escaped = true},
	};
	return 0;
}

/* leb128(). False: it goes on behind the end, or is longer than 32 bits. */
static bool read_size(const uint8_t *data, size_t size, size_t *at, uint64_t *out)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < 8 && *at < size; i++) {
		const uint8_t byte = data[(*at)++];
		value |= (uint64_t)(byte & 0x7F) << (7 * i);
		*out = value;
		if ((byte & 0x80) == 0)
			return value <= UINT32_MAX;
	}
	return false;
}

/* An open bitstream unit at *at, which goes behind it. */
static int next_obu(const uint8_t *data, size_t size, size_t *at, struct unit *unit,
		    struct error *err)
{
	const size_t begin = (*at)++;
	const uint8_t head = data[begin];
	uint64_t length = 0;
	if ((head & 0x81) != 0 || (head & 2) == 0)
		return wrong(begin, "no unit of AV1 that tells its size", err);
	*at += (head & 4) != 0; /* its extension */
	if (!read_size(data, size, at, &length) || length > size - *at)
		return wrong(begin, "a unit that ends behind the stream", err);
	*unit = (struct unit){
		.kind = kind_of(VIDEO_AV1, head >> 3),
		.at = begin,
		.bits = {.data = data + *at, .size = (size_t)length},
	};
	*at += (size_t)length;
	return 0;
}

int video_walk(enum video_codec codec, const uint8_t *data, size_t size, struct video_walk *walk,
	       struct error *err)
{
	const size_t start = codec == VIDEO_AV1 ? 0 : video_start_code(data, size, 0);
	size_t at = start;
	int rc = 0;
	*walk = (struct video_walk){0};
	if (size == 0)
		return error_set(err, ERROR_FORMAT, "the stream is empty");
	for (size_t i = 0; i < start; i++) {
		if (data[i] != 0 || start == size)
			return wrong(i, "no start code of a NAL unit", err);
	}
	while (rc == 0 && at < size) {
		struct unit unit = {0};
		rc = codec == VIDEO_AV1 ? next_obu(data, size, &at, &unit, err)
					: next_nal_unit(codec, data, size, &at, &unit, err);
		if (rc == 0)
			rc = walk_unit(codec, &unit, walk, err);
	}
	return rc != 0 || walk->pictures != 0
		       ? rc
		       : error_set(err, ERROR_FORMAT, "the stream holds %zu units and no picture",
				   walk->units);
}

int video_walk_frames(enum video_codec codec, const uint8_t *data, size_t size,
		      const struct video_source *source, struct video_walk *walk, struct error *err)
{
	int rc = video_walk(codec, data, size, walk, err);
	if (rc != 0)
		return rc;
	if (walk->width != source->width || walk->height != source->height)
		return error_set(err, ERROR_LIMIT, "the stream is %u by %u, not %u by %u",
				 walk->width, walk->height, source->width, source->height);
	if (walk->bits != 8)
		return error_set(err, ERROR_LIMIT, "the samples have %u bits, not 8", walk->bits);
	if (walk->pictures != VIDEO_FRAMES)
		return error_set(err, ERROR_LIMIT, "the stream holds %zu pictures, not %d",
				 walk->pictures, VIDEO_FRAMES);
	return 0;
}
