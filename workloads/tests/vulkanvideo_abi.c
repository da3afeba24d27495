/* SPDX-License-Identifier: MIT */
/*
 * The structures of Vulkan Video are those of the specification: sizes and places as its header of
 * 1.4.309 has them on 64-bit systems. This only has to compile: here with the project's own
 * declarations, and in validation_layers.sh with that header's.
 */
#include "workloads/vulkanvideo/encode_abi.h"

#include <stddef.h>

#define SIZE(type, bytes)	_Static_assert(sizeof(type) == (bytes), #type)
#define AT(type, member, place) _Static_assert(offsetof(type, member) == (place), #type "." #member)
#define VALUE(name, number)	_Static_assert((int64_t)(name) == (number), #name)

SIZE(VkVideoEncodeInfoKHR, 128);
AT(VkVideoEncodeInfoKHR, dstBuffer, 24);
AT(VkVideoEncodeInfoKHR, dstBufferOffset, 32);
AT(VkVideoEncodeInfoKHR, dstBufferRange, 40);
AT(VkVideoEncodeInfoKHR, srcPictureResource, 48);
AT(VkVideoEncodeInfoKHR, pSetupReferenceSlot, 96);
AT(VkVideoEncodeInfoKHR, referenceSlotCount, 104);
AT(VkVideoEncodeInfoKHR, pReferenceSlots, 112);
AT(VkVideoEncodeInfoKHR, precedingExternallyEncodedBytes, 120);
SIZE(VkVideoEncodeCapabilitiesKHR, 56);
AT(VkVideoEncodeCapabilitiesKHR, rateControlModes, 20);
AT(VkVideoEncodeCapabilitiesKHR, maxBitrate, 32);
AT(VkVideoEncodeCapabilitiesKHR, maxQualityLevels, 40);
AT(VkVideoEncodeCapabilitiesKHR, encodeInputPictureGranularity, 44);
AT(VkVideoEncodeCapabilitiesKHR, supportedEncodeFeedbackFlags, 52);
SIZE(VkQueryPoolVideoEncodeFeedbackCreateInfoKHR, 24);
AT(VkQueryPoolVideoEncodeFeedbackCreateInfoKHR, encodeFeedbackFlags, 16);
SIZE(VkVideoEncodeRateControlInfoKHR, 48);
AT(VkVideoEncodeRateControlInfoKHR, rateControlMode, 20);
AT(VkVideoEncodeRateControlInfoKHR, layerCount, 24);
AT(VkVideoEncodeRateControlInfoKHR, pLayers, 32);
AT(VkVideoEncodeRateControlInfoKHR, initialVirtualBufferSizeInMs, 44);
SIZE(VkVideoEncodeSessionParametersGetInfoKHR, 24);
AT(VkVideoEncodeSessionParametersGetInfoKHR, videoSessionParameters, 16);
SIZE(StdVideoEncodeH264ReferenceListsInfo, 104);
AT(StdVideoEncodeH264ReferenceListsInfo, num_ref_idx_l0_active_minus1, 4);
AT(StdVideoEncodeH264ReferenceListsInfo, RefPicList0, 6);
AT(StdVideoEncodeH264ReferenceListsInfo, RefPicList1, 38);
AT(StdVideoEncodeH264ReferenceListsInfo, refList0ModOpCount, 70);
AT(StdVideoEncodeH264ReferenceListsInfo, pRefList0ModOperations, 80);
AT(StdVideoEncodeH264ReferenceListsInfo, pRefPicMarkingOperations, 96);
SIZE(StdVideoEncodeH264PictureInfo, 32);
AT(StdVideoEncodeH264PictureInfo, seq_parameter_set_id, 4);
AT(StdVideoEncodeH264PictureInfo, idr_pic_id, 6);
AT(StdVideoEncodeH264PictureInfo, primary_pic_type, 8);
AT(StdVideoEncodeH264PictureInfo, frame_num, 12);
AT(StdVideoEncodeH264PictureInfo, PicOrderCnt, 16);
AT(StdVideoEncodeH264PictureInfo, temporal_id, 20);
AT(StdVideoEncodeH264PictureInfo, pRefLists, 24);
SIZE(StdVideoEncodeH264ReferenceInfo, 24);
AT(StdVideoEncodeH264ReferenceInfo, primary_pic_type, 4);
AT(StdVideoEncodeH264ReferenceInfo, FrameNum, 8);
AT(StdVideoEncodeH264ReferenceInfo, PicOrderCnt, 12);
AT(StdVideoEncodeH264ReferenceInfo, long_term_pic_num, 16);
AT(StdVideoEncodeH264ReferenceInfo, temporal_id, 20);
SIZE(StdVideoEncodeH264SliceHeader, 32);
AT(StdVideoEncodeH264SliceHeader, first_mb_in_slice, 4);
AT(StdVideoEncodeH264SliceHeader, slice_type, 8);
AT(StdVideoEncodeH264SliceHeader, slice_qp_delta, 14);
AT(StdVideoEncodeH264SliceHeader, cabac_init_idc, 16);
AT(StdVideoEncodeH264SliceHeader, disable_deblocking_filter_idc, 20);
AT(StdVideoEncodeH264SliceHeader, pWeightTable, 24);

