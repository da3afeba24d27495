/* SPDX-License-Identifier: MIT */
/*
 * HEVC without PCM, which the parameter sets of Direct3D 12 do not support (hevc_intra.h). Words of
 * GPUCERT_DOUBLE:
 *
 *   small-trees      coding trees are 16 by 16, not 64 by 64
 *   large-blocks     no coding block is smaller than 16 by 16
 *   shallow          no transform is split
 *   plain-tools      asymmetric partitions need not be allowed
 *   no-such-sizes    it accepts no block sizes
 *   wild-sizes       it overwrites the query with impossible block sizes
 *   low-delay        pictures that refer to the one before are coded as B
 *   spoil=WHAT       the caller's description is spoilt before it is checked: order, type, set,
 *                    list, descriptors, before, unused
 */
#include "workloads/doubles/d3d12video_double_commands.h"
#include "workloads/doubles/hevc_intra.h"
#include "workloads/doubles/settings.h"
#include "workloads/video/hevc.h"

#include <string.h>

static D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC wanted(void)
{
	const bool small = setting_has("small-trees");
	const unsigned tree = small ? 1 : 3, depth = setting_has("shallow") ? 0 : tree + 1;
	return (D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC){
		setting_has("plain-tools")
			? D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC_FLAG_NONE
			: D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC_FLAG_USE_ASYMETRIC_MOTION_PARTITION,
		(D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC_CUSIZE)setting_has("large-blocks"),
		(D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC_CUSIZE)tree,
		D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC_TUSIZE_4x4,
		small ? D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC_TUSIZE_16x16
		      : D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC_TUSIZE_32x32,
		(UCHAR)depth,
		(UCHAR)depth,
	};
}

static HRESULT report_sizes(D3D12_FEATURE_DATA_VIDEO_ENCODER_CODEC_CONFIGURATION_SUPPORT *query)
{
	const D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC has = wanted();
	D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_SUPPORT_HEVC *asked =
		query->CodecSupportLimits.pHEVCSupport;
	if (query->CodecSupportLimits.DataSize != sizeof(*asked))
		return E_INVALIDARG;
	query->IsSupported = asked->MinLumaCodingUnitSize == has.MinLumaCodingUnitSize &&
			     asked->MaxLumaCodingUnitSize == has.MaxLumaCodingUnitSize &&
			     asked->MinLumaTransformUnitSize == has.MinLumaTransformUnitSize &&
			     asked->MaxLumaTransformUnitSize == has.MaxLumaTransformUnitSize &&
			     asked->max_transform_hierarchy_depth_inter ==
				     has.max_transform_hierarchy_depth_inter &&
			     asked->max_transform_hierarchy_depth_intra ==
				     has.max_transform_hierarchy_depth_intra &&
			     !setting_has("no-such-sizes");
	asked->SupportFlags =
		D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_SUPPORT_HEVC_FLAG_SAO_FILTER_SUPPORT |
		D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_SUPPORT_HEVC_FLAG_ASYMETRIC_MOTION_PARTITION_SUPPORT;
	if (has.ConfigurationFlags != 0)
		asked->SupportFlags |=
			D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_SUPPORT_HEVC_FLAG_ASYMETRIC_MOTION_PARTITION_REQUIRED;
	if (setting_has("low-delay"))
		asked->SupportFlags |=
			D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_SUPPORT_HEVC_FLAG_P_FRAMES_IMPLEMENTED_AS_LOW_DELAY_B_FRAMES;
	if (setting_has("wild-sizes"))
		memset(&asked->MinLumaCodingUnitSize, 0x7F, sizeof(asked->MinLumaCodingUnitSize));
	return S_OK;
}

static bool is_sequence_right(const D3D12_FEATURE_DATA_VIDEO_ENCODER_SUPPORT *query)
{
	const D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC has = wanted();
	const D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC *tools =
		query->CodecConfiguration.pHEVCConfig;
	const D3D12_VIDEO_ENCODER_SEQUENCE_GOP_STRUCTURE_HEVC *group =
		query->CodecGopSequence.pHEVCGroupOfPictures;
	return query->CodecConfiguration.DataSize == sizeof(has) &&
	       tools->ConfigurationFlags == has.ConfigurationFlags &&
	       tools->MinLumaCodingUnitSize == has.MinLumaCodingUnitSize &&
	       tools->MaxLumaCodingUnitSize == has.MaxLumaCodingUnitSize &&
	       tools->MaxLumaTransformUnitSize == has.MaxLumaTransformUnitSize &&
	       tools->max_transform_hierarchy_depth_intra ==
		       has.max_transform_hierarchy_depth_intra &&
	       query->CodecGopSequence.DataSize == sizeof(*group) && group->GOPLength == 0 &&
	       group->PPicturePeriod == 1;
}

