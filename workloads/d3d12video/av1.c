/* SPDX-License-Identifier: MIT */
/* Describes AV1 for Direct3D 12: with only the tools that the driver requires. The driver codes tiles;
 * the headers before them are written once it has reported the values that it used. */
#include "workloads/video/av1.h"

#include "workloads/d3d12video/d3d12video.h"

#include "base/cleanup.h"

#include <string.h>

enum { BASE_Q_IDX = 128 };

/* Members of a sequence header, and D3D12_VIDEO_ENCODER_AV1_FEATURE_FLAGS. */
#define TOOLS(X)                                                                                   \
	X(use_128x128_superblock, 0x1)                                                             \
	X(enable_filter_intra, 0x2)                                                                \
	X(enable_intra_edge_filter, 0x4)                                                           \
	X(enable_interintra_compound, 0x8)                                                         \
	X(enable_masked_compound, 0x10)                                                            \
	X(enable_warped_motion, 0x20)                                                              \
	X(enable_dual_filter, 0x40)                                                                \
	X(enable_jnt_comp, 0x80)                                                                   \
	X(enable_superres, 0x200)                                                                  \
	X(enable_restoration, 0x400)                                                               \
	X(enable_cdef, 0x1000)                                                                     \
	X(enable_ref_frame_mvs, 0x4000)

/* Chooses the tools that the driver requires, and the order of frames where it can use it. */
static int choose(struct d3d12video_encoder *e, struct error *err)
{
	static const struct av1_tiles one = {.RowCount = 1, .ColCount = 1};
	struct d3d12video_settings *s = &e->settings;
	struct av1_support support = {0};
	D3D12_FEATURE_DATA_VIDEO_ENCODER_CODEC_CONFIGURATION_SUPPORT query = {
		.Codec = s->codec,
		.Profile = s->profile,
		.CodecSupportLimits = {.DataSize = sizeof(support),
				       .pH264Support = (void *)&support},
	};

	int rc = D3D12VIDEO_ASK(e->video, err, CODEC_CONFIGURATION_SUPPORT, &query);
	if (rc != 0)
		return rc;
	const UINT modes = support.SupportedTxModes[AV1_FRAME_TYPE_KEY] &
			   support.SupportedTxModes[AV1_FRAME_TYPE_INTER];
	e->av1_tx_mode = modes >> AV1_TX_MODE_SELECT & 1 ? AV1_TX_MODE_SELECT : AV1_TX_MODE_LARGEST;
	if (!query.IsSupported || (modes >> e->av1_tx_mode & 1) == 0)
		return error_set(err, ERROR_UNSUPPORTED,
				 "the driver has no transforms but those of 4 by 4");
	while (e->av1_filter < AV1_FILTER_SWITCHABLE &&
	       (support.SupportedInterpolationFilters >> e->av1_filter & 1) == 0)
		e->av1_filter++;
	s->tools.av1.FeatureFlags = support.RequiredFeatureFlags |
				    (support.SupportedFeatureFlags & AV1_FEATURE_ORDER_HINT_TOOLS);
	s->tools.av1.OrderHintBitsMinus1 = AV1_ORDER_HINT_BITS - 1;
	s->pictures.av1.InterFramePeriod = 1;
	s->layout.DataSize = sizeof(one);
	s->layout.pSlicesPartition_H264 = (const void *)&one;
	return 0;
}

static struct av1_sequence sequence_of(const struct d3d12video_settings *s)
{
	const UINT features = s->tools.av1.FeatureFlags;
	struct av1_sequence sequence = {
		.width = s->size.Width,
		.height = s->size.Height,
		.seq_level_idx = (unsigned)s->level_setting.hevc.Level,
		.seq_tier = s->level_setting.hevc.Tier != 0,
		.order_hint_bits =
			(features & AV1_FEATURE_ORDER_HINT_TOOLS) != 0 ? AV1_ORDER_HINT_BITS : 0,
		.separate_uv_delta_q = true,
	};
#define COPY(name, flag) sequence.name = (features & (flag)) != 0;
	TOOLS(COPY)
#undef COPY
	return sequence;
}

static int write_headers(struct d3d12video_encoder *e, struct error *err)
{
	const struct av1_sequence sequence = sequence_of(&e->settings);

	if (sequence.seq_level_idx > AV1_LEVEL_MAX)
		return error_set(err, ERROR_FORMAT,
				 "the driver suggests level %u, which is not a level",
				 sequence.seq_level_idx);
	av1_add_sequence_header(&sequence, 0, &e->headers);
	return 0;
}

/* Every picture fills all slots, so that each slot holds the one before. */
static void describe(const struct d3d12video_encoder *e, struct d3d12video_picture *out)
{
	const unsigned index = e->index;
	struct av1_picture *picture = &out->data.av1;

	*picture = (struct av1_picture){
		.FrameType = index == 0 ? AV1_FRAME_TYPE_KEY : AV1_FRAME_TYPE_INTER,
		.InterpolationFilter = e->av1_filter,
		.TxMode = e->av1_tx_mode,
		.OrderHint = index,
		.PictureIndex = index,
		.PrimaryRefFrame = index == 0 ? AV1_PRIMARY_REF_NONE : 0,
		.RefreshFrameFlags = AV1_ALL_SLOTS,
		.values = {.BaseQIndex = BASE_Q_IDX},
	};
	for (size_t i = 0; i < AV1_SLOTS; i++) {
		struct av1_descriptor *slot = &picture->ReferenceFramesReconPictureDescriptors[i];
		slot->ReconstructedPictureResourceIndex = index == 0 ? AV1_NO_RESOURCE : 0;
		slot->FrameType = index > 1 ? AV1_FRAME_TYPE_INTER : AV1_FRAME_TYPE_KEY;
		slot->OrderHint = slot->PictureIndex = index == 0 ? 0 : index - 1;
	}
}

