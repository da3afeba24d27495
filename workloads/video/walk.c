/* SPDX-License-Identifier: MIT */
#include "workloads/video/walk.h"

#include "base/cleanup.h"
#include "workloads/video/bits.h"

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
	return error_set(err, ERROR_ARGUMENT,
			 "'%s' is not a codec: the codecs are h264, hevc and av1", name);
}

/*
 * Sequence headers: ITU-T H.264, 7.3.2.1.1; ITU-T H.265, 7.3.2.2.1 and 7.3.3; the specification of
 * AV1, 5.5. Each function starts after the bytes that state the unit's type, and fills size,
 * profile, bits and `reduced`. False: the header makes no sense.
 */

enum { SIDE_MAX = 16384, CHROMA_420 = 1, CHROMA_422 = 2, CHROMA_444 = 3 };

/* The cropping of H.264 and HEVC: how much of the coded size is cut off at each side, in steps of
 * the samples of chroma, and of two rows where there are fields. */
static bool read_cropping(struct bits *bits, struct video_walk *walk, uint64_t width,
			  uint64_t height, uint32_t chroma, unsigned fields)
{
	uint64_t sides[4] = {0}; /* left, right, top, bottom */

	const bool cropped = bits_flag(bits);
	for (size_t i = 0; cropped && i < 4; i++)
		sides[i] = bits_read_ue(bits);
	const uint64_t cut_x =
		(sides[0] + sides[1]) * (chroma == CHROMA_420 || chroma == CHROMA_422 ? 2 : 1);
	const uint64_t cut_y = (sides[2] + sides[3]) * (chroma == CHROMA_420 ? 2 : 1) * fields;
	if (width == 0 || height == 0 || width > SIDE_MAX || height > SIDE_MAX || cut_x >= width ||
	    cut_y >= height)
		return false;
	walk->width = (unsigned)(width - cut_x);
	walk->height = (unsigned)(height - cut_y);
	return true;
}

static void skip_scaling_list(struct bits *bits, unsigned count)
{
	uint32_t last = 8, next = 8;

	for (unsigned i = 0; i < count && !bits->overrun; i++) {
		if (next != 0)
			next = (last + (uint32_t)bits_read_se(bits)) & 0xFFu;
		if (next != 0)
			last = next;
	}
}

static bool read_h264(struct bits *bits, struct video_walk *walk)
{
	/* Profiles whose header states format and depth of samples. */
	static const uint8_t high[] = {100, 110, 122, 244, 44,	83, 86,
				       118, 128, 138, 139, 134, 135};
	uint32_t chroma = CHROMA_420;

	walk->profile = bits_read(bits, 8);
	walk->bits = 8;
	bits_skip(bits, 16); /* constraints, level */
	bits_skip_ue(bits, 1);
	if (memchr(high, (int)walk->profile, sizeof(high)) != NULL) {
		chroma = bits_read_ue(bits);
		if (chroma == CHROMA_444)
			bits_skip(bits, 1);
		walk->bits = 8 + (bits_read_ue(bits) & 0xFu);
		bits_skip_ue(bits, 1);
		bits_skip(bits, 1);
		const bool scaled = bits_flag(bits);
		for (unsigned i = 0; scaled && i < (chroma == CHROMA_444 ? 12 : 8); i++) {
			if (bits_flag(bits))
				skip_scaling_list(bits, i < 6 ? 16 : 64);
		}
	}
	bits_skip_ue(bits, 1);

	const uint32_t order_type = bits_read_ue(bits);
	if (order_type == 0)
		bits_skip_ue(bits, 1);
	if (order_type == 1) {
		bits_skip(bits, 1);
		bits_skip_ue(bits, 2);
		bits_skip_ue(bits, bits_read_ue(bits));
	}

	bits_skip_ue(bits, 1); /* reference frames */
	bits_skip(bits, 1);
	const uint64_t width = ((uint64_t)bits_read_ue(bits) + 1) * 16;
	const uint64_t units = (uint64_t)bits_read_ue(bits) + 1;
	const unsigned fields = bits_flag(bits) ? 1 : 2;
	bits_skip(bits, fields); /* mb_adaptive_frame_field_flag, direct_8x8_inference_flag */
	return read_cropping(bits, walk, width, units * 16 * fields, chroma, fields) &&
	       !bits->overrun;
}

