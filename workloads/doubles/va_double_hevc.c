/* SPDX-License-Identifier: MIT */
/*
 * How HEVC must be described: with the tools and blocks that the driver reports, each picture referring to
 * the one before, and, if the driver accepts headers, with headers that match the buffers. Otherwise the
 * driver writes its own. It carries samples as PCM, and so reports that PCM is required. Words of
 * GPUCERT_DOUBLE:
 *
 *   silent            tools and blocks are not reported
 *   small-trees       coding trees are 16 by 16, not 64 by 64
 *   large-blocks      no coding block is smaller than 32 by 32
 *   weights           a tool that the probe lacks is required
 *   no-such-blocks    the smallest coding block is reported as 64 by 64
 *   spoil=WHAT        the caller's description is spoilt before it is checked:
 *                     width, blocks, tools, order, key, unit, reference, surface, type, trees, list0, list1;
 *                     of headers: offsets, sets, slice-header, other-header
 *
 * With low-power it has no P pictures.
 */
#include "workloads/doubles/hevc_pcm.h"
#include "workloads/doubles/settings.h"
#include "workloads/doubles/va_double.h"
#include "workloads/vaapi/hevc_headers.h"

#include <string.h>

static unsigned tree(void)
{
	return setting_has("silent") ? 5 : setting_has("small-trees") ? 4 : 6;
}

static unsigned block(void)
{
	return setting_has("silent") ? 4 : setting_has("large-blocks") ? 5 : 3;
}

static uint32_t features(void)
{
	VAConfigAttribValEncHEVCFeatures supported = {.value = 0};
	supported.bits.amp = VA_FEATURE_REQUIRED;
	supported.bits.sao = VA_FEATURE_SUPPORTED;
	supported.bits.pcm = VA_FEATURE_REQUIRED;
	supported.bits.temporal_mvp = VA_FEATURE_SUPPORTED;
	supported.bits.cu_qp_delta = VA_FEATURE_SUPPORTED | VA_FEATURE_REQUIRED;
	supported.bits.weighted_prediction =
		setting_has("weights") ? VA_FEATURE_REQUIRED : VA_FEATURE_SUPPORTED;
	return supported.value;
}

static uint32_t block_sizes(void)
{
	VAConfigAttribValEncHEVCBlockSizes supported = {.value = 0};
	supported.bits.log2_max_coding_tree_block_size_minus3 = (tree() - 3) & 3u;
	supported.bits.log2_min_coding_tree_block_size_minus3 = (tree() - 3) & 3u;
	supported.bits.log2_min_luma_coding_block_size_minus3 =
		setting_has("no-such-blocks") ? 3 : (block() - 3) & 3u;
	supported.bits.log2_max_luma_transform_block_size_minus2 = 3;
	supported.bits.max_max_transform_hierarchy_depth_inter = 2;
	supported.bits.max_max_transform_hierarchy_depth_intra = 2;
	supported.bits.log2_max_pcm_coding_block_size_minus3 = 2;
	return supported.value;
}

static uint32_t attribute(VAConfigAttribType type)
{
	if (type == VAConfigAttribPredictionDirection && setting_has("low-power"))
		return VA_PREDICTION_DIRECTION_PREVIOUS | VA_PREDICTION_DIRECTION_BI_NOT_EMPTY;
	if (setting_has("silent"))
		return VA_ATTRIB_NOT_SUPPORTED;
	return type == VAConfigAttribEncHEVCFeatures	 ? features()
	       : type == VAConfigAttribEncHEVCBlockSizes ? block_sizes()
							 : VA_ATTRIB_NOT_SUPPORTED;
}

static bool take(struct driver *d, VABufferType type, const void *data)
{
	if (type == VAEncSequenceParameterBufferType) {
		d->sequence = true;
		memcpy(&d->hevc_sequence, data, sizeof(d->hevc_sequence));
	} else if (type == VAEncPictureParameterBufferType) {
		d->picture = true;
		memcpy(&d->hevc_picture, data, sizeof(d->hevc_picture));
		d->coded = d->hevc_picture.coded_buf;
	} else if (type == VAEncSliceParameterBufferType) {
		d->slice = true;
		memcpy(&d->hevc_slice, data, sizeof(d->hevc_slice));
	} else {
		return false;
	}
	return true;
}