/* The frame header of a picture. */
static struct av1_frame frame_of(const struct d3d12video_encoder *e,
				 const struct av1_reported *reported)
{
	const struct av1_values *v = &reported->values;
	struct av1_frame frame = {
		.key = e->index == 0,
		.order_hint = e->index,
		.primary_ref_frame = (unsigned)reported->PrimaryRefFrame,
		.refresh_frame_flags = AV1_ALL_SLOTS,
		.interpolation_filter = e->av1_filter,
		.base_q_idx = (unsigned)v->BaseQIndex,
		.y_dc_delta_q = (int)v->YDCDeltaQ,
		.uv_dc_delta_q = (int)v->UDCDeltaQ,
		.uv_ac_delta_q = (int)v->UACDeltaQ,
		.v_dc_delta_q = (int)v->VDCDeltaQ,
		.v_ac_delta_q = (int)v->VACDeltaQ,
		.using_qmatrix = v->UsingQMatrix != 0,
		.qm_y = (unsigned)v->QMY,
		.qm_uv = (unsigned)v->QMU,
		.qm_v = (unsigned)v->QMV,
		.delta_q_present = v->DeltaQPresent != 0,
		.delta_q_res = (unsigned)v->DeltaQRes,
		.delta_lf_present = v->DeltaLFPresent != 0,
		.delta_lf_res = (unsigned)v->DeltaLFRes,
		.delta_lf_multi = v->DeltaLFMulti != 0,
		.loop_filter_sharpness = (unsigned)v->LoopFilterSharpnessLevel,
		.loop_filter_delta_enabled = v->LoopFilterDeltaEnabled != 0,
		.loop_filter_delta_update = (v->UpdateRefDelta | v->UpdateModeDelta) != 0,
		.loop_filter_ref_deltas_kept = v->UpdateRefDelta == 0,
		.loop_filter_mode_deltas_kept = v->UpdateModeDelta == 0,
		.loop_filter_mode_deltas = {(int)v->ModeDeltas[0], (int)v->ModeDeltas[1]},
		.cdef_damping_minus_3 = (unsigned)v->CdefDampingMinus3,
		.cdef_bits = (unsigned)v->CdefBits,
		.tx_mode_select = e->av1_tx_mode == AV1_TX_MODE_SELECT,
	};

	for (size_t i = 0; i < ARRAY_SIZE(frame.loop_filter_level); i++)
		frame.loop_filter_level[i] = (unsigned)v->LoopFilterLevel[i];
	for (size_t i = 0; i < AV1_REFERENCES; i++)
		frame.ref_frame_idx[i] = (uint8_t)reported->ReferenceIndices[i];
	for (size_t i = 0; i < AV1_SLOTS; i++) {
		frame.loop_filter_ref_deltas[i] = (int)v->RefDeltas[i];
		frame.cdef_y_pri_strength[i] = (uint8_t)v->CdefYPriStrength[i];
		frame.cdef_y_sec_strength[i] = (uint8_t)v->CdefYSecStrength[i];
		frame.cdef_uv_pri_strength[i] = (uint8_t)v->CdefUVPriStrength[i];
		frame.cdef_uv_sec_strength[i] = (uint8_t)v->CdefUVSecStrength[i];
	}
	return frame;
}

static int add_picture(struct d3d12video_encoder *e, const void *values, const struct text *tile,
		       struct text *stream, struct error *err)
{
	const struct av1_sequence sequence = sequence_of(&e->settings);
	struct av1_reported reported; /* a copy that the driver cannot change */

	memcpy(&reported, values, sizeof(reported));
	const struct av1_frame frame = frame_of(e, &reported);
	/* Values that were not requested or do not exist are refused. Decoding shows whether others are
	 * right. */
	bool possible = tile->size != 0 && reported.tiles.RowCount == 1 &&
			reported.tiles.ColCount == 1 && reported.CompoundPredictionType == 0 &&
			reported.SegmentationConfig.NumSegments == 0 &&
			reported.values.BaseQIndex <= UINT8_MAX &&
			reported.PrimaryRefFrame <= AV1_PRIMARY_REF_NONE;
	for (size_t i = 0; i < AV1_REFERENCES; i++)
		possible = possible && reported.ReferenceIndices[i] < AV1_SLOTS;
	if (!possible)
		return error_set(
			err, ERROR_FORMAT,
			"what the driver reports on a picture that it coded makes no sense");
	av1_add_obu(AV1_TEMPORAL_DELIMITER, NULL, 0, 0, stream);
	if (frame.key)
		text_add_all(stream, &e->headers);
	av1_add_frame_header(&sequence, &frame, 0, NULL, stream);
	av1_add_obu(AV1_TILE_GROUP, tile->data, tile->size, 0, stream);
	return 0;
}

const struct d3d12video_codec d3d12video_av1 = {
	.level_size =
		sizeof(D3D12_VIDEO_ENCODER_LEVEL_TIER_CONSTRAINTS_HEVC), /* of the same form */
	.tools_size = sizeof(struct av1_configuration),
	.pictures_size = sizeof(struct av1_structure),
	.data_size = sizeof(struct av1_picture),
	.values_size = sizeof(struct av1_reported),
	.quality = BASE_Q_IDX,
	.choose = choose,
	.write_headers = write_headers,
	.describe = describe,
	.add_picture = add_picture,
};
