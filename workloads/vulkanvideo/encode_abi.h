/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * VK_KHR_video_encode_queue and VK_KHR_video_encode_h264 as the Vulkan specification has them since
 * 1.3.274, as far as the probe needs them: headers of before, as Debian 12 has, know only the
 * provisional extensions, which are others. The names are the specification's, flags that nobody sets
 * are one number, and where its header declares them nothing is declared here. tests/vulkanvideo_abi.c holds the sizes and places.
 */

#include "workloads/vulkan/vulkan.h"

#ifndef VK_KHR_video_encode_h264

#define VK_KHR_VIDEO_ENCODE_QUEUE_EXTENSION_NAME "VK_KHR_video_encode_queue"

#define VK_STRUCTURE_TYPE_VIDEO_ENCODE_INFO_KHR				       1000299000
#define VK_STRUCTURE_TYPE_VIDEO_ENCODE_RATE_CONTROL_INFO_KHR		       1000299001
#define VK_STRUCTURE_TYPE_VIDEO_ENCODE_CAPABILITIES_KHR			       1000299003
#define VK_STRUCTURE_TYPE_QUERY_POOL_VIDEO_ENCODE_FEEDBACK_CREATE_INFO_KHR     1000299005
#define VK_STRUCTURE_TYPE_VIDEO_ENCODE_SESSION_PARAMETERS_GET_INFO_KHR	       1000299009
#define VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_CAPABILITIES_KHR		       1000038000
#define VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_SESSION_PARAMETERS_CREATE_INFO_KHR 1000038001
#define VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_SESSION_PARAMETERS_ADD_INFO_KHR    1000038002
#define VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_PICTURE_INFO_KHR		       1000038003
#define VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_DPB_SLOT_INFO_KHR		       1000038004
#define VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_NALU_SLICE_INFO_KHR		       1000038005
#define VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_SESSION_PARAMETERS_GET_INFO_KHR    1000038012
#define VK_QUEUE_VIDEO_ENCODE_BIT_KHR					       0x40
#define VK_QUERY_TYPE_VIDEO_ENCODE_FEEDBACK_KHR				       1000299000
#define VK_IMAGE_LAYOUT_VIDEO_ENCODE_SRC_KHR				       1000299001
#define VK_IMAGE_LAYOUT_VIDEO_ENCODE_DPB_KHR				       1000299002
#define VK_IMAGE_USAGE_VIDEO_ENCODE_SRC_BIT_KHR				       0x4000
#define VK_IMAGE_USAGE_VIDEO_ENCODE_DPB_BIT_KHR				       0x8000
#define VK_BUFFER_USAGE_VIDEO_ENCODE_DST_BIT_KHR			       0x8000
#define VK_VIDEO_CODING_CONTROL_ENCODE_RATE_CONTROL_BIT_KHR		       2
#define VK_VIDEO_ENCODE_RATE_CONTROL_MODE_DISABLED_BIT_KHR		       1
#define VK_VIDEO_ENCODE_FEEDBACK_BITSTREAM_BUFFER_OFFSET_BIT_KHR	       1
#define VK_VIDEO_ENCODE_FEEDBACK_BITSTREAM_BYTES_WRITTEN_BIT_KHR	       2
#define VK_ERROR_INVALID_VIDEO_STD_PARAMETERS_KHR			       (-1000299000)
#define STD_VIDEO_H264_NO_REFERENCE_PICTURE				       0xFF

typedef struct VkVideoEncodeInfoKHR {
	VkStructureType sType;
	const void *pNext;
	VkFlags flags;
	VkBuffer dstBuffer;
	VkDeviceSize dstBufferOffset, dstBufferRange;
	VkVideoPictureResourceInfoKHR srcPictureResource;
	const VkVideoReferenceSlotInfoKHR *pSetupReferenceSlot;
	uint32_t referenceSlotCount;
	const VkVideoReferenceSlotInfoKHR *pReferenceSlots;
	uint32_t precedingExternallyEncodedBytes;
} VkVideoEncodeInfoKHR;

typedef struct VkVideoEncodeCapabilitiesKHR {
	VkStructureType sType;
	void *pNext;
	VkFlags flags, rateControlModes;
	uint32_t maxRateControlLayers;
	uint64_t maxBitrate;
	uint32_t maxQualityLevels;
	VkExtent2D encodeInputPictureGranularity;
	VkFlags supportedEncodeFeedbackFlags;
} VkVideoEncodeCapabilitiesKHR;

typedef struct VkQueryPoolVideoEncodeFeedbackCreateInfoKHR {
	VkStructureType sType;
	const void *pNext;
	VkFlags encodeFeedbackFlags;
} VkQueryPoolVideoEncodeFeedbackCreateInfoKHR;

typedef struct VkVideoEncodeRateControlInfoKHR {
	VkStructureType sType;
	const void *pNext;
	VkFlags flags, rateControlMode;
	uint32_t layerCount;
	const void *pLayers;
	uint32_t virtualBufferSizeInMs, initialVirtualBufferSizeInMs;
} VkVideoEncodeRateControlInfoKHR;

typedef struct VkVideoEncodeSessionParametersGetInfoKHR {
	VkStructureType sType;
	const void *pNext;
	VkVideoSessionParametersKHR videoSessionParameters;
} VkVideoEncodeSessionParametersGetInfoKHR;

