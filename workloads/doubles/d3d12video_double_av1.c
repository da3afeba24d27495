/* SPDX-License-Identifier: MIT */
/*
 * Lossless AV1 (av1_lossless.h), whatever quantiser is requested: the driver reports that it used 0. Words
 * of GPUCERT_DOUBLE:
 *
 *   features=N         it requires these tools (D3D12_VIDEO_ENCODER_AV1_FEATURE_FLAGS), not those that
 *                      NVIDIA's drivers do
 *   order              it has tools that need the order of frames
 *   largest            transforms are as large as blocks
 *   small-transforms   they are 4 by 4
 *   old-question       it knows only the shorter form of the query for all settings
 *   fresh              each frame begins with the default probabilities
 *   remap              references are other slots than those described, with the same content
 *   filters            it reports values that differ from those of its tiles, each a different one
 *   segments, compound, columns, no-such-quantiser, no-such-reference
 *                      it reports that it used something not requested or not existing
 *   spoil=WHAT         the caller's description is spoilt before it is checked: order, number, type,
 *                      slot, before, primary, refresh, transforms, tiles
 */
#include "workloads/doubles/av1_lossless.h"
#include "workloads/doubles/d3d12video_double_commands.h"
#include "workloads/doubles/settings.h"
#include "workloads/video/av1.h"

#include <string.h>

enum { NVIDIA = 0x11400, FILTER = 2 /* the fewest tools that it has */ };

static struct av1_picture picture; /* the current picture */
static struct av1_tables tables;

static bool is_fresh(void)
{
	return picture.FrameType == AV1_FRAME_TYPE_KEY || setting_has("fresh");
}

static UINT wanted_features(void)
{
	return (UINT)setting_number("features", NVIDIA) |
	       (setting_has("order") ? AV1_FEATURE_ORDER_HINT_TOOLS : 0);
}

static HRESULT
report_configuration(D3D12_FEATURE_DATA_VIDEO_ENCODER_CODEC_CONFIGURATION_SUPPORT *query)
{
	const struct av1_support supported = {
		.SupportedFeatureFlags = wanted_features(),
		.RequiredFeatureFlags = (UINT)setting_number("features", NVIDIA),
		.SupportedInterpolationFilters = 1u << FILTER | 1u << AV1_FILTER_SWITCHABLE,
		.SupportedTxModes = {setting_has("small-transforms") ? 1 : 7,
				     setting_has("small-transforms") ? 1
				     : setting_has("largest")	     ? 3
								     : 7},
		.MaxTemporalLayers = 1,
		.MaxSpatialLayers = 1,
	};
	if (query->CodecSupportLimits.DataSize != sizeof(supported))
		return E_INVALIDARG;
	query->IsSupported = TRUE;
	memcpy(query->CodecSupportLimits.pH264Support, &supported, sizeof(supported));
	return S_OK;
}

static bool
are_tiles_right(const D3D12_VIDEO_ENCODER_PICTURE_CONTROL_SUBREGIONS_LAYOUT_DATA *layout)
{
	const struct av1_tiles *tiles = (const void *)layout->pSlicesPartition_H264;
	return layout->DataSize == sizeof(*tiles) && tiles->RowCount == 1 && tiles->ColCount == 1;
}

static bool is_sequence_right(const D3D12_FEATURE_DATA_VIDEO_ENCODER_SUPPORT *query)
{
	const struct d3d12video_support1 *all = (const void *)query;
	const struct av1_configuration *tools = (const void *)query->CodecConfiguration.pH264Config;
	const struct av1_structure *group =
		(const void *)query->CodecGopSequence.pH264GroupOfPictures;
	return query->CodecConfiguration.DataSize == sizeof(*tools) &&
	       tools->FeatureFlags == wanted_features() &&
	       tools->OrderHintBitsMinus1 == AV1_ORDER_HINT_BITS - 1 &&
	       query->CodecGopSequence.DataSize == sizeof(*group) && group->IntraDistance == 0 &&
	       group->InterFramePeriod == 1 && are_tiles_right(&all->SubregionFrameEncodingData);
}

static void spoil(void)
{
	char what[32] = "";
	(void)setting_text("spoil", what, sizeof(what));
#define SPOIL(name, statement)                                                                     \
	if (strcmp(what, name) == 0)                                                               \
	statement
	SPOIL("order", picture.OrderHint++);
	SPOIL("number", picture.PictureIndex++);
	SPOIL("type", picture.FrameType = AV1_FRAME_TYPE_INTER - picture.FrameType);
	SPOIL("slot", picture.ReferenceFramesReconPictureDescriptors[5]
			      .ReconstructedPictureResourceIndex++);
	SPOIL("before", picture.ReferenceFramesReconPictureDescriptors[7].OrderHint++);
	SPOIL("primary", picture.PrimaryRefFrame = 1);
	SPOIL("refresh", picture.RefreshFrameFlags = 1);
	SPOIL("transforms", picture.TxMode = 0);
}

