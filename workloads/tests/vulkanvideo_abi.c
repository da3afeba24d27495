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
SIZE(VkVideoEncodeH264CapabilitiesKHR, 72);
AT(VkVideoEncodeH264CapabilitiesKHR, maxLevelIdc, 20);
AT(VkVideoEncodeH264CapabilitiesKHR, maxPPictureL0ReferenceCount, 28);
AT(VkVideoEncodeH264CapabilitiesKHR, maxL1ReferenceCount, 36);
AT(VkVideoEncodeH264CapabilitiesKHR, minQp, 48);
AT(VkVideoEncodeH264CapabilitiesKHR, maxQp, 52);
AT(VkVideoEncodeH264CapabilitiesKHR, stdSyntaxFlags, 64);
SIZE(VkVideoEncodeH264SessionParametersAddInfoKHR, 48);
AT(VkVideoEncodeH264SessionParametersAddInfoKHR, stdSPSCount, 16);
AT(VkVideoEncodeH264SessionParametersAddInfoKHR, pStdSPSs, 24);
AT(VkVideoEncodeH264SessionParametersAddInfoKHR, stdPPSCount, 32);
AT(VkVideoEncodeH264SessionParametersAddInfoKHR, pStdPPSs, 40);
SIZE(VkVideoEncodeH264SessionParametersCreateInfoKHR, 32);
AT(VkVideoEncodeH264SessionParametersCreateInfoKHR, maxStdSPSCount, 16);
AT(VkVideoEncodeH264SessionParametersCreateInfoKHR, maxStdPPSCount, 20);
AT(VkVideoEncodeH264SessionParametersCreateInfoKHR, pParametersAddInfo, 24);
SIZE(VkVideoEncodeH264SessionParametersGetInfoKHR, 32);
AT(VkVideoEncodeH264SessionParametersGetInfoKHR, writeStdSPS, 16);
AT(VkVideoEncodeH264SessionParametersGetInfoKHR, writeStdPPS, 20);
AT(VkVideoEncodeH264SessionParametersGetInfoKHR, stdSPSId, 24);
AT(VkVideoEncodeH264SessionParametersGetInfoKHR, stdPPSId, 28);
SIZE(VkVideoEncodeH264NaluSliceInfoKHR, 32);
AT(VkVideoEncodeH264NaluSliceInfoKHR, constantQp, 16);
AT(VkVideoEncodeH264NaluSliceInfoKHR, pStdSliceHeader, 24);
SIZE(VkVideoEncodeH264PictureInfoKHR, 48);
AT(VkVideoEncodeH264PictureInfoKHR, naluSliceEntryCount, 16);
AT(VkVideoEncodeH264PictureInfoKHR, pNaluSliceEntries, 24);
AT(VkVideoEncodeH264PictureInfoKHR, pStdPictureInfo, 32);
AT(VkVideoEncodeH264PictureInfoKHR, generatePrefixNalu, 40);
SIZE(VkVideoEncodeH264DpbSlotInfoKHR, 24);
AT(VkVideoEncodeH264DpbSlotInfoKHR, pStdReferenceInfo, 16);

VALUE(VK_STRUCTURE_TYPE_QUERY_POOL_VIDEO_ENCODE_FEEDBACK_CREATE_INFO_KHR, 1000299005);
VALUE(VK_STRUCTURE_TYPE_VIDEO_ENCODE_CAPABILITIES_KHR, 1000299003);
VALUE(VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_CAPABILITIES_KHR, 1000038000);
VALUE(VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_DPB_SLOT_INFO_KHR, 1000038004);
VALUE(VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_NALU_SLICE_INFO_KHR, 1000038005);
VALUE(VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_PICTURE_INFO_KHR, 1000038003);
VALUE(VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_SESSION_PARAMETERS_ADD_INFO_KHR, 1000038002);
VALUE(VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_SESSION_PARAMETERS_CREATE_INFO_KHR, 1000038001);
VALUE(VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_SESSION_PARAMETERS_GET_INFO_KHR, 1000038012);
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
