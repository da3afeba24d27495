/* SPDX-License-Identifier: MIT */
/* Open bitstream units: AV1 bitstream and decoding process specification, sections 5.3 to 5.5 and
 * 5.9. */
#include "workloads/video/walk_internal.h"

enum {
	OBU_SEQUENCE = 1,
	OBU_FRAME_HEADER = 3,
	OBU_FRAME = 6,
	FRAME_KEY = 0,
};

struct av1 {
	struct video_walk *walk;
	bool reduced; /* reduced_still_picture_header: no frame says whether it is shown */
};

/* timing_info() and decoder_model_info(). Returns buffer_delay_length, 0 without a model. */
static unsigned read_timing(struct bits *bits)
{
	unsigned length = 0;
	bits_skip(bits, 64);
	if (bits_read(bits, 1) == 1)
		(void)bits_read_ue(bits);
	if (bits_read(bits, 1) == 1) {
		length = bits_read(bits, 5) + 1;
		bits_skip(bits, 32 + 5 + 5);
	}
	return length;
}

static void skip_operating_points(struct bits *bits)
{
	unsigned delay_bits = 0;
	if (bits_read(bits, 1) == 1)
		delay_bits = read_timing(bits);
	const uint32_t delays_told = bits_read(bits, 1);
	const unsigned points = bits_read(bits, 5) + 1;
	for (unsigned i = 0; i < points && !bits->overrun; i++) {
		bits_skip(bits, 12);
		if (bits_read(bits, 5) > 7)
			bits_skip(bits, 1);
		if (delay_bits != 0 && bits_read(bits, 1) == 1)
			bits_skip(bits, 2 * delay_bits + 1);
		if (delays_told == 1 && bits_read(bits, 1) == 1)
			bits_skip(bits, 4);
	}
}

/* What of enabled tools stands between the size and color_config(). */
static void skip_tools(struct bits *bits, bool reduced)
{
	if (!reduced && bits_read(bits, 1) == 1)
		bits_skip(bits, 4 + 3); /* lengths of frame ids */
	bits_skip(bits, 3);
	if (reduced)
		return;
	bits_skip(bits, 4);
	const uint32_t order_hint = bits_read(bits, 1);
	bits_skip(bits, order_hint == 1 ? 2 : 0);
	const bool choose_screen = bits_read(bits, 1) == 1;
	const uint32_t force_screen = choose_screen ? 2 : bits_read(bits, 1);
	if (force_screen > 0 && bits_read(bits, 1) == 0)
		bits_skip(bits, 1);
	bits_skip(bits, order_hint == 1 ? 3 : 0);
}

static bool read_sequence(struct av1 *av1, struct bits *bits)
{
	struct video_walk *walk = av1->walk;
	walk->profile = bits_read(bits, 3);
	bits_skip(bits, 1);
	av1->reduced = bits_read(bits, 1) == 1;
	if (av1->reduced)
		bits_skip(bits, 5);
	else
		skip_operating_points(bits);
	const unsigned width_bits = bits_read(bits, 4) + 1;
	const unsigned height_bits = bits_read(bits, 4) + 1;
	walk->width = bits_read(bits, width_bits) + 1;
	walk->height = bits_read(bits, height_bits) + 1;
	skip_tools(bits, av1->reduced);
	bits_skip(bits, 3); /* superres, cdef, restoration */
	const bool high = bits_read(bits, 1) == 1;
	const bool twelve = walk->profile == 2 && high && bits_read(bits, 1) == 1;
	walk->bits = twelve ? 12 : high ? 10 : 8;
	return !bits->overrun;
}

static void read_frame(const struct av1 *av1, struct bits *bits)
{
	bool key = true, shown = true;
	if (!av1->reduced && bits_read(bits, 1) == 1) { /* show_existing_frame */
		av1->walk->pictures++;
		return;
	}
	if (!av1->reduced) {
		key = bits_read(bits, 2) == FRAME_KEY;
		shown = bits_read(bits, 1) == 1;
	}
	av1->walk->pictures += shown;
	av1->walk->keys += shown && key;
}

/* leb128(). False: it goes on behind the end, or is longer than 32 bits. */
static bool read_size(const uint8_t *data, size_t size, size_t *at, size_t *out)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < 8; i++) {
		if (*at >= size)
			return false;
		const uint8_t byte = data[(*at)++];
		value |= (uint64_t)(byte & 0x7F) << (7 * i);
		if ((byte & 0x80) == 0) {
			*out = (size_t)value;
			return value <= UINT32_MAX;
		}
	}
	return false;
}

static int walk_obu(struct av1 *av1, unsigned type, const uint8_t *data, size_t size, size_t at,
		    struct error *err)
{
	struct bits bits = {.data = data, .size = size};
	av1->walk->units++;
	if (type == OBU_SEQUENCE) {
		struct video_walk first = *av1->walk;
		av1->walk->headers++;
		if (!read_sequence(av1, &bits))
			return error_set(err, ERROR_FORMAT,
					 "byte %zu: a sequence header that makes no sense", at);
		if (first.width != 0) {
			first.headers++;
			*av1->walk = first;
		}
	}
	if (type != OBU_FRAME && type != OBU_FRAME_HEADER)
		return 0;
	if (av1->walk->headers == 0)
		return error_set(err, ERROR_FORMAT,
				 "byte %zu: a frame before the first sequence header", at);
	read_frame(av1, &bits);
	return 0;
}

int walk_av1(const uint8_t *data, size_t size, struct video_walk *walk, struct error *err)
{
	struct av1 av1 = {.walk = walk};
	size_t at = 0;
	while (at < size) {
		const size_t begin = at;
		const uint8_t head = data[at++];
		const bool extended = (head & 4) != 0;
		size_t length = 0;
		if ((head & 0x81) != 0 || (head & 2) == 0)
			return error_set(err, ERROR_FORMAT,
					 "byte %zu: no unit of AV1 that tells its size", begin);
		at += extended;
		if (!read_size(data, size, &at, &length) || length > size - at)
			return error_set(err, ERROR_FORMAT,
					 "byte %zu: a unit that ends behind the stream", begin);
		int rc = walk_obu(&av1, head >> 3 & 0xF, data + at, length, begin, err);
		if (rc != 0)
			return rc;
		at += length;
	}
	return 0;
}
