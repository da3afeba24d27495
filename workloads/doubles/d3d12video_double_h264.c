/* SPDX-License-Identifier: MIT */
#include "workloads/doubles/d3d12video_double_commands.h"

static bool is_sequence_right(const D3D12_FEATURE_DATA_VIDEO_ENCODER_SUPPORT *query)
{
	const D3D12_VIDEO_ENCODER_SEQUENCE_GOP_STRUCTURE_H264 *group =
		query->CodecGopSequence.pH264GroupOfPictures;
	return query->CodecConfiguration.pH264Config->ConfigurationFlags == 0 &&
	       group->GOPLength == 0 && group->PPicturePeriod == 1 &&
	       group->pic_order_cnt_type == 0;
}

static bool is_picture_right(const D3D12_VIDEO_ENCODER_ENCODEFRAME_INPUT_ARGUMENTS *input,
			     unsigned index)
{
	const D3D12_VIDEO_ENCODER_PICTURE_CONTROL_CODEC_DATA_H264 *picture =
		input->PictureControlDesc.PictureControlCodecData.pH264PicData;
	if (input->PictureControlDesc.PictureControlCodecData.DataSize != sizeof(*picture) ||
	    picture->FrameDecodingOrderNumber != index ||
	    picture->PictureOrderCountNumber != 2 * index || picture->idr_pic_id != 0)
		return false;
	if (index == 0)
		return picture->FrameType == D3D12_VIDEO_ENCODER_FRAME_TYPE_H264_IDR_FRAME &&
		       picture->List0ReferenceFramesCount == 0 &&
		       picture->ReferenceFramesReconPictureDescriptorsCount == 0;
	return picture->FrameType == D3D12_VIDEO_ENCODER_FRAME_TYPE_H264_P_FRAME &&
	       picture->List0ReferenceFramesCount == 1 && picture->pList0ReferenceFrames[0] == 0 &&
	       picture->ReferenceFramesReconPictureDescriptorsCount == 1 &&
	       picture->pReferenceFramesReconPictureDescriptors->FrameDecodingOrderNumber ==
		       index - 1 &&
	       picture->pReferenceFramesReconPictureDescriptors->PictureOrderCountNumber ==
		       2 * (index - 1);
}

/* Key frames only, whatever was requested. */
static void begin(struct h264_pcm *writer, const void *group)
{
	const D3D12_VIDEO_ENCODER_SEQUENCE_GOP_STRUCTURE_H264 *structure = group;
	writer->number_bits = structure->log2_max_frame_num_minus4 + 4u;
	writer->order_bits = structure->log2_max_pic_order_cnt_lsb_minus4 + 4u;
}

const struct double_codec double_h264 = {
	.number = D3D12_VIDEO_ENCODER_CODEC_H264,
	.level = D3D12_VIDEO_ENCODER_LEVELS_H264_3,
	.is_sequence_right = is_sequence_right,
	.is_picture_right = is_picture_right,
	.begin = begin,
};
