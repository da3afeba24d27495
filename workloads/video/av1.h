/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The headers of an AV1 stream, for APIs that leave them to their caller: shown key frames and
 * frames predicted from single references, of 4:2:0 and 8 bits, in one tile, without scaling,
 * segments, loop restoration, palettes, block copies, global motion, or film grain. Names are those
 * of the syntax elements ("AV1 Bitstream & Decoding Process Specification", 5.5 and 5.9).
 */

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	AV1_SLOTS = 8, /* in which decoders keep frames: NUM_REF_FRAMES */
	AV1_REFERENCES = 7,
	AV1_ALL_SLOTS = 0xFF,	   /* refresh_frame_flags of a key frame */
	AV1_PRIMARY_REF_NONE = 7,  /* primary_ref_frame: no probabilities are inherited */
	AV1_FILTER_SWITCHABLE = 4, /* interpolation_filter: blocks state theirs */
	AV1_ORDER_HINT_BITS = 8,   /* enough, and usual for hardware encoders */
	AV1_LEVEL = 4,		   /* 3.0: 720 by 576 at 30 frames a second */
	AV1_LEVEL_MAX = 23,	   /* 7.3 */
};

enum av1_obu { AV1_SEQUENCE_HEADER = 1, AV1_TEMPORAL_DELIMITER, AV1_FRAME_HEADER, AV1_TILE_GROUP };

struct av1_sequence {
	unsigned width, height; /* 1 up to 4096, and 4096 * 2304 pixels: the limit of a tile */
	unsigned seq_level_idx; /* AV1_LEVEL, or the level that the driver reports */
	bool seq_tier;
	bool use_128x128_superblock, enable_filter_intra, enable_intra_edge_filter;
	bool enable_interintra_compound, enable_masked_compound, enable_warped_motion;
	bool enable_dual_filter;
	unsigned order_hint_bits; /* AV1_ORDER_HINT_BITS; 0: enable_order_hint is 0 */
	bool enable_jnt_comp, enable_ref_frame_mvs; /* only with order hints */
	bool enable_superres, enable_cdef, enable_restoration;
	bool separate_uv_delta_q; /* V has quantisers of its own */
};

struct av1_frame {
	bool key; /* with AV1_ALL_SLOTS and AV1_PRIMARY_REF_NONE; false: an inter frame */
	unsigned order_hint, primary_ref_frame, refresh_frame_flags;
	/* Only for inter frames. */
	uint8_t ref_frame_idx[AV1_REFERENCES];
	unsigned interpolation_filter; /* up to AV1_FILTER_SWITCHABLE */
	/* For all frames. */
	unsigned base_q_idx; /* 0 without differences: lossless and unfiltered */
	int y_dc_delta_q, uv_dc_delta_q, uv_ac_delta_q;
	int v_dc_delta_q, v_ac_delta_q; /* with separate_uv_delta_q; the others are then U's */
	bool using_qmatrix;
	unsigned qm_y, qm_uv, qm_v;
	bool delta_q_present, delta_lf_present, delta_lf_multi;
	unsigned delta_q_res, delta_lf_res;
	unsigned loop_filter_level[4]; /* vertical, horizontal, U, V */
	unsigned loop_filter_sharpness;
	bool loop_filter_delta_enabled, loop_filter_delta_update;
	bool loop_filter_ref_deltas_kept, loop_filter_mode_deltas_kept; /* they are left out */
	int loop_filter_ref_deltas[AV1_SLOTS], loop_filter_mode_deltas[2];
	unsigned cdef_damping_minus_3, cdef_bits; /* with enable_cdef */
	uint8_t cdef_y_pri_strength[8], cdef_y_sec_strength[8];
	uint8_t cdef_uv_pri_strength[8], cdef_uv_sec_strength[8];
	bool tx_mode_select;
};

/* The bits of a frame header, counted from its first, that an encoder changes. In a lossless frame
 * the filters' places are where they would be. A unit's size is in its second byte. */
struct av1_places {
	unsigned base_q_idx, loop_filter, cdef; /* their first bits */
	unsigned cdef_bits;			/* how many */
	unsigned end;				/* after the trailing bits */
};

/* Appends a unit: AV1_TEMPORAL_DELIMITER, which is empty, begins a shown frame; AV1_TILE_GROUP, after
 * the frame header, has the bytes of the tile. `size_bytes`: the length of the size field, up to 4;
 * 0: as short as possible. */
void av1_add_obu(enum av1_obu type, const void *data, size_t size, unsigned size_bytes,
		 struct text *out);

/* Append a header. `places` may be NULL. */
void av1_add_sequence_header(const struct av1_sequence *sequence, unsigned size_bytes,
			     struct text *out);
void av1_add_frame_header(const struct av1_sequence *sequence, const struct av1_frame *frame,
			  unsigned size_bytes, struct av1_places *places, struct text *out);
