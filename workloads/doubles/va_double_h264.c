/* SPDX-License-Identifier: MIT */
/* How H.264 must be described. */
#include "workloads/doubles/va_double.h"

static uint32_t attribute(VAConfigAttribType type)
{
	(void)type;
	return VA_ATTRIB_NOT_SUPPORTED;
}

static bool take_sequence(struct driver *d, const VAEncSequenceParameterBufferH264 *sequence)
{
	d->sequence = true;
	d->writer.number_bits = sequence->seq_fields.bits.log2_max_frame_num_minus4 + 4;
	d->writer.order_bits = sequence->seq_fields.bits.log2_max_pic_order_cnt_lsb_minus4 + 4;
	return sequence->picture_width_in_mbs == SIDE / 16 &&
	       sequence->picture_height_in_mbs == SIDE / 16 &&
	       sequence->seq_fields.bits.pic_order_cnt_type == 0;
}

/* The first picture is a key frame; each other one refers to the decoded previous one. */
static bool take_picture(struct driver *d, const VAEncPictureParameterBufferH264 *picture)
{
	const bool first = d->writer.count == 0;
	const VASurfaceID current = picture->CurrPic.picture_id;
	const VASurfaceID last = d->reference;
	d->picture = true;
	d->coded = picture->coded_buf;
	d->reference = current;
	return current < SURFACES && current != d->target &&
	       picture->pic_fields.bits.idr_pic_flag == first &&
	       picture->frame_num == d->writer.count &&
	       (first || (current != last && picture->ReferenceFrames[0].picture_id == last));
}

static bool take_slice(struct driver *d, const VAEncSliceParameterBufferH264 *slice)
{
	const bool first = d->writer.count == 0;
	d->slice = true;
	return slice->num_macroblocks == SIDE / 16 * (SIDE / 16) &&
	       slice->slice_type == (first ? 2 : 0) &&
	       (first || slice->RefPicList0[0].picture_id != d->reference);
}

static bool take(struct driver *d, VABufferType type, const void *data)
{
	switch ((int)type) {
	case VAEncSequenceParameterBufferType:
		return take_sequence(d, data);
	case VAEncPictureParameterBufferType:
		return take_picture(d, data);
	case VAEncSliceParameterBufferType:
		return take_slice(d, data);
	default:
		return false;
	}
}

const struct va_codec va_codec_h264 = {.attribute = attribute, .take = take};