typedef VkResult(VKAPI_PTR *PFN_vkGetEncodedVideoSessionParametersKHR)(
	VkDevice, const VkVideoEncodeSessionParametersGetInfoKHR *, void *feedback, size_t *size,
	void *data);
typedef void(VKAPI_PTR *PFN_vkCmdEncodeVideoKHR)(VkCommandBuffer, const VkVideoEncodeInfoKHR *);

typedef struct StdVideoEncodeH264ReferenceListsInfo {
	uint32_t flags;
	uint8_t num_ref_idx_l0_active_minus1, num_ref_idx_l1_active_minus1;
	uint8_t RefPicList0[STD_VIDEO_H264_MAX_NUM_LIST_REF];
	uint8_t RefPicList1[STD_VIDEO_H264_MAX_NUM_LIST_REF];
	uint8_t refList0ModOpCount, refList1ModOpCount, refPicMarkingOpCount, reserved1[7];
	const void *pRefList0ModOperations, *pRefList1ModOperations, *pRefPicMarkingOperations;
} StdVideoEncodeH264ReferenceListsInfo;

typedef struct StdVideoEncodeH264PictureInfo {
	struct {
		uint32_t IdrPicFlag : 1, is_reference : 1, reserved : 30;
	} flags;
	uint8_t seq_parameter_set_id, pic_parameter_set_id;
	uint16_t idr_pic_id;
	StdVideoH264PictureType primary_pic_type;
	uint32_t frame_num;
	int32_t PicOrderCnt;
	uint8_t temporal_id, reserved1[3];
	const StdVideoEncodeH264ReferenceListsInfo *pRefLists;
} StdVideoEncodeH264PictureInfo;

typedef struct StdVideoEncodeH264ReferenceInfo {
	uint32_t flags;
	StdVideoH264PictureType primary_pic_type;
	uint32_t FrameNum;
	int32_t PicOrderCnt;
	uint16_t long_term_pic_num, long_term_frame_idx;
	uint8_t temporal_id;
} StdVideoEncodeH264ReferenceInfo;

typedef struct StdVideoEncodeH264SliceHeader {
	uint32_t flags;
	uint32_t first_mb_in_slice;
	StdVideoH264SliceType slice_type;
	int8_t slice_alpha_c0_offset_div2, slice_beta_offset_div2, slice_qp_delta;
	uint8_t reserved1;
	StdVideoH264CabacInitIdc cabac_init_idc;
	StdVideoH264DisableDeblockingFilterIdc disable_deblocking_filter_idc;
	const void *pWeightTable;
} StdVideoEncodeH264SliceHeader;

typedef struct VkVideoEncodeH264CapabilitiesKHR {
	VkStructureType sType;
	void *pNext;
	VkFlags flags;
	StdVideoH264LevelIdc maxLevelIdc;
	uint32_t maxSliceCount, maxPPictureL0ReferenceCount, maxBPictureL0ReferenceCount,
		maxL1ReferenceCount, maxTemporalLayerCount;
	VkBool32 expectDyadicTemporalLayerPattern;
	int32_t minQp, maxQp;
	VkBool32 prefersGopRemainingFrames, requiresGopRemainingFrames;
	VkFlags stdSyntaxFlags;
} VkVideoEncodeH264CapabilitiesKHR;

typedef struct VkVideoEncodeH264SessionParametersAddInfoKHR {
	VkStructureType sType;
	const void *pNext;
	uint32_t stdSPSCount;
	const StdVideoH264SequenceParameterSet *pStdSPSs;
	uint32_t stdPPSCount;
	const StdVideoH264PictureParameterSet *pStdPPSs;
} VkVideoEncodeH264SessionParametersAddInfoKHR;

typedef struct VkVideoEncodeH264SessionParametersCreateInfoKHR {
	VkStructureType sType;
	const void *pNext;
	uint32_t maxStdSPSCount, maxStdPPSCount;
	const VkVideoEncodeH264SessionParametersAddInfoKHR *pParametersAddInfo;
} VkVideoEncodeH264SessionParametersCreateInfoKHR;

typedef struct VkVideoEncodeH264SessionParametersGetInfoKHR {
	VkStructureType sType;
	const void *pNext;
	VkBool32 writeStdSPS, writeStdPPS;
	uint32_t stdSPSId, stdPPSId;
} VkVideoEncodeH264SessionParametersGetInfoKHR;

typedef struct VkVideoEncodeH264NaluSliceInfoKHR {
	VkStructureType sType;
	const void *pNext;
	int32_t constantQp;
	const StdVideoEncodeH264SliceHeader *pStdSliceHeader;
} VkVideoEncodeH264NaluSliceInfoKHR;

typedef struct VkVideoEncodeH264PictureInfoKHR {
	VkStructureType sType;
	const void *pNext;
	uint32_t naluSliceEntryCount;
	const VkVideoEncodeH264NaluSliceInfoKHR *pNaluSliceEntries;
	const StdVideoEncodeH264PictureInfo *pStdPictureInfo;
	VkBool32 generatePrefixNalu;
} VkVideoEncodeH264PictureInfoKHR;

typedef struct VkVideoEncodeH264DpbSlotInfoKHR {
	VkStructureType sType;
	const void *pNext;
	const StdVideoEncodeH264ReferenceInfo *pStdReferenceInfo;
} VkVideoEncodeH264DpbSlotInfoKHR;

#endif
