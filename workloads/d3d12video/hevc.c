/* SPDX-License-Identifier: MIT */
/* Describes HEVC for Direct3D 12. The values of parameter sets: "Expected VPS, SPS and PPS Values for
 * HEVC" of "D3D12 Video Encoding". */
#include "workloads/video/hevc.h"

#include "workloads/d3d12video/d3d12video.h"

#include "base/cleanup.h"

enum {
	BLOCK_8 = 3,	 /* log2 of D3D12_..._HEVC_CUSIZE_8x8 */
	TRANSFORM_4 = 2, /* log2 of D3D12_..._HEVC_TUSIZE_4x4 */
	SIDE_MAX = 8192, /* of a picture of the highest level */
};

/* Tries sizes, because the driver does not report which ones it supports. Uses the tools that it
 * requires. */
static bool try_sizes(struct d3d12video_encoder *e, unsigned tree, unsigned block, unsigned depth)
{
	D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC tools = {
		.MinLumaCodingUnitSize = (D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC_CUSIZE)block,
		.MaxLumaCodingUnitSize = (D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC_CUSIZE)tree,
		.MaxLumaTransformUnitSize =
			tree == D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC_CUSIZE_16x16
				? D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC_TUSIZE_16x16
				: D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC_TUSIZE_32x32,
		.max_transform_hierarchy_depth_inter = (UCHAR)depth,
		.max_transform_hierarchy_depth_intra = (UCHAR)depth,
	};
	D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_SUPPORT_HEVC support = {
		.MinLumaCodingUnitSize = tools.MinLumaCodingUnitSize,
		.MaxLumaCodingUnitSize = tools.MaxLumaCodingUnitSize,
		.MaxLumaTransformUnitSize = tools.MaxLumaTransformUnitSize,
		.max_transform_hierarchy_depth_inter = (UCHAR)depth,
		.max_transform_hierarchy_depth_intra = (UCHAR)depth,
	};
	D3D12_FEATURE_DATA_VIDEO_ENCODER_CODEC_CONFIGURATION_SUPPORT query = {
		.Codec = e->settings.codec,
		.Profile = e->settings.profile,
		.CodecSupportLimits = {.DataSize = sizeof(support), .pHEVCSupport = &support},
	};

	if (!D3D12VIDEO_ANSWERS(e->video, CODEC_CONFIGURATION_SUPPORT, &query) ||
	    !query.IsSupported)
		return false;
	if ((support.SupportFlags &
	     D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_SUPPORT_HEVC_FLAG_ASYMETRIC_MOTION_PARTITION_REQUIRED) !=
	    0)
		tools.ConfigurationFlags =
			D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC_FLAG_USE_ASYMETRIC_MOTION_PARTITION;
	e->settings.tools.hevc = tools;
	return true;
}

/* Chooses the largest trees of the smallest blocks, with the deepest transforms. */
static int choose(struct d3d12video_encoder *e, struct error *err)
{
	e->settings.pictures.hevc = (D3D12_VIDEO_ENCODER_SEQUENCE_GOP_STRUCTURE_HEVC){
		.PPicturePeriod = 1,
		.log2_max_pic_order_cnt_lsb_minus4 = HEVC_ORDER_BITS - 4,
	};
	for (unsigned tree = D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC_CUSIZE_64x64;
	     tree >= D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC_CUSIZE_16x16; tree--) {
		for (unsigned block = 0; block <= tree; block++) {
			for (unsigned depth = tree + BLOCK_8 - TRANSFORM_4 + 1; depth-- > 0;) {
				if (try_sizes(e, tree, block, depth))
					return 0;
			}
		}
	}
	return error_set(err, ERROR_UNSUPPORTED,
			 "the encoder accepts no sizes of blocks and transforms that HEVC has");
}

static int write_headers(struct d3d12video_encoder *e, struct error *err)
{
	/* general_level_idc by D3D12_VIDEO_ENCODER_LEVELS_HEVC. */
	static const uint8_t levels[] = {30,  60,  63,	90,  93,  120, 123,
					 150, 153, 156, 180, 183, 186};
	const struct d3d12video_settings *s = &e->settings;
	const D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC *tools = &s->tools.hevc;
	const unsigned level = (unsigned)s->level_setting.hevc.Level;
	const unsigned block = (unsigned)tools->MinLumaCodingUnitSize + BLOCK_8;
	const unsigned unit = s->limits.SubregionBlockPixelsSize;

	if (level >= ARRAY_SIZE(levels))
		return error_set(err, ERROR_FORMAT,
				 "the driver suggests level %u, which is not a level", level);
	if (unit == 0 || unit > SIDE_MAX || unit % (1u << block) != 0)
		return error_set(err, ERROR_FORMAT,
				 "the driver codes pictures in regions of %u samples, and blocks "
				 "have %u",
				 unit, 1u << block);
	const struct hevc_sets sets = {
		.profile = (unsigned)s->profile_number + 1,
		.level = levels[level],
		.high_tier = s->level_setting.hevc.Tier == D3D12_VIDEO_ENCODER_TIER_HEVC_HIGH,
		.width = (s->size.Width + unit - 1) / unit * unit,
		.height = (s->size.Height + unit - 1) / unit * unit,
		.block = block,
		.tree = (unsigned)tools->MaxLumaCodingUnitSize + BLOCK_8,
		.transform = (unsigned)tools->MinLumaTransformUnitSize + TRANSFORM_4,
		.transform_max = (unsigned)tools->MaxLumaTransformUnitSize + TRANSFORM_4,
		.depth_inter = tools->max_transform_hierarchy_depth_inter,
		.depth_intra = tools->max_transform_hierarchy_depth_intra,
		.amp = tools->ConfigurationFlags != 0,
		.quality = HEVC_MIDDLE_QP,
		.block_quality = true,
		.full_slices = true,
	};
	hevc_add_sets(&sets, &e->job->source, &e->headers);
	return 0;
}

static void describe(const struct d3d12video_encoder *e, struct d3d12video_picture *out)
{
	const unsigned index = e->index, count = index > 0 ? 1 : 0;

	out->before.hevc = (D3D12_VIDEO_ENCODER_REFERENCE_PICTURE_DESCRIPTOR_HEVC){
		.IsRefUsedByCurrentPic = TRUE,
		.PictureOrderCountNumber = index - count,
	};
	out->data.hevc = (D3D12_VIDEO_ENCODER_PICTURE_CONTROL_CODEC_DATA_HEVC){
		.FrameType = count == 0 ? D3D12_VIDEO_ENCODER_FRAME_TYPE_HEVC_IDR_FRAME
					: D3D12_VIDEO_ENCODER_FRAME_TYPE_HEVC_P_FRAME,
		.PictureOrderCountNumber = index,
		.List0ReferenceFramesCount = count,
		.pList0ReferenceFrames = &out->first,
		.ReferenceFramesReconPictureDescriptorsCount = count,
		.pReferenceFramesReconPictureDescriptors = &out->before.hevc,
	};
}

const struct d3d12video_codec d3d12video_hevc = {
	.level_size = sizeof(D3D12_VIDEO_ENCODER_LEVEL_TIER_CONSTRAINTS_HEVC),
	.tools_size = sizeof(D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC),
	.pictures_size = sizeof(D3D12_VIDEO_ENCODER_SEQUENCE_GOP_STRUCTURE_HEVC),
	.data_size = sizeof(D3D12_VIDEO_ENCODER_PICTURE_CONTROL_CODEC_DATA_HEVC),
	.quality = D3D12VIDEO_QUALITY,
	.choose = choose,
	.write_headers = write_headers,
	.describe = describe,
};
