/* SPDX-License-Identifier: MIT */
/* Describes H.264 for Direct3D 12. */
#include "workloads/video/h264.h"

#include "workloads/d3d12video/d3d12video.h"

#include "base/cleanup.h"

/* Only the first picture is a key frame, and no optional tool is used. */
static int choose(struct d3d12video_encoder *e, struct error *err)
{
	(void)err;

	e->settings.pictures.h264 = (D3D12_VIDEO_ENCODER_SEQUENCE_GOP_STRUCTURE_H264){
		.PPicturePeriod = 1,
		.log2_max_frame_num_minus4 = H264_FRAME_NUMBER_BITS - 4,
		.log2_max_pic_order_cnt_lsb_minus4 = H264_ORDER_BITS - 4,
	};
	return 0;
}

static int write_headers(struct d3d12video_encoder *e, struct error *err)
{
	/* level_idc by D3D12_VIDEO_ENCODER_LEVELS_H264; the second is 1b. */
	static const uint8_t levels[] = {10, 11, 11, 12, 13, 20, 21, 22, 30, 31,
					 32, 40, 41, 42, 50, 51, 52, 60, 61, 62};
	const unsigned level = (unsigned)e->settings.level_setting.h264;
	const bool high = e->settings.profile_number == D3D12_VIDEO_ENCODER_PROFILE_H264_HIGH;

	if (level >= ARRAY_SIZE(levels))
		return error_set(err, ERROR_FORMAT,
				 "the driver suggests level %u, which is not a level", level);
	const struct h264_sequence sequence = {
		.profile = high ? H264_PROFILE_HIGH : H264_PROFILE_MAIN,
		.constraints = level == D3D12_VIDEO_ENCODER_LEVELS_H264_1b ? 0x10 : 0,
		.level = levels[level],
	};
	h264_add_sequence(&sequence, &e->job->source, &e->headers);
	h264_add_picture(&e->headers);
	return 0;
}

static void describe(const struct d3d12video_encoder *e, struct d3d12video_picture *out)
{
	const unsigned index = e->index, count = index > 0 ? 1 : 0;

	out->before.h264 = (D3D12_VIDEO_ENCODER_REFERENCE_PICTURE_DESCRIPTOR_H264){
		.PictureOrderCountNumber = 2 * (index - count),
		.FrameDecodingOrderNumber = index - count,
	};
	out->data.h264 = (D3D12_VIDEO_ENCODER_PICTURE_CONTROL_CODEC_DATA_H264){
		.FrameType = count == 0 ? D3D12_VIDEO_ENCODER_FRAME_TYPE_H264_IDR_FRAME
					: D3D12_VIDEO_ENCODER_FRAME_TYPE_H264_P_FRAME,
		.PictureOrderCountNumber = 2 * index,
		.FrameDecodingOrderNumber = index,
		.List0ReferenceFramesCount = count,
		.pList0ReferenceFrames = &out->first,
		.ReferenceFramesReconPictureDescriptorsCount = count,
		.pReferenceFramesReconPictureDescriptors = &out->before.h264,
	};
}

const struct d3d12video_codec d3d12video_h264 = {
	.level_size = sizeof(D3D12_VIDEO_ENCODER_LEVELS_H264),
	.tools_size = sizeof(D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_H264),
	.pictures_size = sizeof(D3D12_VIDEO_ENCODER_SEQUENCE_GOP_STRUCTURE_H264),
	.data_size = sizeof(D3D12_VIDEO_ENCODER_PICTURE_CONTROL_CODEC_DATA_H264),
	.quality = D3D12VIDEO_QUALITY,
	.choose = choose,
	.write_headers = write_headers,
	.describe = describe,
};