static void spoil(struct driver *d)
{
	char what[32] = "";
	(void)setting_text("spoil", what, sizeof(what));
#define SPOIL(name, statement)                                                                     \
	if (strcmp(what, name) == 0)                                                               \
	statement
	SPOIL("width", d->hevc_sequence.pic_width_in_luma_samples += 8);
	SPOIL("blocks", d->hevc_sequence.log2_min_luma_coding_block_size_minus3 ^= 1);
	SPOIL("tools", d->hevc_sequence.seq_fields.bits.amp_enabled_flag = 0);
	SPOIL("offsets", d->hevc_sequence.seq_fields.bits.sample_adaptive_offset_enabled_flag ^= 1);
	SPOIL("order", d->hevc_picture.decoded_curr_pic.pic_order_cnt++);
	SPOIL("key", d->hevc_picture.pic_fields.bits.idr_pic_flag ^= 1);
	SPOIL("unit", d->hevc_picture.nal_unit_type = HEVC_TRAIL_R);
	SPOIL("surface", d->hevc_picture.decoded_curr_pic.picture_id = d->target);
	SPOIL("reference", d->hevc_picture.reference_frames[0].picture_id = VA_INVALID_SURFACE);
	SPOIL("type", d->hevc_slice.slice_type = HEVC_SLICE_I);
	SPOIL("trees", d->hevc_slice.num_ctu_in_slice--);
	SPOIL("list0", d->hevc_slice.ref_pic_list0[0].picture_id = VA_INVALID_SURFACE);
	SPOIL("list1", d->hevc_slice.ref_pic_list1[0] = d->hevc_picture.decoded_curr_pic);
	SPOIL("sets", text_reset(&d->given));
	SPOIL("slice-header", text_reset(&d->slice_header));
	if (strcmp(what, "other-header") == 0 && d->slice_header.size > 6)
		d->slice_header.data[6] = (char)(d->slice_header.data[6] ^ 4);
}

static bool is_sequence_right(const VAEncSequenceParameterBufferHEVC *sequence)
{
	const unsigned least = sequence->log2_min_luma_coding_block_size_minus3 + 3;
	return sequence->general_profile_idc == 1 && sequence->pic_width_in_luma_samples == SIDE &&
	       sequence->pic_height_in_luma_samples == SIDE && least == block() &&
	       least + sequence->log2_diff_max_min_luma_coding_block_size == tree() &&
	       sequence->seq_fields.bits.amp_enabled_flag &&
	       sequence->seq_fields.bits.pcm_enabled_flag == !setting_has("silent");
}

static bool is_reference(const struct driver *d, const VAPictureHEVC *picture)
{
	return picture->picture_id == d->reference && picture->flags == 0 &&
	       picture->pic_order_cnt + 1 == (int32_t)d->writer.count;
}

static bool is_absent(const VAPictureHEVC *picture)
{
	return picture->picture_id == VA_INVALID_SURFACE &&
	       (picture->flags & VA_PICTURE_HEVC_INVALID);
}

static bool is_picture_right(const struct driver *d, bool first)
{
	const VAEncPictureParameterBufferHEVC *picture = &d->hevc_picture;
	const VASurfaceID current = picture->decoded_curr_pic.picture_id;
	return current < SURFACES && current != d->target &&
	       picture->decoded_curr_pic.pic_order_cnt == (int32_t)d->writer.count &&
	       picture->pic_fields.bits.idr_pic_flag == first &&
	       picture->pic_fields.bits.cu_qp_delta_enabled_flag ==
		       (!setting_has("silent") || !setting_has("cqp")) &&
	       picture->nal_unit_type == (first ? HEVC_IDR_W_RADL : HEVC_TRAIL_R) &&
	       (first ? is_absent(&picture->reference_frames[0])
		      : current != d->reference &&
				is_reference(d, &picture->reference_frames[0])) &&
	       is_absent(&picture->reference_frames[1]);
}