SIZE(StdVideoEncodeH265ReferenceListsInfo, 68);
AT(StdVideoEncodeH265ReferenceListsInfo, num_ref_idx_l0_active_minus1, 4);
AT(StdVideoEncodeH265ReferenceListsInfo, RefPicList0, 6);
AT(StdVideoEncodeH265ReferenceListsInfo, RefPicList1, 21);
AT(StdVideoEncodeH265ReferenceListsInfo, list_entry_l0, 36);
AT(StdVideoEncodeH265ReferenceListsInfo, list_entry_l1, 51);
SIZE(StdVideoEncodeH265PictureInfo, 48);
AT(StdVideoEncodeH265PictureInfo, pic_type, 4);
AT(StdVideoEncodeH265PictureInfo, sps_video_parameter_set_id, 8);
AT(StdVideoEncodeH265PictureInfo, short_term_ref_pic_set_idx, 11);
AT(StdVideoEncodeH265PictureInfo, PicOrderCntVal, 12);
AT(StdVideoEncodeH265PictureInfo, TemporalId, 16);
AT(StdVideoEncodeH265PictureInfo, pRefLists, 24);
AT(StdVideoEncodeH265PictureInfo, pShortTermRefPicSet, 32);
AT(StdVideoEncodeH265PictureInfo, pLongTermRefPics, 40);
SIZE(StdVideoEncodeH265ReferenceInfo, 16);
AT(StdVideoEncodeH265ReferenceInfo, pic_type, 4);
AT(StdVideoEncodeH265ReferenceInfo, PicOrderCntVal, 8);
AT(StdVideoEncodeH265ReferenceInfo, TemporalId, 12);
SIZE(StdVideoEncodeH265SliceSegmentHeader, 32);
AT(StdVideoEncodeH265SliceSegmentHeader, slice_type, 4);
AT(StdVideoEncodeH265SliceSegmentHeader, slice_segment_address, 8);
AT(StdVideoEncodeH265SliceSegmentHeader, collocated_ref_idx, 12);
AT(StdVideoEncodeH265SliceSegmentHeader, MaxNumMergeCand, 13);
AT(StdVideoEncodeH265SliceSegmentHeader, slice_qp_delta, 21);
AT(StdVideoEncodeH265SliceSegmentHeader, pWeightTable, 24);
SIZE(StdVideoAV1ColorConfig, 24);
AT(StdVideoAV1ColorConfig, BitDepth, 4);
AT(StdVideoAV1ColorConfig, subsampling_x, 5);
AT(StdVideoAV1ColorConfig, subsampling_y, 6);
AT(StdVideoAV1ColorConfig, color_primaries, 8);
AT(StdVideoAV1ColorConfig, transfer_characteristics, 12);
AT(StdVideoAV1ColorConfig, matrix_coefficients, 16);
AT(StdVideoAV1ColorConfig, chroma_sample_position, 20);
SIZE(StdVideoAV1SequenceHeader, 40);
AT(StdVideoAV1SequenceHeader, seq_profile, 4);
AT(StdVideoAV1SequenceHeader, frame_width_bits_minus_1, 8);
AT(StdVideoAV1SequenceHeader, frame_height_bits_minus_1, 9);
AT(StdVideoAV1SequenceHeader, max_frame_width_minus_1, 10);
AT(StdVideoAV1SequenceHeader, max_frame_height_minus_1, 12);
AT(StdVideoAV1SequenceHeader, order_hint_bits_minus_1, 16);
AT(StdVideoAV1SequenceHeader, seq_force_integer_mv, 17);
AT(StdVideoAV1SequenceHeader, seq_force_screen_content_tools, 18);
AT(StdVideoAV1SequenceHeader, pColorConfig, 24);
AT(StdVideoAV1SequenceHeader, pTimingInfo, 32);
SIZE(StdVideoEncodeAV1OperatingPointInfo, 20);
AT(StdVideoEncodeAV1OperatingPointInfo, operating_point_idc, 4);
AT(StdVideoEncodeAV1OperatingPointInfo, seq_level_idx, 6);
AT(StdVideoEncodeAV1OperatingPointInfo, seq_tier, 7);
AT(StdVideoEncodeAV1OperatingPointInfo, decoder_buffer_delay, 8);
AT(StdVideoEncodeAV1OperatingPointInfo, initial_display_delay_minus_1, 16);
SIZE(StdVideoEncodeAV1PictureInfo, 152);
AT(StdVideoEncodeAV1PictureInfo, frame_type, 4);
AT(StdVideoEncodeAV1PictureInfo, current_frame_id, 12);
AT(StdVideoEncodeAV1PictureInfo, order_hint, 16);
AT(StdVideoEncodeAV1PictureInfo, primary_ref_frame, 17);
AT(StdVideoEncodeAV1PictureInfo, refresh_frame_flags, 18);
AT(StdVideoEncodeAV1PictureInfo, render_width_minus_1, 20);
AT(StdVideoEncodeAV1PictureInfo, interpolation_filter, 24);
AT(StdVideoEncodeAV1PictureInfo, TxMode, 28);
AT(StdVideoEncodeAV1PictureInfo, ref_order_hint, 34);
AT(StdVideoEncodeAV1PictureInfo, ref_frame_idx, 42);
AT(StdVideoEncodeAV1PictureInfo, delta_frame_id_minus_1, 52);
SIZE(StdVideoEncodeAV1ReferenceInfo, 24);
AT(StdVideoEncodeAV1ReferenceInfo, RefFrameId, 4);
AT(StdVideoEncodeAV1ReferenceInfo, frame_type, 8);
AT(StdVideoEncodeAV1ReferenceInfo, OrderHint, 12);
AT(StdVideoEncodeAV1ReferenceInfo, pExtensionHeader, 16);
SIZE(VkVideoEncodeAV1SessionParametersCreateInfoKHR, 48);
AT(VkVideoEncodeAV1SessionParametersCreateInfoKHR, pStdSequenceHeader, 16);
AT(VkVideoEncodeAV1SessionParametersCreateInfoKHR, pStdDecoderModelInfo, 24);
AT(VkVideoEncodeAV1SessionParametersCreateInfoKHR, stdOperatingPointCount, 32);
AT(VkVideoEncodeAV1SessionParametersCreateInfoKHR, pStdOperatingPoints, 40);
SIZE(VkVideoEncodeAV1PictureInfoKHR, 80);
AT(VkVideoEncodeAV1PictureInfoKHR, predictionMode, 16);
AT(VkVideoEncodeAV1PictureInfoKHR, rateControlGroup, 20);
AT(VkVideoEncodeAV1PictureInfoKHR, constantQIndex, 24);
AT(VkVideoEncodeAV1PictureInfoKHR, pStdPictureInfo, 32);
AT(VkVideoEncodeAV1PictureInfoKHR, referenceNameSlotIndices, 40);
AT(VkVideoEncodeAV1PictureInfoKHR, primaryReferenceCdfOnly, 68);
AT(VkVideoEncodeAV1PictureInfoKHR, generateObuExtensionHeader, 72);

