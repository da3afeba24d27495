/* SPDX-License-Identifier: MIT */
/*
 * How HEVC must be described: with trees and transforms of the sizes that the double reports, each picture referring to
 * the one before. The headers are the driver's own and enable PCM, which carries the samples. Words of GPUCERT_DOUBLE:
 *
 *   small-trees         coding trees are 16 by 16, not up to 64 by 64
 *   large-transforms    no transform is 4 by 4
 *   huge-transforms     none is smaller than 16 by 16
 *   spoil=WHAT          width, profile, level, tree, transform, references, picture-set; key, type, order, list, slice,
 *                       merge, slot-order, slot
 */
#include "workloads/doubles/hevc_pcm.h"
#include "workloads/doubles/settings.h"
#include "workloads/doubles/vulkan_double_video.h"

enum { LEVEL_3_0 = 90, MERGE_CANDIDATES = 5, PCM_MOST = 5, TREES = 5, TRANSFORMS = 6 };

static bool offers(uint32_t profile, bool ten_bit)
{
	return profile ==
	       (ten_bit ? STD_VIDEO_H265_PROFILE_IDC_MAIN_10 : STD_VIDEO_H265_PROFILE_IDC_MAIN);
}

/* Sides of 16 to 64, and of 4 to 32. */
static void report_capabilities(uint32_t *values)
{
	values[1] = STD_VIDEO_H265_LEVEL_IDC_4_0;
	values[2] = values[3] = values[4] = 1; /* slice, tile */
	values[TREES] = setting_has("small-trees") ? 1 : 7;
	values[TRANSFORMS] = setting_has("huge-transforms")    ? 12
			     : setting_has("large-transforms") ? 14
							       : 15;
	values[7] = setting_has("intra") ? 0 : 1; /* earlier pictures that a P picture refers to */
	values[9] = 1;				  /* later ones of a B picture */
	values[10] = 1;				  /* sub-layer */
	values[12] = QP_LEAST;
	values[13] = QP_MOST;
}

/* The caller's parameter sets, perhaps spoilt. */
struct sets {
	StdVideoH265VideoParameterSet vps;
	StdVideoH265SequenceParameterSet sps;
	StdVideoH265PictureParameterSet pps;
	StdVideoH265ProfileTierLevel profile;
	StdVideoH265DecPicBufMgr buffering;
	StdVideoH265ShortTermRefPicSet references;
};

static bool copy_sets(const struct vulkanvideo_sets *from, struct sets *out)
{
	if (from == NULL || from->sType != HEVC + SETS || from->of[0].count != 1 ||
	    from->of[1].count != 1 || from->of[2].count != 1)
		return false;
	out->vps = *(const StdVideoH265VideoParameterSet *)from->of[0].sets;
	out->sps = *(const StdVideoH265SequenceParameterSet *)from->of[1].sets;
	out->pps = *(const StdVideoH265PictureParameterSet *)from->of[2].sets;
	if (out->sps.pProfileTierLevel == NULL || out->sps.pDecPicBufMgr == NULL ||
	    out->sps.pShortTermRefPicSet == NULL || out->vps.pProfileTierLevel == NULL ||
	    out->vps.pDecPicBufMgr == NULL)
		return false;
	out->profile = *out->sps.pProfileTierLevel;
	out->buffering = *out->sps.pDecPicBufMgr;
	out->references = *out->sps.pShortTermRefPicSet;
	out->sps.pic_width_in_luma_samples += double_spoils("width") ? 8 : 0;
	if (double_spoils("profile"))
		out->profile.general_profile_idc = STD_VIDEO_H265_PROFILE_IDC_MAIN_10;
	if (double_spoils("level"))
		out->profile.general_level_idc = STD_VIDEO_H265_LEVEL_IDC_1_0;
	if (double_spoils("tree"))
		out->sps.log2_diff_max_min_luma_coding_block_size++;
	if (double_spoils("transform"))
		out->sps.log2_min_luma_transform_block_size_minus2++;
	if (double_spoils("references"))
		out->references.num_negative_pics++;
	if (double_spoils("picture-set"))
		out->pps.flags.tiles_enabled_flag = 1;
	return true;
}