static void spoil(D3D12_VIDEO_ENCODER_PICTURE_CONTROL_CODEC_DATA_HEVC *picture,
		  D3D12_VIDEO_ENCODER_REFERENCE_PICTURE_DESCRIPTOR_HEVC *before)
{
	char what[32] = "";
	(void)setting_text("spoil", what, sizeof(what));
#define SPOIL(name, statement)                                                                     \
	if (strcmp(what, name) == 0)                                                               \
	statement
	SPOIL("order", picture->PictureOrderCountNumber++);
	SPOIL("type", picture->FrameType = D3D12_VIDEO_ENCODER_FRAME_TYPE_HEVC_I_FRAME);
	SPOIL("set", picture->slice_pic_parameter_set_id = 1);
	SPOIL("list", picture->List0ReferenceFramesCount = 0);
	SPOIL("descriptors", picture->ReferenceFramesReconPictureDescriptorsCount = 0);
	SPOIL("before", before->PictureOrderCountNumber++);
	SPOIL("unused", before->IsRefUsedByCurrentPic = FALSE);
}

static bool is_picture_right(const D3D12_VIDEO_ENCODER_ENCODEFRAME_INPUT_ARGUMENTS *input,
			     unsigned index)
{
	D3D12_VIDEO_ENCODER_PICTURE_CONTROL_CODEC_DATA_HEVC picture =
		*input->PictureControlDesc.PictureControlCodecData.pHEVCPicData;
	D3D12_VIDEO_ENCODER_REFERENCE_PICTURE_DESCRIPTOR_HEVC before = {0};
	if (index > 0)
		before = *picture.pReferenceFramesReconPictureDescriptors;
	spoil(&picture, &before);
	if (input->PictureControlDesc.PictureControlCodecData.DataSize != sizeof(picture) ||
	    picture.PictureOrderCountNumber != index || picture.slice_pic_parameter_set_id != 0 ||
	    picture.List1ReferenceFramesCount != 0)
		return false;
	if (index == 0)
		return picture.FrameType == D3D12_VIDEO_ENCODER_FRAME_TYPE_HEVC_IDR_FRAME &&
		       picture.List0ReferenceFramesCount == 0 &&
		       picture.ReferenceFramesReconPictureDescriptorsCount == 0;
	return picture.FrameType == D3D12_VIDEO_ENCODER_FRAME_TYPE_HEVC_P_FRAME &&
	       picture.List0ReferenceFramesCount == 1 && picture.pList0ReferenceFrames[0] == 0 &&
	       picture.ReferenceFramesReconPictureDescriptorsCount == 1 &&
	       before.ReconstructedPictureResourceIndex == 0 && before.IsRefUsedByCurrentPic &&
	       before.PictureOrderCountNumber == index - 1;
}

/* 7.3.6.1, for the parameter sets that the caller must write. */
static void put_header(unsigned index, unsigned type, struct text *out)
{
	struct unit unit = hevc_unit(index == 0 ? HEVC_IDR_W_RADL : HEVC_TRAIL_R);
	unit_put(&unit, 1, 1); /* the first of the picture */
	if (index == 0)
		unit_put(&unit, 0, 1); /* earlier pictures are shown */
	unit_put_ue(&unit, 0);
	unit_put_ue(&unit, type);
	if (index > 0) {
		unit_put(&unit, index, HEVC_ORDER_BITS);
		unit_put(&unit, 0, 1); /* what it refers to: the picture before */
		unit_put_ue(&unit, 1);
		unit_put_ue(&unit, 0);
		unit_put_ue(&unit, 0);
		unit_put(&unit, 1, 1);
		unit_put(&unit, 0, 1); /* lists of default length */
		if (type == HEVC_SLICE_B)
			unit_put(&unit, 0, 1);
		unit_put(&unit, 0, 1); /* default CABAC tables */
		unit_put_ue(&unit, 0);
	}
	unit_put_se(&unit, HEVC_INTRA_QUALITY - HEVC_MIDDLE_QP);
	unit_put_se(&unit, 0); /* chroma as luma */
	unit_put_se(&unit, 0);
	unit_put(&unit, 1, 1); /* filters cross its edges */
	unit_end(&unit, out);
}

static void put(const struct h264_pcm *writer, const struct video_planes *frame,
		struct text *stream)
{
	const D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC has = wanted();
	const unsigned region = (unsigned)setting_number("region", DOUBLE_SIDE);
	const unsigned side = (DOUBLE_SIDE + region - 1) / region * region;
	const struct hevc_intra shape = {
		.width = side,
		.height = side,
		.shown = {DOUBLE_SIDE, DOUBLE_SIDE},
		.tree = (unsigned)has.MaxLumaCodingUnitSize + 3,
		.block = (unsigned)has.MinLumaCodingUnitSize + 3,
		.depth = has.max_transform_hierarchy_depth_intra,
		.slice_type = writer->count == 0	 ? HEVC_SLICE_I
			      : setting_has("low-delay") ? HEVC_SLICE_B
							 : HEVC_SLICE_P,
	};
	struct text header = {0};
	put_header(writer->count, shape.slice_type, &header);
	hevc_intra_add(&shape, frame, &header, stream);
	text_free(&header);
}

const struct double_codec double_hevc = {
	.number = D3D12_VIDEO_ENCODER_CODEC_HEVC,
	.level = D3D12_VIDEO_ENCODER_LEVELS_HEVC_3,
	.report_configuration = report_sizes,
	.is_sequence_right = is_sequence_right,
	.is_picture_right = is_picture_right,
	.put = put,
};
