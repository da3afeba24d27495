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

/* What a NAL unit is to the walk. */
enum unit_kind { UNIT_OTHER, UNIT_HEADER, UNIT_SEQUENCE, UNIT_PICTURE, UNIT_KEY };

/* nal_unit_type of H.264, table 7-1, and of HEVC, table 7-1 there. */
static enum unit_kind h264_kind(uint8_t first)
{
	switch (first & 0x1F) {
	case 1:
		return UNIT_PICTURE;
	case 5:
		return UNIT_KEY;
	case 7:
		return UNIT_SEQUENCE;
	case 8:
		return UNIT_HEADER;
	default:
		return UNIT_OTHER;
	}
}

static enum unit_kind hevc_kind(uint8_t first)
{
	const unsigned type = first >> 1 & 0x3F;
	if (type == 33)
		return UNIT_SEQUENCE;
	if (type == 32 || type == 34)
		return UNIT_HEADER;
	if (type >= 16 && type <= 23)
		return UNIT_KEY;
	return type < 10 ? UNIT_PICTURE : UNIT_OTHER;
}

/* One unit from `data` on. */
static int walk_unit(enum video_codec codec, const uint8_t *data, size_t size, size_t at,
		     struct video_walk *walk, struct error *err)
{
	const size_t head = codec == VIDEO_HEVC ? 2 : 1;
	if (size <= head)
		return error_set(err, ERROR_FORMAT, "byte %zu: a NAL unit without content", at);
	if ((data[0] & 0x80) != 0)
		return error_set(err, ERROR_FORMAT, "byte %zu: a NAL unit whose first bit is set",
				 at);
	const enum unit_kind kind = codec == VIDEO_HEVC ? hevc_kind(data[0]) : h264_kind(data[0]);
	struct bits bits = {.data = data + head, .size = size - head, .escaped = true};
	walk->units++;
	walk->headers += kind == UNIT_SEQUENCE || kind == UNIT_HEADER;
	if (kind == UNIT_SEQUENCE && walk->width == 0 &&
	    !(codec == VIDEO_HEVC ? walk_hevc_header(&bits, walk) : walk_h264_header(&bits, walk)))
		return error_set(err, ERROR_FORMAT,
				 "byte %zu: a sequence parameter set that makes no sense", at);
	if (kind != UNIT_PICTURE && kind != UNIT_KEY)
		return 0;
	if (walk->width == 0)
		return error_set(err, ERROR_FORMAT,
				 "byte %zu: a picture before the first sequence parameter set", at);
	/* The first slice of a picture: first_mb_in_slice is 0 (ue(v) "1"), or
	 * first_slice_segment_in_pic_flag is 1. */
	if (bits_read(&bits, 1) == 1) {
		walk->pictures++;
		walk->keys += kind == UNIT_KEY;
	}
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

static int walk_nal_units(enum video_codec codec, const uint8_t *data, size_t size,
			  struct video_walk *walk, struct error *err)
{
	size_t start = video_start_code(data, size, 0);
	for (size_t i = 0; i < start; i++) {
		if (data[i] != 0 || start == size)
			return error_set(err, ERROR_FORMAT, "byte %zu: no start code of a NAL unit",
					 i);
	}
	while (start < size) {
		const size_t begin = start + 3;
		const size_t next = video_start_code(data, size, begin);
		size_t end = next;
		while (end > begin && data[end - 1] == 0)
			end--;
		int rc = walk_unit(codec, data + begin, end - begin, begin, walk, err);
		if (rc != 0)
			return rc;
		start = next;
	}
	return 0;
}

int video_walk(enum video_codec codec, const uint8_t *data, size_t size, struct video_walk *walk,
	       struct error *err)
{
	*walk = (struct video_walk){0};
	if (size == 0)
		return error_set(err, ERROR_FORMAT, "the stream is empty");
	int rc = codec == VIDEO_AV1 ? walk_av1(data, size, walk, err)
				    : walk_nal_units(codec, data, size, walk, err);
	if (rc != 0)
		return rc;
	return walk->pictures != 0
		       ? 0
		       : error_set(err, ERROR_FORMAT, "the stream holds %zu units and no picture",
				   walk->units);
}
