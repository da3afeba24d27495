/* SPDX-License-Identifier: MIT */
/* ITU-T H.264: 7.3.2.1.1 (sequence parameter set), 7.3.2.2 (picture parameter set), 7.3.3 (slice
 * header), 7.3.5 (macroblock layer). */
#include "workloads/doubles/h264_pcm.h"

#include "workloads/doubles/settings.h"

#include <string.h>

enum { MACROBLOCK = 16, NAL_IDR = 0x65, NAL_SLICE = 0x61, I_PCM = 25, I_IN_P = 5 };

void h264_put_bits(struct h264_bits *out, unsigned value, unsigned count)
{
	for (unsigned i = count; i-- > 0;) {
		out->partial = out->partial << 1 | (value >> i & 1u);
		if (++out->count < 8)
			continue;
		const char byte = (char)out->partial;
		text_append(&out->bytes, &byte, 1);
		out->partial = 0;
		out->count = 0;
	}
}

void h264_put_ue(struct h264_bits *out, unsigned value)
{
	unsigned length = 1;
	while (value + 1 >= 2u << (length - 1))
		length++;
	h264_put_bits(out, 0, length - 1);
	h264_put_bits(out, value + 1, length);
}

void h264_add_escaped(const char *data, size_t size, struct text *stream)
{
	unsigned zeros = 0;
	for (size_t i = 0; i < size; i++) {
		const char byte = data[i];
		if (zeros == 2 && (uint8_t)byte <= 3)
			text_append(stream, "\3", 1);
		zeros = zeros == 2 && (uint8_t)byte <= 3 ? 0 : zeros;
		zeros = byte == 0 ? zeros + 1 : 0;
		text_append(stream, &byte, 1);
	}
}

void h264_align(struct h264_bits *out)
{
	while (out->count != 0)
		h264_put_bits(out, 0, 1);
}

void h264_end_unit(struct h264_bits *out, uint8_t head, struct text *stream)
{
	h264_put_bits(out, 1, 1);
	h264_align(out);
	text_append(stream, "\0\0\0\1", 4);
	text_append(stream, (const char *)&head, 1);
	h264_add_escaped(out->bytes.data, out->bytes.size, stream);
	text_free(&out->bytes);
}

static void put_headers(const struct video_source *source, struct text *stream)
{
	struct h264_bits out = {0};
	const unsigned extra = setting_has("size") ? 1 : 0;
	h264_put_bits(&out, 66u << 16 | 0xC0u << 8 | 40u, 24); /* baseline, level 4 */
	h264_put_ue(&out, 0);
	h264_put_ue(&out, 0); /* frame_num has 4 bits */
	h264_put_ue(&out, 2); /* pictures are shown in coding order */
	h264_put_ue(&out, 1);
	h264_put_bits(&out, 0, 1);
	h264_put_ue(&out, source->width / MACROBLOCK - 1 + extra);
	h264_put_ue(&out, source->height / MACROBLOCK - 1);
	h264_put_bits(&out, 0xC, 4); /* frames only, direct_8x8_inference; no cropping, no VUI */
	h264_end_unit(&out, H264_SPS, stream);
	h264_put_ue(&out, 0);
	h264_put_ue(&out, 0);
	h264_put_bits(&out, 0, 2);
	h264_put_ue(&out, 0);
	h264_put_ue(&out, 0);
	h264_put_ue(&out, 0);
	h264_put_bits(&out, 0, 3);
	h264_put_ue(&out, 0);
	h264_put_ue(&out, 0);
	h264_put_ue(&out, 0);
	h264_put_bits(&out, 4, 3); /* slices state whether they are deblocked */
	h264_end_unit(&out, H264_PPS, stream);
}

void h264_put_block(struct h264_bits *out, const struct video_planes *frame, size_t size, size_t x,
		    size_t y)
{
	h264_align(out);
	for (unsigned plane = 0; plane < VIDEO_PLANES; plane++) {
		const size_t scale = plane == 0 ? 1 : 2, side = size / scale;
		for (size_t row = 0; row < side; row++)
			text_append(&out->bytes,
				    (const char *)frame->data[plane] +
					    (y / scale + row) * frame->pitch[plane] + x / scale,
				    side);
	}
}

static void put_macroblock(struct h264_bits *out, bool predicted, const struct video_planes *frame,
			   unsigned x, unsigned y)
{
	if (predicted)
		h264_put_ue(out, 0); /* none is skipped */
	h264_put_ue(out, predicted ? I_IN_P + I_PCM : I_PCM);
	h264_put_block(out, frame, MACROBLOCK, (size_t)x * MACROBLOCK, (size_t)y * MACROBLOCK);
}

