/* SPDX-License-Identifier: MIT */
/* The structures of AV1 are those of d3d12video.h of DirectX-Headers: sizes and places as its structures
 * have them on 64-bit systems. This only has to compile. */
#include "workloads/d3d12video/d3d12video.h"

#define SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type)
#define AT(type, member, place)                                                                    \
	_Static_assert(offsetof(struct type, member) == (place), #type "." #member)

SIZE(av1_support, 84);
AT(av1_support, SupportedTxModes, 52);
AT(av1_support, PostEncodeValuesFlags, 72);
SIZE(av1_configuration, 8);
SIZE(av1_structure, 8);
SIZE(av1_tiles, 1048);
AT(av1_tiles, ContextUpdateTileId, 1040);
SIZE(av1_segmentation, 608);
SIZE(av1_descriptor, 64);
AT(av1_descriptor, OrderHint, 56);
SIZE(av1_picture, 1792);
AT(av1_picture, TxMode, 40);
AT(av1_picture, OrderHint, 48);
AT(av1_picture, ReferenceFramesReconPictureDescriptors, 64);
AT(av1_picture, ReferenceIndices, 576);
AT(av1_picture, PrimaryRefFrame, 604);
AT(av1_picture, RefreshFrameFlags, 608);
AT(av1_picture, values, 616);
AT(av1_picture, values.BaseQIndex, 784);
AT(av1_picture, values.DeltaQPresent, 864);
AT(av1_picture, values.CdefBits, 880);
AT(av1_picture, QPMapValuesCount, 1152);
AT(av1_picture, pRateControlQPMap, 1160);
AT(av1_picture, CustomSegmentation, 1168);
AT(av1_picture, SegmentsMapByteSize, 1776);
AT(av1_picture, pSegmentsMap, 1784);
/* Behind the tiles. */
SIZE(av1_reported, 1048 + 1216);
AT(av1_reported, CompoundPredictionType, 1048);
AT(av1_reported, values, 1048 + 8);
AT(av1_reported, values.RefDeltas, 1048 + 64);
AT(av1_reported, values.DeltaLFPresent, 1048 + 152);
AT(av1_reported, values.BaseQIndex, 1048 + 176);
AT(av1_reported, values.DeltaQPresent, 1048 + 256);
AT(av1_reported, values.CdefBits, 1048 + 272);
AT(av1_reported, values.CdefYSecStrength, 1048 + 416);
AT(av1_reported, SegmentationConfig, 1048 + 544);
AT(av1_reported, PrimaryRefFrame, 1048 + 1152);
AT(av1_reported, ReferenceIndices, 1048 + 1160);
AT(d3d12video_support1, SubregionFrameEncodingData,
   sizeof(D3D12_FEATURE_DATA_VIDEO_ENCODER_SUPPORT));
AT(d3d12video_support1, MaxQualityVsSpeed, sizeof(D3D12_FEATURE_DATA_VIDEO_ENCODER_SUPPORT) + 16);