static bool is_reported(uint32_t place, unsigned log2, unsigned first)
{
	uint32_t values[32] = {0};
	report_capabilities(values);
	return log2 >= first && (values[place] >> (log2 - first) & 1) != 0;
}

/* 7.4.3.2.1: are the block sizes supported? */
static bool are_blocks_right(const StdVideoH265SequenceParameterSet *sps)
{
	const unsigned block = sps->log2_min_luma_coding_block_size_minus3 + 3u;
	const unsigned tree = block + sps->log2_diff_max_min_luma_coding_block_size;
	const unsigned least = sps->log2_min_luma_transform_block_size_minus2 + 2u;
	const unsigned largest = least + sps->log2_diff_max_min_luma_transform_block_size;
	return is_reported(TREES, tree, 4) && is_reported(TRANSFORMS, least, 2) &&
	       is_reported(TRANSFORMS, largest, 2) && least < block && largest <= tree &&
	       sps->max_transform_hierarchy_depth_inter <= tree - least &&
	       sps->max_transform_hierarchy_depth_intra <= tree - least &&
	       sps->pic_width_in_luma_samples % (1u << block) == 0 &&
	       sps->pic_height_in_luma_samples % (1u << block) == 0;
}

/* Checks the properties that hevc.c gives every stream. */
static const char *check_sets(const struct parameters *parameters, const struct sets *sets)
{
	const struct video_source *source = &parameters->session->writer.source;
	const StdVideoH265SequenceParameterSet *sps = &sets->sps;
	const StdVideoH265PictureParameterSet *pps = &sets->pps;
	if (sps->pic_width_in_luma_samples != source->width ||
	    sps->pic_height_in_luma_samples != source->height ||
	    sps->flags.conformance_window_flag ||
	    sps->chroma_format_idc != STD_VIDEO_H265_CHROMA_FORMAT_IDC_420 ||
	    sps->bit_depth_luma_minus8 + sps->bit_depth_chroma_minus8 != 0)
		return "pictures of another kind than the session's";
	if (sets->profile.general_profile_idc != STD_VIDEO_H265_PROFILE_IDC_MAIN ||
	    sets->profile.general_level_idc != STD_VIDEO_H265_LEVEL_IDC_3_0 ||
	    !sets->profile.flags.general_progressive_source_flag ||
	    !sets->profile.flags.general_frame_only_constraint_flag)
		return "another profile or level";
	if (!are_blocks_right(sps))
		return "blocks that it does not have";
	if (sets->buffering.max_dec_pic_buffering_minus1[0] != 1 ||
	    sets->buffering.max_num_reorder_pics[0] != 0 || sps->num_short_term_ref_pic_sets != 1 ||
	    sets->references.num_negative_pics != 1 || sets->references.num_positive_pics != 0 ||
	    sets->references.delta_poc_s0_minus1[0] != 0 ||
	    sets->references.used_by_curr_pic_s0_flag != 1 ||
	    sps->flags.long_term_ref_pics_present_flag)
		return "other references than the picture before";
	if (sps->flags.scaling_list_enabled_flag || sps->flags.pcm_enabled_flag ||
	    sps->flags.sample_adaptive_offset_enabled_flag ||
	    sps->flags.sps_temporal_mvp_enabled_flag || pps->flags.tiles_enabled_flag ||
	    pps->flags.weighted_pred_flag || pps->flags.lists_modification_present_flag ||
	    pps->flags.cabac_init_present_flag ||
	    pps->flags.deblocking_filter_control_present_flag ||
	    pps->flags.pps_slice_chroma_qp_offsets_present_flag ||
	    pps->num_ref_idx_l0_default_active_minus1 != 0 ||
	    sps->log2_max_pic_order_cnt_lsb_minus4 != HEVC_ORDER_BITS - 4)
		return "parameter sets that it codes no slices for";
	return pps->flags.cu_qp_delta_enabled_flag != setting_has("default-rate")
		       ? "blocks that tell quantisers without rate control, or the reverse"
		       : NULL;
}