static bool are_slots_right(unsigned index)
{
	bool right = true;
	for (unsigned i = 0; i < AV1_SLOTS; i++) {
		const struct av1_descriptor *slot =
			&picture.ReferenceFramesReconPictureDescriptors[i];
		right = right &&
			slot->ReconstructedPictureResourceIndex ==
				(index == 0 ? AV1_NO_RESOURCE : 0) &&
			(index == 0 ||
			 (slot->OrderHint == index - 1 && slot->PictureIndex == index - 1 &&
			  slot->FrameType ==
				  (index == 1 ? AV1_FRAME_TYPE_KEY : AV1_FRAME_TYPE_INTER)));
	}
	return right;
}

static bool is_picture_right(const D3D12_VIDEO_ENCODER_ENCODEFRAME_INPUT_ARGUMENTS *input,
			     unsigned index)
{
	const D3D12_VIDEO_ENCODER_PICTURE_CONTROL_CODEC_DATA *data =
		&input->PictureControlDesc.PictureControlCodecData;
	if (data->DataSize != sizeof(picture))
		return false;
	memcpy(&picture, data->pH264PicData, sizeof(picture));
	spoil();
	return picture.FrameType == (index == 0 ? AV1_FRAME_TYPE_KEY : AV1_FRAME_TYPE_INTER) &&
	       picture.OrderHint == index && picture.PictureIndex == index &&
	       picture.PrimaryRefFrame == (index == 0 ? AV1_PRIMARY_REF_NONE : 0u) &&
	       picture.RefreshFrameFlags == AV1_ALL_SLOTS && picture.Flags == 0 &&
	       picture.InterpolationFilter == FILTER &&
	       picture.TxMode ==
		       (setting_has("largest") ? AV1_TX_MODE_LARGEST : AV1_TX_MODE_SELECT) &&
	       are_slots_right(index) &&
	       are_tiles_right(&input->SequenceControlDesc.FrameSubregionsLayoutData);
}

static void put(const struct h264_pcm *writer, const struct video_planes *frame,
		struct text *stream)
{
	(void)writer;
	av1_lossless_add(&tables, picture.FrameType == AV1_FRAME_TYPE_KEY, is_fresh(), frame,
			 stream);
}

/* Fills the values that a header of a lossy frame contains. */
static void fill(struct av1_values *values)
{
	*values = (struct av1_values){
		.LoopFilterLevel = {11, 12, 13, 14},
		.LoopFilterSharpnessLevel = 5,
		.LoopFilterDeltaEnabled = 1,
		.UpdateRefDelta = 1,
		.RefDeltas = {-64, -3, -2, -1, 1, 2, 3, 63},
		.DeltaLFPresent = 1,
		.DeltaLFMulti = 1,
		.DeltaLFRes = 3,
		.BaseQIndex = 200,
		.YDCDeltaQ = -1,
		.UDCDeltaQ = 2,
		.UACDeltaQ = -3,
		.VDCDeltaQ = 4,
		.VACDeltaQ = -5,
		.UsingQMatrix = 1,
		.QMY = 6,
		.QMU = 7,
		.QMV = 8,
		.DeltaQPresent = 1,
		.DeltaQRes = 2,
		.CdefBits = 1,
		.CdefDampingMinus3 = 2,
		.CdefYPriStrength = {15, 1},
		.CdefUVPriStrength = {14, 2},
		.CdefYSecStrength = {3, 1},
		.CdefUVSecStrength = {2, 3},
	};
}

static void report_values(void *out)
{
	struct av1_reported reported = {
		.tiles = {.RowCount = 1, .ColCount = setting_has("columns") ? 2 : 1},
		.CompoundPredictionType = setting_has("compound"),
		.values = picture.values,
		.SegmentationConfig = {.NumSegments = setting_has("segments") ? 2 : 0},
		.PrimaryRefFrame = is_fresh() ? AV1_PRIMARY_REF_NONE : picture.PrimaryRefFrame,
	};
	reported.values.BaseQIndex = setting_has("no-such-quantiser") ? 256 : 0;
	if (setting_has("filters"))
		fill(&reported.values);
	for (size_t i = 0; i < AV1_REFERENCES; i++)
		reported.ReferenceIndices[i] = setting_has("remap")		  ? i
					       : setting_has("no-such-reference") ? AV1_SLOTS
										  : 0;
	memcpy(out, &reported, sizeof(reported));
}

const struct double_codec double_av1 = {
	.number = (D3D12_VIDEO_ENCODER_CODEC)VIDEO_AV1,
	.level = AV1_LEVEL,
	.report_configuration = report_configuration,
	.is_sequence_right = is_sequence_right,
	.is_picture_right = is_picture_right,
	.put = put,
	.report_values = report_values,
};
