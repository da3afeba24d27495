/* SPDX-License-Identifier: MIT */
#include "workloads/doubles/av1_aom.h"

#include "base/cleanup.h"

#include <aom/aom_encoder.h>
#include <aom/aomcx.h>
#include <string.h>

enum { FASTEST = 10, QUANTISER_STEP = 4, TILE_GROUPS = 2 /* > 1: separate headers */ };

struct control {
	int id, value;
};

static bool control(struct av1_aom *coder, const struct control *controls, size_t count)
{
	size_t i = 0;
	while (i < count &&
	       aom_codec_control(&coder->codec, controls[i].id, controls[i].value) == AOM_CODEC_OK)
		i++;
	return i == count;
}

static bool set_up(struct av1_aom *coder, const struct av1_sequence *s, const struct av1_frame *f)
{
	const struct control controls[] = {
		{AOME_SET_CPUUSED, FASTEST},
		{AV1E_SET_NUM_TG, TILE_GROUPS},
		{AV1E_SET_SUPERBLOCK_SIZE, s->use_128x128_superblock ? AOM_SUPERBLOCK_SIZE_128X128
								     : AOM_SUPERBLOCK_SIZE_64X64},
		{AV1E_SET_ENABLE_ORDER_HINT, 0}, /* headers without order hints */
		{AV1E_SET_ENABLE_FILTER_INTRA, s->enable_filter_intra},
		{AV1E_SET_ENABLE_INTRA_EDGE_FILTER, s->enable_intra_edge_filter},
		{AV1E_SET_ENABLE_INTERINTRA_COMP, 0},
		{AV1E_SET_ENABLE_MASKED_COMP, s->enable_masked_compound},
		{AV1E_SET_ENABLE_WARPED_MOTION, 0},
		{AV1E_SET_ENABLE_DUAL_FILTER, s->enable_dual_filter},
		{AV1E_SET_ENABLE_REF_FRAME_MVS, 0},
		{AV1E_SET_ENABLE_OBMC, 0},
		{AV1E_SET_ENABLE_GLOBAL_MOTION, 0},
		{AV1E_SET_ENABLE_PALETTE, 0},
		{AV1E_SET_ENABLE_CDEF, 0},
		{AV1E_SET_ENABLE_RESTORATION, 0},
		{AV1E_SET_LOOPFILTER_CONTROL, 0},
		{AV1E_SET_DELTAQ_MODE, 0},
		{AV1E_SET_AQ_MODE, 0},
	};
	aom_svc_params_t layers = {
		.number_spatial_layers = 1,
		.number_temporal_layers = 1,
		.scaling_factor_num = {1},
		.scaling_factor_den = {1},
		.max_quantizers = {(int)f->base_q_idx / QUANTISER_STEP},
		.min_quantizers = {(int)f->base_q_idx / QUANTISER_STEP},
		.framerate_factor = {1},
	};
	/* At its fastest libaom uses neither, whatever it is set to. */
	return !s->enable_interintra_compound && !s->enable_warped_motion &&
	       control(coder, controls, ARRAY_SIZE(controls)) &&
	       aom_codec_control(&coder->codec, AV1E_SET_SVC_PARAMS, &layers) == AOM_CODEC_OK;
}

static bool open_coder(struct av1_aom *coder, const struct av1_sequence *sequence,
		       const struct av1_frame *frame)
{
	aom_codec_enc_cfg_t settings;
	if (aom_codec_enc_config_default(aom_codec_av1_cx(), &settings, AOM_USAGE_REALTIME) !=
	    AOM_CODEC_OK)
		return false;
	settings.g_w = sequence->width;
	settings.g_h = sequence->height;
	settings.g_threads = 1;
	settings.g_timebase = (struct aom_rational){1, VIDEO_RATE};
	settings.g_lag_in_frames = 0;
	settings.kf_mode = AOM_KF_DISABLED;
	settings.rc_end_usage = AOM_Q;
	settings.rc_min_quantizer = settings.rc_max_quantizer = frame->base_q_idx / QUANTISER_STEP;
	coder->open =
		aom_codec_enc_init(&coder->codec, aom_codec_av1_cx(), &settings, 0) == AOM_CODEC_OK;
	return coder->open && set_up(coder, sequence, frame);
}

static unsigned slot_of(const struct av1_frame *frame)
{
	unsigned slot = 0;
	while (slot + 1 < AV1_SLOTS && (frame->refresh_frame_flags >> slot & 1) == 0)
		slot++;
	return slot;
}

