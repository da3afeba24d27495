/* SPDX-License-Identifier: MIT */
/* Describes AV1 for VA-API: with only the tools that the driver requires. */
#include "workloads/vaapi/encoder.h"

#include "base/cleanup.h"

#include <string.h>

enum {
	BASE_Q_IDX = 128, /* the quantiser, where no rate is kept */
	SIZE_BYTES = 4,	  /* the length of a unit's size field, where the driver reports none */
	LAST_FRAME = 1,
	TX_MODE_LARGEST = 1,
	TX_MODE_SELECT = 2,
	HEADERS_NEEDED = VA_ENC_PACKED_HEADER_SEQUENCE | VA_ENC_PACKED_HEADER_PICTURE,
};

static unsigned superblock(const struct encoder *e)
{
	return e->av1_sequence.use_128x128_superblock ? 128 : 64;
}

/* Tools that a sequence allows and frames need not use: by the names of the headers and of VA-API. */
#define TOOLS(X)                                                                                   \
	X(use_128x128_superblock, support_128x128_superblock)                                      \
	X(enable_filter_intra, support_filter_intra)                                               \
	X(enable_intra_edge_filter, support_intra_edge_filter)                                     \
	X(enable_interintra_compound, support_interintra_compound)                                 \
	X(enable_masked_compound, support_masked_compound)                                         \
	X(enable_warped_motion, support_warped_motion)                                             \
	X(enable_dual_filter, support_dual_filter)                                                 \
	X(enable_jnt_comp, support_jnt_comp)                                                       \
	X(enable_ref_frame_mvs, support_ref_frame_mvs)                                             \
	X(enable_superres, support_superres)                                                       \
	X(enable_restoration, support_restoration)

/* Fills e->av1_sequence and e->av1_frame. Drivers that report no tools require none. */
static int choose_tools(struct encoder *e, uint32_t reported, uint32_t filters, uint32_t coding,
			struct error *err)
{
	const VAConfigAttribValEncAV1 tools = {
		.value = reported == VA_ATTRIB_NOT_SUPPORTED ? 0 : reported};
	const VAConfigAttribValEncAV1Ext1 ext1 = {.value = filters};
	const VAConfigAttribValEncAV1Ext2 ext2 = {.value = coding};
	unsigned filter = 0;

	if (vaapi_is_required(tools.bits.support_palette_mode | tools.bits.support_allow_intrabc))
		return error_set(err, ERROR_UNSUPPORTED,
				 "the driver requires a tool of AV1 that this probe does not "
				 "describe: VAConfigAttribEncAV1 is 0x%08x",
				 reported);
#define CHOOSE(name, tool) e->av1_sequence.name = vaapi_is_required(tools.bits.tool);
	TOOLS(CHOOSE)
#undef CHOOSE

	/* The driver's first filter of motion; the first of all where none is reported. */
	while (filter <= AV1_FILTER_SWITCHABLE && !(ext1.bits.interpolation_filter >> filter & 1))
		filter++;
	e->av1_frame.interpolation_filter = filter % (AV1_FILTER_SWITCHABLE + 1);

	e->av1_size_bytes = SIZE_BYTES;
	e->av1_frame.tx_mode_select = true;
	if (coding == VA_ATTRIB_NOT_SUPPORTED)
		return 0;
	e->av1_size_bytes = ext2.bits.obu_size_bytes_minus1 + 1;
	e->av1_frame.tx_mode_select = (ext2.bits.tx_mode_support >> TX_MODE_SELECT & 1) != 0;
	if (ext2.bits.tx_mode_support >> TX_MODE_LARGEST == 0)
		return error_set(err, ERROR_UNSUPPORTED,
				 "the driver has no transforms but those of 4 by 4: "
				 "VAConfigAttribEncAV1Ext2 is 0x%08x",
				 coding);
	return 0;
}

static int prepare(struct encoder *e, struct error *err)
{
	VAConfigAttrib offered[] = {
		{VAConfigAttribEncAV1, VA_ATTRIB_NOT_SUPPORTED},
		{VAConfigAttribEncAV1Ext1, VA_ATTRIB_NOT_SUPPORTED},
		{VAConfigAttribEncAV1Ext2, VA_ATTRIB_NOT_SUPPORTED},
	};

	int rc = CALL(e, err, vaGetConfigAttributes, e->way.profile->profile, e->way.entrypoint,
		      offered, ARRAY_SIZE(offered));
	if (rc == 0)
		rc = choose_tools(e, offered[0].value, offered[1].value, offered[2].value, err);
	if (rc != 0)
		return rc;
	const unsigned block = superblock(e);
	e->av1_sequence.width = e->width;
	e->av1_sequence.height = e->height;
	e->av1_sequence.seq_level_idx = AV1_LEVEL;
	e->av1_sequence.order_hint_bits = AV1_ORDER_HINT_BITS;
	/* An encoder that keeps a rate sets its filters itself. */
	e->av1_sequence.enable_cdef = vaapi_keeps_rate(e);
	e->width = (e->width + block - 1) / block * block;
	e->height = (e->height + block - 1) / block * block;
	/* One header of ours would not match another that the driver writes. */
	if (e->packed != HEADERS_NEEDED)
		e->packed = 0;
	return 0;
}