static bool read_hevc(struct bits *bits, struct video_walk *walk)
{
	bits_skip(bits, 4);
	const unsigned sub_layers = bits_read(bits, 3);
	bits_skip(bits, 1);

	/* profile_tier_level(): 88 bits of the profile, 8 of the level, and those of the sub-layers. */
	unsigned present = 0; /* bits of all sub-layers */
	bits_skip(bits, 3);
	walk->profile = bits_read(bits, 5);
	bits_skip(bits, 80 + 8);
	for (unsigned i = 0; i < sub_layers; i++) {
		present += bits_flag(bits) ? 88 : 0;
		present += bits_flag(bits) ? 8 : 0;
	}
	bits_skip(bits, (sub_layers > 0 ? 2 * (8 - sub_layers) : 0) + present);

	bits_skip_ue(bits, 1);
	const uint32_t chroma = bits_read_ue(bits);
	if (chroma == CHROMA_444)
		bits_skip(bits, 1);
	const uint64_t width = bits_read_ue(bits);
	const uint64_t height = bits_read_ue(bits);
	const bool sized = read_cropping(bits, walk, width, height, chroma, 1);
	walk->bits = 8 + (bits_read_ue(bits) & 0xFu);
	return sized && !bits->overrun;
}

/* timing_info(), decoder_model_info() and the operating points. */
static void skip_operating_points(struct bits *bits)
{
	unsigned delay_bits = 0; /* buffer_delay_length; 0 without a decoder model */

	if (bits_flag(bits)) {
		bits_skip(bits, 64);
		if (bits_flag(bits))
			bits_skip_ue(bits, 1);
		if (bits_flag(bits)) {
			delay_bits = bits_read(bits, 5) + 1;
			bits_skip(bits, 32 + 5 + 5);
		}
	}
	const bool delays = bits_flag(bits);
	const unsigned points = bits_read(bits, 5) + 1;
	for (unsigned i = 0; i < points && !bits->overrun; i++) {
		bits_skip(bits, 12);
		if (bits_read(bits, 5) > 7)
			bits_skip(bits, 1);
		if (delay_bits != 0 && bits_flag(bits))
			bits_skip(bits, 2 * delay_bits + 1);
		if (delays && bits_flag(bits))
			bits_skip(bits, 4);
	}
}

static bool read_av1(struct bits *bits, struct video_walk *walk)
{
	walk->profile = bits_read(bits, 3);
	bits_skip(bits, 1);
	walk->reduced = bits_flag(bits);
	if (walk->reduced)
		bits_skip(bits, 5);
	else
		skip_operating_points(bits);
	const unsigned width_bits = bits_read(bits, 4) + 1;
	const unsigned height_bits = bits_read(bits, 4) + 1;
	walk->width = bits_read(bits, width_bits) + 1;
	walk->height = bits_read(bits, height_bits) + 1;

	/* The enabled tools. */
	if (!walk->reduced && bits_flag(bits))
		bits_skip(bits, 4 + 3); /* lengths of frame ids */
	bits_skip(bits, 3);
	if (!walk->reduced) {
		bits_skip(bits, 4);
		const bool order_hint = bits_flag(bits);
		bits_skip(bits, order_hint ? 2 : 0);
		const bool choose_screen = bits_flag(bits);
		if ((choose_screen || bits_flag(bits)) && !bits_flag(bits))
			bits_skip(bits, 1);
		bits_skip(bits, order_hint ? 3 : 0);
	}
	bits_skip(bits, 3); /* superres, cdef, restoration */

	const bool high = bits_flag(bits);
	if (walk->profile == 2 && high && bits_flag(bits))
		walk->bits = 12;
	else
		walk->bits = high ? 10 : 8;
	return !bits->overrun;
}