static struct hevc_sets translate(const struct sets *sets)
{
	const StdVideoH265SequenceParameterSet *sps = &sets->sps;
	const unsigned block = sps->log2_min_luma_coding_block_size_minus3 + 3u;
	const unsigned tree = block + sps->log2_diff_max_min_luma_coding_block_size;
	const unsigned transform = sps->log2_min_luma_transform_block_size_minus2 + 2u;
	return (struct hevc_sets){
		.profile = STD_VIDEO_H265_PROFILE_IDC_MAIN,
		.level = LEVEL_3_0,
		.width = sps->pic_width_in_luma_samples,
		.height = sps->pic_height_in_luma_samples,
		.block = block,
		.tree = tree,
		.transform = transform,
		.transform_max = transform + sps->log2_diff_max_min_luma_transform_block_size,
		.depth_inter = sps->max_transform_hierarchy_depth_inter,
		.depth_intra = sps->max_transform_hierarchy_depth_intra,
		.amp = sps->flags.amp_enabled_flag,
		.pcm = block,
		.pcm_max = tree < PCM_MOST ? tree : PCM_MOST,
		.quality = HEVC_MIDDLE_QP + sets->pps.init_qp_minus26,
		.block_quality = sets->pps.flags.cu_qp_delta_enabled_flag,
	};
}

static const char *take_parameters(struct parameters *parameters, const void *codec)
{
	const struct vulkanvideo_parameters *hevc = codec;
	struct sets sets = {.vps = {.reserved1 = 0}};
	if (hevc->of.hevc.most[0] + hevc->of.hevc.most[1] + hevc->of.hevc.most[2] != 3 ||
	    !copy_sets(hevc->of.hevc.sets, &sets))
		return "more or fewer parameter sets than one of each";
	const char *wrong = check_sets(parameters, &sets);
	if (wrong != NULL)
		return wrong;
	parameters->hevc = translate(&sets);
	hevc_add_sets(&parameters->hevc, &parameters->session->writer.source, &parameters->headers);
	return NULL;
}

/* The caller's description of a picture, perhaps spoilt. */
struct described {
	StdVideoEncodeH265PictureInfo picture;
	StdVideoEncodeH265SliceSegmentHeader slice;
	StdVideoEncodeH265ReferenceInfo own;
	unsigned listed;
};

static void spoil(struct described *described)
{
	described->picture.flags.IrapPicFlag ^= double_spoils("key");
	if (double_spoils("type"))
		described->picture.pic_type = STD_VIDEO_H265_PICTURE_TYPE_B;
	described->picture.PicOrderCntVal += double_spoils("order");
	described->listed ^= double_spoils("list");
	if (double_spoils("slice"))
		described->slice.slice_type = STD_VIDEO_H265_SLICE_TYPE_B;
	if (double_spoils("merge"))
		described->slice.MaxNumMergeCand = 6;
	described->own.PicOrderCntVal += double_spoils("slot-order");
}

static const char *check_picture(const struct session *session, const VkVideoEncodeInfoKHR *info,
				 const struct described *described)
{
	const bool key = described->picture.flags.IrapPicFlag;
	const int order = described->picture.PicOrderCntVal;
	const char *wrong = double_check_slots(
		session, info, key,
		described->listed == STD_VIDEO_H265_NO_REFERENCE_PICTURE ? -1
									 : (int)described->listed);
	if (wrong != NULL)
		return wrong;
	if (described->own.PicOrderCntVal != order ||
	    described->own.pic_type != described->picture.pic_type)
		return "a slot that tells another picture than its own";
	if (key ? order != 0
		: order != session->slots[info->pReferenceSlots[0].slotIndex].order + 1)
		return "wrong numbers of a picture";
	if (!described->picture.flags.is_reference || !described->picture.flags.pic_output_flag ||
	    described->picture.flags.short_term_ref_pic_set_sps_flag == key ||
	    described->picture.pic_type !=
		    (key ? STD_VIDEO_H265_PICTURE_TYPE_IDR : STD_VIDEO_H265_PICTURE_TYPE_P))
		return "another picture than a key frame or a P picture";
	if (!described->slice.flags.first_slice_segment_in_pic_flag ||
	    described->slice.slice_segment_address != 0 || described->slice.MaxNumMergeCand < 1 ||
	    described->slice.MaxNumMergeCand > MERGE_CANDIDATES ||
	    described->slice.slice_type !=
		    (key ? STD_VIDEO_H265_SLICE_TYPE_I : STD_VIDEO_H265_SLICE_TYPE_P))
		return "another slice than the picture has";
	return NULL;
}