static bool is_slice_right(const struct driver *d, bool first)
{
	const VAEncSliceParameterBufferHEVC *slice = &d->hevc_slice;
	const bool both = setting_has("low-power") && !first;
	const unsigned row = (SIDE + (1u << tree()) - 1) >> tree();
	return slice->num_ctu_in_slice == row * row &&
	       slice->slice_type == (first  ? HEVC_SLICE_I
				     : both ? HEVC_SLICE_B
					    : HEVC_SLICE_P) &&
	       slice->slice_fields.bits.last_slice_of_pic_flag &&
	       (first ? is_absent(&slice->ref_pic_list0[0])
		      : is_reference(d, &slice->ref_pic_list0[0])) &&
	       (both ? is_reference(d, &slice->ref_pic_list1[0])
		     : is_absent(&slice->ref_pic_list1[0]));
}

/* The parameter sets that the driver writes itself, always with PCM. */
static void write_sets(struct driver *d)
{
	const struct video_source shown = {.width = SIDE + (setting_has("size") ? 16 : 0),
					   .height = SIDE};
	VAEncSequenceParameterBufferHEVC *sequence = &d->hevc_sequence;
	if (!sequence->seq_fields.bits.pcm_enabled_flag) {
		sequence->seq_fields.bits.pcm_enabled_flag = 1;
		sequence->seq_fields.bits.pcm_loop_filter_disabled_flag = 1;
		sequence->pcm_sample_bit_depth_luma_minus1 = 7;
		sequence->pcm_sample_bit_depth_chroma_minus1 = 7;
		sequence->log2_min_pcm_luma_coding_block_size_minus3 = 1;
		sequence->log2_max_pcm_luma_coding_block_size_minus3 = 2;
	}
	sequence->pic_width_in_luma_samples = (uint16_t)shown.width;
	hevc_add_parameter_sets(&shown, sequence, &d->hevc_picture, &d->given);
}

static bool is_same(const struct text *given, const struct text *wanted)
{
	return given->size == wanted->size && memcmp(given->data, wanted->data, given->size) == 0;
}

/* Checks that the caller's headers match its buffers, and makes missing ones. */
static bool settle_headers(struct driver *d, bool first)
{
	const uint32_t packed = va_packed();
	const bool silent = packed == VA_ATTRIB_NOT_SUPPORTED;
	struct text sets = {0}, slice = {0};
	hevc_add_slice_header(&d->hevc_sequence, &d->hevc_picture, &d->hevc_slice, &slice);
	hevc_add_parameter_sets(&d->writer.source, &d->hevc_sequence, &d->hevc_picture, &sets);
	bool right = !first || silent || is_same(&d->given, &sets);
	if (!silent && (packed & VA_ENC_PACKED_HEADER_SLICE))
		right = right && is_same(&d->slice_header, &slice);
	else
		text_add_all(&d->slice_header, &slice);
	if (first && silent)
		write_sets(d);
	text_free(&sets);
	text_free(&slice);
	return right;
}

static bool end(struct driver *d)
{
	const bool first = d->writer.count == 0;
	spoil(d);
	if (!is_sequence_right(&d->hevc_sequence) && first)
		return false;
	if (!is_picture_right(d, first) || !is_slice_right(d, first) || !settle_headers(d, first))
		return false;
	d->reference = d->hevc_picture.decoded_curr_pic.picture_id;
	return true;
}

static void put(const struct h264_pcm *writer, const struct video_planes *frame,
		struct text *stream)
{
	const struct driver *d = writer->user;
	const VAEncSequenceParameterBufferHEVC *sequence = &d->hevc_sequence;
	const struct hevc_pcm shape = {
		.width = SIDE,
		.height = SIDE,
		.tree = tree(),
		.block = block(),
		.pcm = sequence->log2_max_pcm_luma_coding_block_size_minus3 + 3,
		.slice_type = d->hevc_slice.slice_type,
		.quality = (unsigned)(d->hevc_picture.pic_init_qp + d->hevc_slice.slice_qp_delta),
		.sao = sequence->seq_fields.bits.sample_adaptive_offset_enabled_flag,
	};
	hevc_pcm_add(&shape, frame, &d->slice_header, stream);
}

const struct va_codec va_codec_hevc = {attribute, take, end, false, put};