static void put_slice_header(const struct h264_pcm *writer, bool predicted, struct h264_bits *out)
{
	const bool given = writer->given != NULL;
	h264_put_ue(out, 0);
	h264_put_ue(out, predicted ? 5 : 7); /* every slice is P, or I */
	h264_put_ue(out, 0);
	h264_put_bits(out, given ? writer->slice.number : 0, given ? writer->number_bits : 4);
	if (!predicted)
		h264_put_ue(out, writer->count % 2);
	h264_put_bits(out, given ? writer->slice.order : 0, given ? writer->order_bits : 0);
	h264_put_bits(out, 0, predicted ? 3 : 2); /* default lists and marking */
	h264_put_ue(out, 0);
	h264_put_ue(out, 1); /* not deblocked */
}

static void put_picture(const struct h264_pcm *writer, const struct video_planes *frame,
			struct text *stream)
{
	const bool predicted = writer->given != NULL && writer->slice.predicted;
	struct h264_bits out = {0};
	put_slice_header(writer, predicted, &out);
	for (unsigned y = 0; y < writer->source.height / MACROBLOCK; y++) {
		for (unsigned x = 0; x < writer->source.width / MACROBLOCK; x++)
			put_macroblock(&out, predicted, frame, x, y);
	}
	h264_end_unit(&out, predicted ? NAL_SLICE : NAL_IDR, stream);
}

/* Converts the caller's samples to I420. */
static void take_samples(const struct h264_pcm *writer, enum video_layout layout,
			 const struct video_planes *frame, const struct video_planes *out)
{
	const struct video_source *source = &writer->source;
	for (unsigned plane = 0; plane < VIDEO_PLANES; plane++) {
		const bool pairs = plane != 0 && layout == VIDEO_NV12;
		const unsigned from = pairs ? 1 : plane;
		const unsigned scale = plane == 0 ? 1 : 2;
		for (unsigned y = 0; y < source->height / scale; y++) {
			for (unsigned x = 0; x < source->width / scale; x++)
				out->data[plane][y * out->pitch[plane] + x] =
					frame->data[from][y * frame->pitch[from] +
							  (pairs ? 2 * x + plane - 1 : x)];
		}
	}
}

static bool is_faulty(const struct h264_pcm *writer, const char *fault)
{
	return setting_number(fault, SIZE_MAX) == writer->count;
}

static void spoil_samples(const struct h264_pcm *writer, struct text *samples,
			  const struct video_planes *planes)
{
	const struct video_source other = {(uint32_t)setting_number("other", 0),
					   writer->source.width, writer->source.height};
	const size_t luma = (size_t)other.width * other.height;
	if (other.seed != 0)
		video_fill(&other, writer->count, VIDEO_I420, planes);
	if (is_faulty(writer, "repeat") && writer->last.size == samples->size)
		memcpy(samples->data, writer->last.data, samples->size);
	if (!is_faulty(writer, "black"))
		return;
	memset(samples->data, 16, luma);
	memset(samples->data + luma, 128, luma / 2);
}

static void spoil_bytes(const struct h264_pcm *writer, struct text *stream, size_t begin)
{
	const size_t half = (stream->size - begin) / 2;
	for (size_t i = begin + half; is_faulty(writer, "corrupt") && i < stream->size; i++)
		stream->data[i] = (char)(stream->data[i] ^ 0x55);
	if (is_faulty(writer, "cut"))
		stream->size -= half;
}

void h264_pcm_add(struct h264_pcm *writer, enum video_layout layout,
		  const struct video_planes *frame, struct text *stream)
{
	const size_t size = video_frame_size(&writer->source);
	struct text samples = {0};
	uint8_t *memory = (uint8_t *)text_extend(&samples, size);
	if (memory == NULL)
		return;
	const struct video_planes planes = video_planes_of(&writer->source, VIDEO_I420, memory);
	const size_t begin = stream->size;
	take_samples(writer, layout, frame, &planes);
	spoil_samples(writer, &samples, &planes);
	if (writer->count == 0 && writer->given != NULL)
		text_append(stream, writer->given->data, writer->given->size);
	else if (writer->count == 0 && !setting_has("empty"))
		put_headers(&writer->source, stream);
	if (!is_faulty(writer, "drop") && !setting_has("empty"))
		(writer->put != NULL ? writer->put : put_picture)(writer, &planes, stream);
	spoil_bytes(writer, stream, begin);
	text_free(&writer->last);
	writer->last = samples;
	writer->count++;
}

void h264_pcm_free(struct h264_pcm *writer)
{
	text_free(&writer->last);
}
