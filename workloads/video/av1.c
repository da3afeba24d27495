/* SPDX-License-Identifier: MIT */
#include "workloads/video/av1.h"

#include "workloads/video/unit.h"

enum { SIZE_BITS = 16, INTER_FRAME = 1, BITS_OF_SIZE_BYTE = 7 };

void av1_add_obu(enum av1_obu type, const void *data, size_t size, unsigned size_bytes,
		 struct text *out)
{
	const char head = (char)(type << 3 | 2); /* without an extension, with its size */
	size_t left = size;
	unsigned count = 0;

	text_append(out, &head, 1);
	/* leb128(), with zeros up to `size_bytes`. */
	do {
		const bool more = ++count < size_bytes || left >> BITS_OF_SIZE_BYTE != 0;
		const char byte = (char)((left & 0x7F) | (more ? 0x80 : 0));
		text_append(out, &byte, 1);
		left >>= BITS_OF_SIZE_BYTE;
	} while (left != 0 || count < size_bytes);
	if (size > 0)
		text_append(out, data, size);
}

static void end(struct unit *unit, enum av1_obu type, unsigned size_bytes, struct text *out)
{
	unit_put(unit, 1, 1);
	av1_add_obu(type, unit->bytes, (unit->bits + 7) / 8, size_bytes, out);
}

void av1_add_sequence_header(const struct av1_sequence *s, unsigned size_bytes, struct text *out)
{
	struct unit unit = {{0}, 0};

	unit_put(&unit, 0, 3 + 1 + 1); /* profile 0, a video, in full */
	unit_put(&unit, 0, 1 + 1 + 5); /* no timing, no delay, one operating point */
	unit_put(&unit, 0, 12);	       /* which covers the whole stream */
	unit_put(&unit, s->seq_level_idx, 5);
	if (s->seq_level_idx > 7)
		unit_put(&unit, s->seq_tier, 1);
	unit_put(&unit, SIZE_BITS - 1, 4);
	unit_put(&unit, SIZE_BITS - 1, 4);
	unit_put(&unit, s->width - 1, SIZE_BITS);
	unit_put(&unit, s->height - 1, SIZE_BITS);
	unit_put(&unit, 0, 1); /* frames have no numbers */

	unit_put(&unit, s->use_128x128_superblock, 1);
	unit_put(&unit, s->enable_filter_intra, 1);
	unit_put(&unit, s->enable_intra_edge_filter, 1);
	unit_put(&unit, s->enable_interintra_compound, 1);
	unit_put(&unit, s->enable_masked_compound, 1);
	unit_put(&unit, s->enable_warped_motion, 1);
	unit_put(&unit, s->enable_dual_filter, 1);
	unit_put(&unit, s->order_hint_bits > 0, 1);
	if (s->order_hint_bits > 0) {
		unit_put(&unit, s->enable_jnt_comp, 1);
		unit_put(&unit, s->enable_ref_frame_mvs, 1);
	}
	unit_put(&unit, 3, 1 + 1); /* frames choose screen content tools and integer vectors */
	if (s->order_hint_bits > 0)
		unit_put(&unit, s->order_hint_bits - 1, 3);
	unit_put(&unit, s->enable_superres, 1);
	unit_put(&unit, s->enable_cdef, 1);
	unit_put(&unit, s->enable_restoration, 1);

	unit_put(&unit, 0, 1 + 1 + 1); /* 8 bits, with chroma, without a description of colours */
	unit_put(&unit, 0, 1 + 2);     /* nor their range and sample position */
	unit_put(&unit, s->separate_uv_delta_q, 1);
	unit_put(&unit, 0, 1); /* no film grain */
	end(&unit, AV1_SEQUENCE_HEADER, size_bytes, out);
}

/* frame_size(), superres_params(), render_size(): those of the sequence. */
static void put_size(struct unit *unit, const struct av1_sequence *sequence)
{
	unit_put(unit, 0, sequence->enable_superres ? 1 + 1 : 1);
}

static void put_difference(struct unit *unit, bool present, int value)
{
	unit_put(unit, present, 1);
	if (present)
		unit_put(unit, (uint32_t)value, 1 + 6); /* su() */
}

/* Up to delta_lf_params(). */
static void put_quantisers(struct unit *unit, const struct av1_sequence *sequence,
			   const struct av1_frame *frame)
{
	const bool separate = sequence->separate_uv_delta_q;

	unit_put(unit, frame->base_q_idx, 8);
	put_difference(unit, frame->y_dc_delta_q != 0, frame->y_dc_delta_q);
	unit_put(unit, 1, separate);
	put_difference(unit, frame->uv_dc_delta_q != 0, frame->uv_dc_delta_q);
	put_difference(unit, frame->uv_ac_delta_q != 0, frame->uv_ac_delta_q);
	if (separate) {
		put_difference(unit, frame->v_dc_delta_q != 0, frame->v_dc_delta_q);
		put_difference(unit, frame->v_ac_delta_q != 0, frame->v_ac_delta_q);
	}
	unit_put(unit, frame->using_qmatrix, 1);
	if (frame->using_qmatrix) {
		unit_put(unit, frame->qm_y, 4);
		unit_put(unit, frame->qm_uv, 4);
		unit_put(unit, frame->qm_v, separate ? 4 : 0);
	}
	unit_put(unit, 0, 1); /* no segments */

	/* delta_q_params() and delta_lf_params() */
	if (frame->base_q_idx == 0)
		return;
	unit_put(unit, frame->delta_q_present, 1);
	if (!frame->delta_q_present)
		return;
	unit_put(unit, frame->delta_q_res, 2);
	unit_put(unit, frame->delta_lf_present, 1);
	if (!frame->delta_lf_present)
		return;
	unit_put(unit, frame->delta_lf_res, 2);
	unit_put(unit, frame->delta_lf_multi, 1);
}