static void describe_picture(const struct encoder *e, unsigned index, const struct av1_frame *frame,
			     VAEncPictureParameterBufferAV1 *picture)
{
	const unsigned block = superblock(e);

	*picture = (VAEncPictureParameterBufferAV1){
		.frame_width_minus_1 = (uint16_t)(e->av1_sequence.width - 1),
		.frame_height_minus_1 = (uint16_t)(e->av1_sequence.height - 1),
		.reconstructed_frame = vaapi_reconstructed(e, index),
		.coded_buf = e->coded,
		.primary_ref_frame = (uint8_t)frame->primary_ref_frame,
		.order_hint = (uint8_t)frame->order_hint,
		.refresh_frame_flags = (uint8_t)frame->refresh_frame_flags,
		.interpolation_filter = (uint8_t)frame->interpolation_filter,
		.base_qindex = BASE_Q_IDX,
		.tile_cols = 1,
		.tile_rows = 1,
		.width_in_sbs_minus_1 = {(uint16_t)(e->width / block - 1)},
		.height_in_sbs_minus_1 = {(uint16_t)(e->height / block - 1)},
	};
	picture->picture_flags.bits.frame_type = frame->key ? 0 : 1;
	picture->picture_flags.bits.error_resilient_mode = frame->key;
	picture->mode_control_flags.bits.tx_mode =
		frame->tx_mode_select ? TX_MODE_SELECT : TX_MODE_LARGEST;
	picture->tile_group_obu_hdr_info.bits.obu_has_size_field = 1;
	for (size_t i = 0; i < AV1_SLOTS; i++)
		picture->reference_frames[i] = VA_INVALID_SURFACE;
	if (frame->key)
		return;
	picture->ref_frame_ctrl_l0.fields.search_idx0 = LAST_FRAME;
	picture->reference_frames[frame->ref_frame_idx[0]] = vaapi_reconstructed(e, index - 1);
	memcpy(picture->ref_frame_idx, frame->ref_frame_idx, sizeof(picture->ref_frame_idx));
}

static void describe(const struct encoder *e, unsigned index, struct vaapi_description *out)
{
	struct text *sequence = &out->headers[HEADER_SEQUENCE];
	VAEncPictureParameterBufferAV1 *picture = &out->picture.av1;
	struct av1_frame frame = e->av1_frame;
	struct av1_places places = {0};

	/* Like the encoder's surfaces, two of the decoder's slots alternate. */
	frame.key = index == 0;
	frame.order_hint = index;
	frame.primary_ref_frame = frame.key ? AV1_PRIMARY_REF_NONE : 0;
	frame.refresh_frame_flags = frame.key ? AV1_ALL_SLOTS : 1u << index % 2;
	frame.base_q_idx = BASE_Q_IDX;
	memset(frame.ref_frame_idx, frame.key ? 0 : (int)((index - 1) % 2), AV1_REFERENCES);

	VAEncSequenceParameterBufferAV1 *to = &out->sequence.av1;
	to->seq_level_idx = AV1_LEVEL;
	to->intra_period = VIDEO_FRAMES;
	to->ip_period = 1;
	to->bits_per_second = vaapi_keeps_rate(e) ? VIDEO_BIT_RATE : 0;
	to->order_hint_bits_minus_1 = AV1_ORDER_HINT_BITS - 1;
	to->seq_fields.bits.enable_order_hint = 1;
	to->seq_fields.bits.enable_cdef = e->av1_sequence.enable_cdef;
	to->seq_fields.bits.subsampling_x = 1;
	to->seq_fields.bits.subsampling_y = 1;
#define COPY(name, tool) to->seq_fields.bits.name = e->av1_sequence.name;
	TOOLS(COPY)
#undef COPY

	describe_picture(e, index, &frame, picture);
	if (e->packed == 0)
		return;
	if (frame.key)
		av1_add_sequence_header(&e->av1_sequence, e->av1_size_bytes, sequence);
	av1_add_frame_header(&e->av1_sequence, &frame, e->av1_size_bytes, &places,
			     &out->headers[HEADER_PICTURE]);
	if (!vaapi_keeps_rate(e))
		return;

	/* A driver that keeps a rate changes the frame header. It finds the size of that unit from the
	 * first byte of all headers, and the rest from the header's own first bit. */
	picture->min_base_qindex = 1;
	picture->max_base_qindex = UINT8_MAX;
	picture->bit_offset_qindex = places.base_q_idx;
	picture->bit_offset_loopfilter_params = places.loop_filter;
	picture->bit_offset_cdef_params = places.cdef;
	picture->size_in_bits_cdef_params = places.cdef_bits;
	picture->size_in_bits_frame_hdr_obu = places.end;
	picture->byte_offset_frame_hdr_obu_size = (uint32_t)sequence->size + 1;
}

/* A shown frame begins with a delimiter, which most drivers leave to their caller. */
static void begin(const VACodedBufferSegment *coded, struct text *stream)
{
	const uint8_t *head = coded != NULL && coded->size > 0 ? coded->buf : NULL;

	if (head != NULL && *head >> 3 != AV1_TEMPORAL_DELIMITER)
		av1_add_obu(AV1_TEMPORAL_DELIMITER, NULL, 0, 0, stream);
}

/* A fixed quality is preferred, because drivers that keep a rate write into the frame header. */
const struct vaapi_codec vaapi_av1 = {
	.packed = HEADERS_NEEDED,
	.fixed_quality = true,
	.quality = BASE_Q_IDX,
	.sequence_size = sizeof(VAEncSequenceParameterBufferAV1),
	.picture_size = sizeof(VAEncPictureParameterBufferAV1),
	.slice_size = sizeof(VAEncTileGroupBufferAV1),
	.prepare = prepare,
	.describe = describe,
	.begin = begin,
};