/* What is alike in the codecs: its places, and with Khronos's header those of the structures that it
 * stands in for. */
SIZE(struct vulkanvideo_slot, 24);
AT(struct vulkanvideo_slot, reference, 16);
SIZE(struct vulkanvideo_slice, 32);
AT(struct vulkanvideo_slice, qp, 16);
AT(struct vulkanvideo_slice, header, 24);
SIZE(struct vulkanvideo_picture, 48);
AT(struct vulkanvideo_picture, count, 16);
AT(struct vulkanvideo_picture, slices, 24);
AT(struct vulkanvideo_picture, picture, 32);
AT(struct vulkanvideo_picture, prefix, 40);
SIZE(struct vulkanvideo_sets, 64);
AT(struct vulkanvideo_sets, of[0].count, 16);
AT(struct vulkanvideo_sets, of[0].sets, 24);
AT(struct vulkanvideo_sets, of[1].count, 32);
AT(struct vulkanvideo_sets, of[1].sets, 40);
AT(struct vulkanvideo_sets, of[2].count, 48);
AT(struct vulkanvideo_sets, of[2].sets, 56);
AT(struct vulkanvideo_parameters, of.h264.most, 16);
AT(struct vulkanvideo_parameters, of.h264.sets, 24);
AT(struct vulkanvideo_parameters, of.hevc.most, 16);
AT(struct vulkanvideo_parameters, of.hevc.sets, 32);
AT(struct vulkanvideo_numbers, values, 16);