static const char *take_picture(struct double_picture *picture, const VkVideoEncodeInfoKHR *info)
{
	struct session *session = picture->session;
	const struct vulkanvideo_picture *hevc = info->pNext;
	const struct vulkanvideo_slot *own = info->pSetupReferenceSlot->pNext;
	if (hevc->count != 1 || hevc->slices[0].sType != HEVC + SLICE ||
	    hevc->slices[0].header == NULL || own == NULL)
		return "another slice than the picture has";
	struct described described = {
		.picture = *(const StdVideoEncodeH265PictureInfo *)hevc->picture,
		.slice = *(const StdVideoEncodeH265SliceSegmentHeader *)hevc->slices[0].header,
		.own = *(const StdVideoEncodeH265ReferenceInfo *)own->reference,
	};
	described.listed = described.picture.pRefLists->RefPicList0[0];
	spoil(&described);
	const char *wrong = check_picture(session, info, &described);
	if (wrong != NULL)
		return wrong;
	if (!double_is_qp(session, hevc->slices[0].qp, QP_LEAST, QP_MOST))
		return "a quantiser that the rate control does not allow";
	picture->hevc.key = described.picture.flags.IrapPicFlag;
	picture->hevc.order = (unsigned)described.picture.PicOrderCntVal;
	picture->hevc.merge_candidates = described.slice.MaxNumMergeCand;
	picture->hevc.quality =
		session->constant_qp ? hevc->slices[0].qp : picture->parameters->hevc.quality;
	session->slots[info->pSetupReferenceSlot->slotIndex] =
		(struct coded){true, 0, described.picture.PicOrderCntVal};
	return NULL;
}

/* 7.3.6.1: default references and lists. */
static void put_header(const struct double_picture *picture, struct text *out)
{
	const bool key = picture->hevc.key;
	struct unit unit = hevc_unit(key ? HEVC_IDR_W_RADL : HEVC_TRAIL_R);
	unit_put(&unit, 1, 1); /* the first of the picture */
	if (key)
		unit_put(&unit, 0, 1); /* earlier pictures are shown */
	unit_put_ue(&unit, 0);
	unit_put_ue(&unit, key ? HEVC_SLICE_I : HEVC_SLICE_P);
	if (!key) {
		unit_put(&unit, picture->hevc.order, HEVC_ORDER_BITS);
		unit_put(&unit, 2, 1 + 1);
		unit_put_ue(&unit, MERGE_CANDIDATES - picture->hevc.merge_candidates);
	}
	unit_put_se(&unit, picture->hevc.quality - picture->parameters->hevc.quality);
	unit_end(&unit, out);
}

static void put(const struct h264_pcm *writer, const struct video_planes *frame,
		struct text *stream)
{
	const struct double_picture *picture = writer->user;
	const struct hevc_sets *sets = &picture->parameters->hevc;
	const struct hevc_pcm shape = {
		.width = sets->width,
		.height = sets->height,
		.tree = sets->tree,
		.block = sets->block,
		.pcm = sets->pcm_max,
		.slice_type = picture->hevc.key ? HEVC_SLICE_I : HEVC_SLICE_P,
		.quality = (unsigned)picture->hevc.quality,
	};
	struct text header = {0};
	put_header(picture, &header);
	hevc_pcm_add(&shape, frame, &header, stream);
	text_free(&header);
}

const struct double_codec double_hevc = {
	.extension = "VK_KHR_video_encode_h265",
	.operation = 0x20000,
	.capabilities = HEVC + CAPABILITIES,
	.parameters = HEVC + PARAMETERS,
	.headers = HEVC_HEADERS,
	.picture = HEVC + PICTURE,
	.slot = HEVC + SLOT,
	.sets = 3,
	.offers = offers,
	.report_capabilities = report_capabilities,
	.take_parameters = take_parameters,
	.take_picture = take_picture,
	.put = put,
};