static bool (*const read_header[VIDEO_CODECS])(struct bits *bits, struct video_walk *walk) = {
	[VIDEO_H264] = read_h264,
	[VIDEO_HEVC] = read_hevc,
	[VIDEO_AV1] = read_av1,
};

enum unit_kind { UNIT_OTHER, UNIT_HEADER, UNIT_SEQUENCE, UNIT_PICTURE, UNIT_KEY };

struct unit {
	enum unit_kind kind;
	size_t at;	  /* in the stream, for errors */
	struct bits bits; /* after the type */
};

/* nal_unit_type of H.264 and HEVC, table 7-1 of both, and obu_type, 6.2.2. Whether an AV1 frame is a
 * key frame, its header says. */
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
	    !read_header[codec](&unit->bits, walk))
		return wrong(unit->at, "a sequence header that makes no sense", err);
	if (unit->kind != UNIT_PICTURE && unit->kind != UNIT_KEY)
		return 0;
	if (walk->width == 0)
		return wrong(unit->at, "a picture before the first sequence header", err);

	bool shown = true;
	bool key = true;
	if (codec == VIDEO_AV1) {
		/* uncompressed_header(): show_existing_frame, frame_type (0: a key frame), show_frame. */
		if (!walk->reduced) {
			const bool again = bits_flag(&unit->bits);
			key = !again && bits_read(&unit->bits, 2) == 0;
			shown = again || bits_flag(&unit->bits);
		}
	} else {
		/* A picture's first slice: first_mb_in_slice is 0 (ue(v) "1"), or
		 * first_slice_segment_in_pic_flag is 1. */
		shown = bits_flag(&unit->bits);
		key = unit->kind == UNIT_KEY;
	}
	walk->pictures += shown;
	walk->keys += shown && key;
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

/* The NAL unit after the start code at *at, which moves to the next one. */
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

/* The open bitstream unit at *at, which moves to the next one. */
static int next_obu(const uint8_t *data, size_t size, size_t *at, struct unit *unit,
		    struct error *err)
{
	const size_t begin = (*at)++;
	const uint8_t head = data[begin];
	uint64_t length = 0;

	if ((head & 0x81) != 0 || (head & 2) == 0)
		return wrong(begin, "not an AV1 unit that states its size", err);
	*at += (head & 4) != 0; /* its extension */
	/* leb128(), of at most 32 bits */
	bool complete = false;
	for (unsigned i = 0; i < 8 && *at < size && !complete; i++) {
		const uint8_t byte = data[(*at)++];
		length |= (uint64_t)(byte & 0x7F) << (7 * i);
		complete = (byte & 0x80) == 0;
	}
	if (!complete || length > UINT32_MAX || length > size - *at)
		return wrong(begin, "a unit that ends after the stream", err);
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

	*walk = (struct video_walk){0};
	if (size == 0)
		return error_set(err, ERROR_FORMAT, "the stream is empty");
	for (size_t i = 0; i < start; i++) {
		if (data[i] != 0 || start == size)
			return wrong(i, "no start code of a NAL unit", err);
	}

	size_t at = start;
	while (at < size) {
		struct unit unit = {0};
		int rc = codec == VIDEO_AV1 ? next_obu(data, size, &at, &unit, err)
					    : next_nal_unit(codec, data, size, &at, &unit, err);
		if (rc == 0)
			rc = walk_unit(codec, &unit, walk, err);
		if (rc != 0)
			return rc;
	}
	if (walk->pictures == 0)
		return error_set(err, ERROR_FORMAT, "the stream holds %zu units and no picture",
				 walk->units);
	return 0;
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