#ifdef VK_KHR_video_encode_av1

#define ALIKE(type, member, theirs, their_member)                                                  \
	_Static_assert(offsetof(struct type, member) == offsetof(theirs, their_member),            \
		       #type "." #member ": " #theirs)
#define ALIKE_SIZE(type, theirs) _Static_assert(sizeof(struct type) == sizeof(theirs), #theirs)
#define NUMBER(index, theirs, their_member)                                                        \
	ALIKE(vulkanvideo_numbers, values[index], theirs, their_member);                           \
	_Static_assert(sizeof(theirs) <= sizeof(struct vulkanvideo_numbers), #theirs)

ALIKE_SIZE(vulkanvideo_slot, VkVideoEncodeH264DpbSlotInfoKHR);
ALIKE_SIZE(vulkanvideo_slot, VkVideoEncodeH265DpbSlotInfoKHR);
ALIKE_SIZE(vulkanvideo_slot, VkVideoEncodeAV1DpbSlotInfoKHR);
ALIKE(vulkanvideo_slot, reference, VkVideoEncodeH264DpbSlotInfoKHR, pStdReferenceInfo);
ALIKE(vulkanvideo_slot, reference, VkVideoEncodeH265DpbSlotInfoKHR, pStdReferenceInfo);
ALIKE(vulkanvideo_slot, reference, VkVideoEncodeAV1DpbSlotInfoKHR, pStdReferenceInfo);
ALIKE_SIZE(vulkanvideo_slice, VkVideoEncodeH264NaluSliceInfoKHR);
ALIKE_SIZE(vulkanvideo_slice, VkVideoEncodeH265NaluSliceSegmentInfoKHR);
ALIKE(vulkanvideo_slice, qp, VkVideoEncodeH264NaluSliceInfoKHR, constantQp);
ALIKE(vulkanvideo_slice, qp, VkVideoEncodeH265NaluSliceSegmentInfoKHR, constantQp);
ALIKE(vulkanvideo_slice, header, VkVideoEncodeH264NaluSliceInfoKHR, pStdSliceHeader);
ALIKE(vulkanvideo_slice, header, VkVideoEncodeH265NaluSliceSegmentInfoKHR, pStdSliceSegmentHeader);
ALIKE_SIZE(vulkanvideo_picture, VkVideoEncodeH264PictureInfoKHR);
ALIKE(vulkanvideo_picture, count, VkVideoEncodeH264PictureInfoKHR, naluSliceEntryCount);
ALIKE(vulkanvideo_picture, slices, VkVideoEncodeH264PictureInfoKHR, pNaluSliceEntries);
ALIKE(vulkanvideo_picture, picture, VkVideoEncodeH264PictureInfoKHR, pStdPictureInfo);
ALIKE(vulkanvideo_picture, prefix, VkVideoEncodeH264PictureInfoKHR, generatePrefixNalu);
ALIKE(vulkanvideo_picture, count, VkVideoEncodeH265PictureInfoKHR, naluSliceSegmentEntryCount);
ALIKE(vulkanvideo_picture, slices, VkVideoEncodeH265PictureInfoKHR, pNaluSliceSegmentEntries);
ALIKE(vulkanvideo_picture, picture, VkVideoEncodeH265PictureInfoKHR, pStdPictureInfo);
ALIKE(vulkanvideo_sets, of[0].count, VkVideoEncodeH264SessionParametersAddInfoKHR, stdSPSCount);
ALIKE(vulkanvideo_sets, of[0].sets, VkVideoEncodeH264SessionParametersAddInfoKHR, pStdSPSs);
ALIKE(vulkanvideo_sets, of[1].count, VkVideoEncodeH264SessionParametersAddInfoKHR, stdPPSCount);
ALIKE(vulkanvideo_sets, of[1].sets, VkVideoEncodeH264SessionParametersAddInfoKHR, pStdPPSs);
ALIKE_SIZE(vulkanvideo_sets, VkVideoEncodeH265SessionParametersAddInfoKHR);
ALIKE(vulkanvideo_sets, of[0].count, VkVideoEncodeH265SessionParametersAddInfoKHR, stdVPSCount);
ALIKE(vulkanvideo_sets, of[0].sets, VkVideoEncodeH265SessionParametersAddInfoKHR, pStdVPSs);
ALIKE(vulkanvideo_sets, of[1].count, VkVideoEncodeH265SessionParametersAddInfoKHR, stdSPSCount);
ALIKE(vulkanvideo_sets, of[1].sets, VkVideoEncodeH265SessionParametersAddInfoKHR, pStdSPSs);
ALIKE(vulkanvideo_sets, of[2].count, VkVideoEncodeH265SessionParametersAddInfoKHR, stdPPSCount);
ALIKE(vulkanvideo_sets, of[2].sets, VkVideoEncodeH265SessionParametersAddInfoKHR, pStdPPSs);
ALIKE(vulkanvideo_parameters, of.h264.most[0], VkVideoEncodeH264SessionParametersCreateInfoKHR,
      maxStdSPSCount);
ALIKE(vulkanvideo_parameters, of.h264.most[1], VkVideoEncodeH264SessionParametersCreateInfoKHR,
      maxStdPPSCount);
ALIKE(vulkanvideo_parameters, of.h264.sets, VkVideoEncodeH264SessionParametersCreateInfoKHR,
      pParametersAddInfo);
ALIKE(vulkanvideo_parameters, of.hevc.most[0], VkVideoEncodeH265SessionParametersCreateInfoKHR,
      maxStdVPSCount);
ALIKE(vulkanvideo_parameters, of.hevc.most[1], VkVideoEncodeH265SessionParametersCreateInfoKHR,
      maxStdSPSCount);
ALIKE(vulkanvideo_parameters, of.hevc.most[2], VkVideoEncodeH265SessionParametersCreateInfoKHR,
      maxStdPPSCount);
ALIKE(vulkanvideo_parameters, of.hevc.sets, VkVideoEncodeH265SessionParametersCreateInfoKHR,
      pParametersAddInfo);
NUMBER(0, VkVideoEncodeH264ProfileInfoKHR, stdProfileIdc);
NUMBER(0, VkVideoEncodeH265ProfileInfoKHR, stdProfileIdc);
NUMBER(0, VkVideoEncodeAV1ProfileInfoKHR, stdProfile);
NUMBER(0, VkPhysicalDeviceVideoEncodeAV1FeaturesKHR, videoEncodeAV1);
NUMBER(0, VkVideoEncodeH264SessionParametersGetInfoKHR, writeStdSPS);
NUMBER(1, VkVideoEncodeH264SessionParametersGetInfoKHR, writeStdPPS);
NUMBER(3, VkVideoEncodeH264SessionParametersGetInfoKHR, stdPPSId);
NUMBER(0, VkVideoEncodeH265SessionParametersGetInfoKHR, writeStdVPS);
NUMBER(2, VkVideoEncodeH265SessionParametersGetInfoKHR, writeStdPPS);
NUMBER(5, VkVideoEncodeH265SessionParametersGetInfoKHR, stdPPSId);
NUMBER(3, VkVideoEncodeH264CapabilitiesKHR, maxPPictureL0ReferenceCount);
NUMBER(5, VkVideoEncodeH264CapabilitiesKHR, maxL1ReferenceCount);
NUMBER(8, VkVideoEncodeH264CapabilitiesKHR, minQp);
NUMBER(9, VkVideoEncodeH264CapabilitiesKHR, maxQp);
NUMBER(5, VkVideoEncodeH265CapabilitiesKHR, ctbSizes);
NUMBER(6, VkVideoEncodeH265CapabilitiesKHR, transformBlockSizes);
NUMBER(7, VkVideoEncodeH265CapabilitiesKHR, maxPPictureL0ReferenceCount);
NUMBER(9, VkVideoEncodeH265CapabilitiesKHR, maxL1ReferenceCount);
NUMBER(12, VkVideoEncodeH265CapabilitiesKHR, minQp);
NUMBER(13, VkVideoEncodeH265CapabilitiesKHR, maxQp);
NUMBER(10, VkVideoEncodeAV1CapabilitiesKHR, superblockSizes);
NUMBER(11, VkVideoEncodeAV1CapabilitiesKHR, maxSingleReferenceCount);
NUMBER(12, VkVideoEncodeAV1CapabilitiesKHR, singleReferenceNameMask);
NUMBER(16, VkVideoEncodeAV1CapabilitiesKHR, maxBidirectionalCompoundReferenceCount);
NUMBER(22, VkVideoEncodeAV1CapabilitiesKHR, maxOperatingPoints);
NUMBER(23, VkVideoEncodeAV1CapabilitiesKHR, minQIndex);
NUMBER(24, VkVideoEncodeAV1CapabilitiesKHR, maxQIndex);
VALUE(H264 + CAPABILITIES, VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_CAPABILITIES_KHR);
VALUE(H264 + PARAMETERS, VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_SESSION_PARAMETERS_CREATE_INFO_KHR);
VALUE(H264 + SETS, VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_SESSION_PARAMETERS_ADD_INFO_KHR);
VALUE(H264 + PICTURE, VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_PICTURE_INFO_KHR);
VALUE(H264 + SLOT, VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_DPB_SLOT_INFO_KHR);
VALUE(H264 + SLICE, VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_NALU_SLICE_INFO_KHR);
VALUE(H264 + PROFILE, VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_PROFILE_INFO_KHR);
VALUE(H264_HEADERS, VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_SESSION_PARAMETERS_GET_INFO_KHR);
VALUE(HEVC + CAPABILITIES, VK_STRUCTURE_TYPE_VIDEO_ENCODE_H265_CAPABILITIES_KHR);
VALUE(HEVC + PARAMETERS, VK_STRUCTURE_TYPE_VIDEO_ENCODE_H265_SESSION_PARAMETERS_CREATE_INFO_KHR);
VALUE(HEVC + SETS, VK_STRUCTURE_TYPE_VIDEO_ENCODE_H265_SESSION_PARAMETERS_ADD_INFO_KHR);
VALUE(HEVC + PICTURE, VK_STRUCTURE_TYPE_VIDEO_ENCODE_H265_PICTURE_INFO_KHR);
VALUE(HEVC + SLOT, VK_STRUCTURE_TYPE_VIDEO_ENCODE_H265_DPB_SLOT_INFO_KHR);
VALUE(HEVC + SLICE, VK_STRUCTURE_TYPE_VIDEO_ENCODE_H265_NALU_SLICE_SEGMENT_INFO_KHR);
VALUE(HEVC + PROFILE, VK_STRUCTURE_TYPE_VIDEO_ENCODE_H265_PROFILE_INFO_KHR);
VALUE(HEVC_HEADERS, VK_STRUCTURE_TYPE_VIDEO_ENCODE_H265_SESSION_PARAMETERS_GET_INFO_KHR);
VALUE(AV1_CAPABILITIES, VK_STRUCTURE_TYPE_VIDEO_ENCODE_AV1_CAPABILITIES_KHR);
VALUE(AV1_PARAMETERS, VK_STRUCTURE_TYPE_VIDEO_ENCODE_AV1_SESSION_PARAMETERS_CREATE_INFO_KHR);
VALUE(AV1_PICTURE, VK_STRUCTURE_TYPE_VIDEO_ENCODE_AV1_PICTURE_INFO_KHR);
VALUE(AV1_SLOT, VK_STRUCTURE_TYPE_VIDEO_ENCODE_AV1_DPB_SLOT_INFO_KHR);
VALUE(AV1_FEATURES, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VIDEO_ENCODE_AV1_FEATURES_KHR);
VALUE(AV1_PROFILE, VK_STRUCTURE_TYPE_VIDEO_ENCODE_AV1_PROFILE_INFO_KHR);
VALUE(VK_VIDEO_CODEC_OPERATION_ENCODE_H264_BIT_KHR, 0x10000);
VALUE(VK_VIDEO_CODEC_OPERATION_ENCODE_H265_BIT_KHR, 0x20000);
VALUE(VK_VIDEO_CODEC_OPERATION_ENCODE_AV1_BIT_KHR, 0x40000);
VALUE(STD_VIDEO_H265_NO_REFERENCE_PICTURE, 0xFF);
VALUE(STD_VIDEO_AV1_PRIMARY_REF_NONE, 7);
VALUE(STD_VIDEO_AV1_SELECT_INTEGER_MV, 2);
VALUE(STD_VIDEO_AV1_LEVEL_3_0, 4);
VALUE(STD_VIDEO_AV1_TX_MODE_SELECT, 2);
VALUE(STD_VIDEO_AV1_FRAME_TYPE_INTER, 1);
VALUE(STD_VIDEO_AV1_COLOR_PRIMARIES_UNSPECIFIED, 2);
VALUE(STD_VIDEO_AV1_TRANSFER_CHARACTERISTICS_UNSPECIFIED, 2);
VALUE(STD_VIDEO_AV1_MATRIX_COEFFICIENTS_UNSPECIFIED, 2);
VALUE(VK_VIDEO_ENCODE_AV1_PREDICTION_MODE_SINGLE_REFERENCE_KHR, 1);
VALUE(VK_VIDEO_ENCODE_AV1_RATE_CONTROL_GROUP_PREDICTIVE_KHR, 1);
VALUE(VK_VIDEO_ENCODE_H265_CTB_SIZE_16_BIT_KHR, 1);
VALUE(VK_VIDEO_ENCODE_H265_TRANSFORM_BLOCK_SIZE_4_BIT_KHR, 1);
VALUE(VK_VIDEO_ENCODE_AV1_SUPERBLOCK_SIZE_64_BIT_KHR, 1);

#endif

VALUE(VK_STRUCTURE_TYPE_QUERY_POOL_VIDEO_ENCODE_FEEDBACK_CREATE_INFO_KHR, 1000299005);
VALUE(VK_STRUCTURE_TYPE_VIDEO_ENCODE_CAPABILITIES_KHR, 1000299003);
VALUE(VK_STRUCTURE_TYPE_VIDEO_ENCODE_INFO_KHR, 1000299000);
VALUE(VK_STRUCTURE_TYPE_VIDEO_ENCODE_RATE_CONTROL_INFO_KHR, 1000299001);
VALUE(VK_STRUCTURE_TYPE_VIDEO_ENCODE_SESSION_PARAMETERS_GET_INFO_KHR, 1000299009);
VALUE(VK_VIDEO_CODING_CONTROL_ENCODE_RATE_CONTROL_BIT_KHR, 2);
VALUE(VK_VIDEO_ENCODE_FEEDBACK_BITSTREAM_BUFFER_OFFSET_BIT_KHR, 1);
VALUE(VK_VIDEO_ENCODE_FEEDBACK_BITSTREAM_BYTES_WRITTEN_BIT_KHR, 2);
VALUE(VK_VIDEO_ENCODE_RATE_CONTROL_MODE_DISABLED_BIT_KHR, 1);
VALUE(VK_ERROR_INVALID_VIDEO_STD_PARAMETERS_KHR, -1000299000);
VALUE(VK_QUEUE_VIDEO_ENCODE_BIT_KHR, 64);
VALUE(VK_QUERY_TYPE_VIDEO_ENCODE_FEEDBACK_KHR, 1000299000);
VALUE(VK_IMAGE_LAYOUT_VIDEO_ENCODE_SRC_KHR, 1000299001);
VALUE(VK_IMAGE_LAYOUT_VIDEO_ENCODE_DPB_KHR, 1000299002);
VALUE(VK_IMAGE_USAGE_VIDEO_ENCODE_SRC_BIT_KHR, 16384);
VALUE(VK_IMAGE_USAGE_VIDEO_ENCODE_DPB_BIT_KHR, 32768);
VALUE(VK_BUFFER_USAGE_VIDEO_ENCODE_DST_BIT_KHR, 32768);