/* libaom refreshes only a slot of a reference: the last one, from which nothing is predicted. */
static bool set_references(struct av1_aom *coder, const struct av1_frame *frame)
{
	aom_svc_ref_frame_config_t references = {.reference = {1}};
	const unsigned slot = slot_of(frame);
	for (size_t i = 0; i < AV1_REFERENCES; i++)
		references.ref_idx[i] = frame->ref_frame_idx[i];
	references.ref_idx[AV1_REFERENCES - 1] = (int)slot;
	references.refresh[slot] = 1;
	return frame->key || aom_codec_control(&coder->codec, AV1E_SET_SVC_REF_FRAME_CONFIG,
					       &references) == AOM_CODEC_OK;
}

/* The caller's header as libaom writes it: without order hints, and with what has no effect as in
 * libaom: deltas of a loop filter without a level, later filters, references other than LAST_FRAME. */
static void translate(const struct av1_sequence *sequence, const struct av1_frame *frame,
		      struct text *out)
{
	struct av1_sequence s = *sequence;
	struct av1_frame f = *frame;
	const bool unfiltered =
		frame->cdef_bits + frame->cdef_y_pri_strength[0] + frame->cdef_y_sec_strength[0] +
			frame->cdef_uv_pri_strength[0] + frame->cdef_uv_sec_strength[0] ==
		0;
	s.order_hint_bits = 0;
	s.enable_superres = s.enable_restoration = false;
	s.enable_cdef = s.enable_cdef && !unfiltered;
	f.ref_frame_idx[AV1_REFERENCES - 1] = (uint8_t)slot_of(frame);
	f.loop_filter_delta_enabled = true;
	av1_add_frame_header(&s, &f, 0, NULL, out);
}

static size_t read_size(const uint8_t *data, size_t size, size_t *at)
{
	size_t value = 0;
	for (unsigned shift = 0; *at < size && shift < 32; shift += 7) {
		const uint8_t byte = data[(*at)++];
		value |= (size_t)(byte & 0x7F) << shift;
		if ((byte & 0x80) == 0)
			break;
	}
	return value;
}

/* Takes the tile from libaom's units; false: their header is not the expected one. */
static bool take_units(const uint8_t *data, size_t size, const struct text *expected,
		       struct text *tile)
{
	bool same = false;
	for (size_t at = 0; at < size;) {
		const size_t begin = at++;
		const int type = data[begin] >> 3;
		const size_t length = read_size(data, size, &at);
		if (length > size - at)
			return false;
		if (type == AV1_FRAME_HEADER)
			same = at + length - begin == expected->size &&
			       memcmp(&data[begin], expected->data, expected->size) == 0;
		else if (type == AV1_TILE_GROUP)
			text_append(tile, (const char *)&data[at], length);
		at += length;
	}
	return same;
}

static bool code(struct av1_aom *coder, const struct av1_sequence *sequence,
		 const struct av1_frame *frame, aom_image_t *image, struct text *tile)
{
	struct text expected CLEANUP_TEXT = {0};
	aom_codec_iter_t at = NULL;
	const aom_codec_cx_pkt_t *packet = NULL;
	translate(sequence, frame, &expected);
	if (aom_codec_encode(&coder->codec, image, coder->count++, 1,
			     frame->key ? AOM_EFLAG_FORCE_KF : 0) != AOM_CODEC_OK)
		return false;
	do
		packet = aom_codec_get_cx_data(&coder->codec, &at);
	while (packet != NULL && packet->kind != AOM_CODEC_CX_FRAME_PKT);
	return packet != NULL &&
	       take_units(packet->data.frame.buf, packet->data.frame.sz, &expected, tile);
}

bool av1_aom_encode(struct av1_aom *coder, const struct av1_sequence *sequence,
		    const struct av1_frame *frame, const struct video_planes *planes,
		    struct text *tile)
{
	aom_image_t image = {
		.fmt = AOM_IMG_FMT_I420,
		.bit_depth = 8,
		.w = sequence->width,
		.h = sequence->height,
		.d_w = sequence->width,
		.d_h = sequence->height,
		.x_chroma_shift = 1,
		.y_chroma_shift = 1,
		.bps = 12,
	};
	for (size_t i = 0; i < VIDEO_PLANES; i++) {
		image.planes[i] = planes->data[i];
		image.stride[i] = (int)planes->pitch[i];
	}
	if (!coder->open && (!frame->key || !open_coder(coder, sequence, frame)))
		return false;
	return set_references(coder, frame) && code(coder, sequence, frame, &image, tile);
}

void av1_aom_close(struct av1_aom *coder)
{
	if (coder->open)
		(void)aom_codec_destroy(&coder->codec);
	*coder = (struct av1_aom){0};
}
