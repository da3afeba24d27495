/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * AV1 as in newer headers of Direct3D 12 than those of the build. Members that follow each other in
 * several structures are one structure here; names of members are the header's. Sources:
 * d3d12video.h of DirectX-Headers 1.614, and "AV1 D3D12 Video Encoding" of the DirectX specifications.
 */

#include <windows.h>

enum {
	AV1_TILES_MAX = 64,	/* D3D12_VIDEO_ENCODER_AV1_MAX_TILE_ROWS and ..._COLS */
	AV1_FRAME_TYPE_KEY = 0, /* D3D12_VIDEO_ENCODER_AV1_FRAME_TYPE_... */
	AV1_FRAME_TYPE_INTER = 1,
	AV1_TX_MODE_LARGEST = 1, /* D3D12_VIDEO_ENCODER_AV1_TX_MODE_... */
	AV1_TX_MODE_SELECT = 2,
	AV1_FEATURE_ORDER_HINT_TOOLS = 0x8000, /* D3D12_VIDEO_ENCODER_AV1_FEATURE_FLAG_... */
};

/* D3D12_VIDEO_ENCODER_AV1_CODEC_CONFIGURATION_SUPPORT */
struct av1_support {
	UINT SupportedFeatureFlags, RequiredFeatureFlags;
	UINT SupportedInterpolationFilters, SupportedRestorationParams[3][3];
	UINT SupportedSegmentationModes, SupportedTxModes[4]; /* by the type of frames */
	UINT SegmentationBlockSize, PostEncodeValuesFlags, MaxTemporalLayers, MaxSpatialLayers;
};

/* D3D12_VIDEO_ENCODER_AV1_CODEC_CONFIGURATION */
struct av1_configuration {
	UINT FeatureFlags, OrderHintBitsMinus1;
};

/* D3D12_VIDEO_ENCODER_AV1_SEQUENCE_STRUCTURE */
struct av1_structure {
	UINT IntraDistance, InterFramePeriod;
};

/* D3D12_VIDEO_ENCODER_AV1_PICTURE_CONTROL_SUBREGIONS_LAYOUT_DATA_TILES */
struct av1_tiles {
	UINT64 RowCount, ColCount, RowHeights[AV1_TILES_MAX], ColWidths[AV1_TILES_MAX];
	UINT64 ContextUpdateTileId;
};

/* D3D12_VIDEO_ENCODER_CODEC_AV1_LOOP_FILTER_CONFIG, ..._LOOP_FILTER_DELTA_CONFIG, ..._QUANTIZATION_CONFIG,
 * ..._QUANTIZATION_DELTA_CONFIG and D3D12_VIDEO_ENCODER_AV1_CDEF_CONFIG */
struct av1_values {
	UINT64 LoopFilterLevel[4], LoopFilterSharpnessLevel, LoopFilterDeltaEnabled;
	UINT64 UpdateRefDelta;
	INT64 RefDeltas[8];
	UINT64 UpdateModeDelta;
	INT64 ModeDeltas[2];
	UINT64 DeltaLFPresent, DeltaLFMulti, DeltaLFRes;
	UINT64 BaseQIndex;
	INT64 YDCDeltaQ, UDCDeltaQ, UACDeltaQ, VDCDeltaQ, VACDeltaQ;
	UINT64 UsingQMatrix, QMY, QMU, QMV;
	UINT64 DeltaQPresent, DeltaQRes;
	UINT64 CdefBits, CdefDampingMinus3;
	UINT64 CdefYPriStrength[8], CdefUVPriStrength[8], CdefYSecStrength[8], CdefUVSecStrength[8];
};

/* D3D12_VIDEO_ENCODER_AV1_SEGMENTATION_CONFIG */
struct av1_segmentation {
	UINT64 UpdateMap, TemporalUpdate, UpdateData, NumSegments, SegmentsData[8][1 + 8];
};

/* D3D12_VIDEO_ENCODER_AV1_REFERENCE_PICTURE_DESCRIPTOR */
struct av1_descriptor {
	UINT ReconstructedPictureResourceIndex; /* AV1_NO_RESOURCE: an empty slot */
	UINT TemporalLayerIndexPlus1, SpatialLayerIndexPlus1, FrameType;
	INT WarpedMotionInfo[1 + 8 + 1];
	UINT OrderHint, PictureIndex;
};

enum { AV1_NO_RESOURCE = 0xFF };

/* D3D12_VIDEO_ENCODER_AV1_PICTURE_CONTROL_CODEC_DATA */
struct av1_picture {
	UINT Flags, FrameType, CompoundPredictionType, InterpolationFilter;
	UINT FrameRestorationConfig[3 + 3], TxMode, SuperResDenominator, OrderHint, PictureIndex;
	UINT TemporalLayerIndexPlus1, SpatialLayerIndexPlus1;
	struct av1_descriptor ReferenceFramesReconPictureDescriptors[8];
	UINT ReferenceIndices[7], PrimaryRefFrame, RefreshFrameFlags;
	struct av1_values values;
	UINT QPMapValuesCount;
	INT16 *pRateControlQPMap;
	struct av1_segmentation CustomSegmentation;
	UINT SegmentsMapByteSize;
	UINT8 *pSegmentsMap;
};

/* D3D12_VIDEO_ENCODER_AV1_POST_ENCODE_VALUES, after the tiles: it follows the parts of a picture in its
 * resolved metadata. */
struct av1_reported {
	struct av1_tiles tiles;
	UINT64 CompoundPredictionType;
	struct av1_values values;
	struct av1_segmentation SegmentationConfig;
	UINT64 PrimaryRefFrame, ReferenceIndices[7];
};