/* From the quantisers to the end. */
static void put_coding(struct unit *unit, const struct av1_sequence *sequence,
		       const struct av1_frame *frame, struct av1_places *places)
{
	const bool lossless = frame->base_q_idx == 0 && frame->y_dc_delta_q == 0 &&
			      frame->uv_dc_delta_q == 0 && frame->uv_ac_delta_q == 0 &&
			      frame->v_dc_delta_q == 0 && frame->v_ac_delta_q == 0;

	places->base_q_idx = unit->bits;
	put_quantisers(unit, sequence, frame);
	places->loop_filter = places->cdef = unit->bits;
	if (!lossless) {
		const bool luma = frame->loop_filter_level[0] + frame->loop_filter_level[1] > 0;
		const bool updates =
			frame->loop_filter_delta_enabled && frame->loop_filter_delta_update;
		for (size_t i = 0; i < (luma ? 4 : 2); i++)
			unit_put(unit, frame->loop_filter_level[i], 6);
		unit_put(unit, frame->loop_filter_sharpness, 3);
		unit_put(unit, frame->loop_filter_delta_enabled, 1);
		if (frame->loop_filter_delta_enabled)
			unit_put(unit, frame->loop_filter_delta_update, 1);
		for (size_t i = 0; updates && i < AV1_SLOTS; i++)
			put_difference(unit, !frame->loop_filter_ref_deltas_kept,
				       frame->loop_filter_ref_deltas[i]);
		for (size_t i = 0; updates && i < 2; i++)
			put_difference(unit, !frame->loop_filter_mode_deltas_kept,
				       frame->loop_filter_mode_deltas[i]);

		places->cdef = unit->bits;
		if (sequence->enable_cdef) {
			unit_put(unit, frame->cdef_damping_minus_3, 2);
			unit_put(unit, frame->cdef_bits, 2);
			for (size_t i = 0; i < (size_t)1 << (frame->cdef_bits & 3); i++) {
				unit_put(unit, frame->cdef_y_pri_strength[i], 4);
				unit_put(unit, frame->cdef_y_sec_strength[i], 2);
				unit_put(unit, frame->cdef_uv_pri_strength[i], 4);
				unit_put(unit, frame->cdef_uv_sec_strength[i], 2);
			}
		}
		places->cdef_bits = unit->bits - places->cdef;
		unit_put(unit, 0, sequence->enable_restoration ? 3 * 2 : 0); /* on no plane */
		unit_put(unit, frame->tx_mode_select, 1);
	}
	if (!frame->key) /* single references, which are not warped */
		unit_put(unit, 0, sequence->enable_warped_motion ? 1 + 1 : 1);
	unit_put(unit, 0, 1);				    /* all types of transforms */
	unit_put(unit, 0, frame->key ? 0 : AV1_REFERENCES); /* no global motion */
}

void av1_add_frame_header(const struct av1_sequence *sequence, const struct av1_frame *frame,
			  unsigned size_bytes, struct av1_places *places, struct text *out)
{
	struct unit unit = {{0}, 0};
	struct av1_places at = {0};
	const size_t begin = out->size;

	/* From show_existing_frame up to disable_frame_end_update_cdf. */
	unit_put(&unit, 0, 1);
	unit_put(&unit, frame->key ? 0 : INTER_FRAME, 2);
	unit_put(&unit, 1, 1); /* it is shown */
	if (!frame->key)
		unit_put(&unit, 0, 1); /* error_resilient_mode, which key frames imply */
	/* Probabilities adapt; no screen content; the sequence's size. */
	unit_put(&unit, 0, 1 + 1 + 1);
	unit_put(&unit, frame->order_hint, sequence->order_hint_bits);
	if (frame->key) {
		put_size(&unit, sequence);
	} else {
		unit_put(&unit, frame->primary_ref_frame, 3);
		unit_put(&unit, frame->refresh_frame_flags, AV1_SLOTS);
		/* Each reference is stated. */
		unit_put(&unit, 0, sequence->order_hint_bits > 0);
		for (size_t i = 0; i < AV1_REFERENCES; i++)
			unit_put(&unit, frame->ref_frame_idx[i], 3);
		put_size(&unit, sequence);
		unit_put(&unit, 0, 1); /* vectors of quarter samples */
		unit_put(&unit, frame->interpolation_filter == AV1_FILTER_SWITCHABLE, 1);
		if (frame->interpolation_filter != AV1_FILTER_SWITCHABLE)
			unit_put(&unit, frame->interpolation_filter, 2);
		unit_put(&unit, 0, 1); /* simple motion, and no vectors of references */
		unit_put(&unit, 0, sequence->order_hint_bits > 0 && sequence->enable_ref_frame_mvs);
	}
	unit_put(&unit, 0, 1); /* disable_frame_end_update_cdf */

	/* tile_info(): as few tiles as possible, evenly spaced. */
	const unsigned superblock = sequence->use_128x128_superblock ? 128 : 64;
	unit_put(&unit, 1, 1);
	unit_put(&unit, 0, sequence->width > superblock);
	unit_put(&unit, 0, sequence->height > superblock);

	put_coding(&unit, sequence, frame, &at);
	end(&unit, AV1_FRAME_HEADER, size_bytes, out);
	if (places == NULL)
		return;

	const unsigned head = 8 * (unsigned)(out->size - begin - (unit.bits + 7) / 8);
	*places = at;
	places->base_q_idx += head;
	places->loop_filter += head;
	places->cdef += head;
	places->end = head + 8 * ((unit.bits + 7) / 8);
}
