/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The parts of VK_KHR_video_encode_queue, _h264, _h265 and _av1 that the probe needs, as in the Vulkan
 * specification since 1.3.302: headers before 1.3.274, as in Debian 12, have only the provisional
 * extensions, which differ. The names are the specification's, unused flags are one number, and
 * nothing is declared here that the system's header declares. tests/vulkanvideo_abi.c checks sizes and
 * offsets.
 */

#include "workloads/vulkan/vulkan.h"

/* Structures that are alike in all codecs are declared once, under names of our own. Their
 * VkStructureType follows from the number of the extension and, but for HEADERS (...GetInfoKHR),
 * from that of the structure. */
enum { H264 = 1000038000, H264_HEADERS = H264 + 12, HEVC = 1000039000, HEVC_HEADERS = HEVC + 13 };
enum { CAPABILITIES, PARAMETERS, SETS, PICTURE, SLOT, SLICE, PROFILE = 7 };
enum {
	AV1_CAPABILITIES = 1000513000,
	AV1_PARAMETERS,
	AV1_PICTURE,
	AV1_SLOT,
	AV1_FEATURES,
	AV1_PROFILE,
};

/* Structures of 32-bit numbers: VkVideoEncode{H264,H265,AV1}ProfileInfoKHR and ...CapabilitiesKHR,
 * VkPhysicalDeviceVideoEncodeAV1FeaturesKHR, VkVideoEncode{H264,H265}SessionParametersGetInfoKHR. */
struct vulkanvideo_numbers {
	int32_t sType;
	void *pNext;
	uint32_t values[32];
};

/* VkVideoEncode{H264,H265}SessionParametersCreateInfoKHR: the maximum number of sets of each kind. */
struct vulkanvideo_parameters {
	int32_t sType;
	const void *pNext;
	union {
		struct {
			uint32_t most[2];
			const struct vulkanvideo_sets *sets;
		} h264;
		struct {
			uint32_t most[3];
			const struct vulkanvideo_sets *sets;
		} hevc;
	} of;
};

/* VkVideoEncode{H264,H265}SessionParametersAddInfoKHR: VPS, which only HEVC has, SPS and PPS. */
struct vulkanvideo_sets {
	int32_t sType;
	const void *pNext;
	struct {
		uint32_t count;
		const void *sets;
	} of[3];
};

/* VkVideoEncode{H264,H265}NaluSlice{,Segment}InfoKHR */
struct vulkanvideo_slice {
	int32_t sType;
	const void *pNext;
	int32_t qp;
	const void *header;
};

/* VkVideoEncode{H264,H265}PictureInfoKHR */
struct vulkanvideo_picture {
	int32_t sType;
	const void *pNext;
	uint32_t count;
	const struct vulkanvideo_slice *slices;
	const void *picture;
	VkBool32 prefix; /* H.264 only */
};

/* VkVideoEncode{H264,H265,AV1}DpbSlotInfoKHR */
struct vulkanvideo_slot {
	int32_t sType;
	const void *pNext;
	const void *reference;
};

#ifndef VK_KHR_video_encode_h264

#define VK_KHR_VIDEO_ENCODE_QUEUE_EXTENSION_NAME "VK_KHR_video_encode_queue"

#define VK_STRUCTURE_TYPE_VIDEO_ENCODE_INFO_KHR				   1000299000
#define VK_STRUCTURE_TYPE_VIDEO_ENCODE_RATE_CONTROL_INFO_KHR		   1000299001
#define VK_STRUCTURE_TYPE_VIDEO_ENCODE_CAPABILITIES_KHR			   1000299003
#define VK_STRUCTURE_TYPE_QUERY_POOL_VIDEO_ENCODE_FEEDBACK_CREATE_INFO_KHR 1000299005
#define VK_STRUCTURE_TYPE_VIDEO_ENCODE_SESSION_PARAMETERS_GET_INFO_KHR	   1000299009
#define VK_QUEUE_VIDEO_ENCODE_BIT_KHR					   0x40
#define VK_QUERY_TYPE_VIDEO_ENCODE_FEEDBACK_KHR				   1000299000
#define VK_IMAGE_LAYOUT_VIDEO_ENCODE_SRC_KHR				   1000299001
#define VK_IMAGE_LAYOUT_VIDEO_ENCODE_DPB_KHR				   1000299002
#define VK_IMAGE_USAGE_VIDEO_ENCODE_SRC_BIT_KHR				   0x4000
#define VK_IMAGE_USAGE_VIDEO_ENCODE_DPB_BIT_KHR				   0x8000
#define VK_BUFFER_USAGE_VIDEO_ENCODE_DST_BIT_KHR			   0x8000
#define VK_VIDEO_CODING_CONTROL_ENCODE_RATE_CONTROL_BIT_KHR		   2
#define VK_VIDEO_ENCODE_RATE_CONTROL_MODE_DISABLED_BIT_KHR		   1
#define VK_VIDEO_ENCODE_FEEDBACK_BITSTREAM_BUFFER_OFFSET_BIT_KHR	   1
#define VK_VIDEO_ENCODE_FEEDBACK_BITSTREAM_BYTES_WRITTEN_BIT_KHR	   2
#define VK_ERROR_INVALID_VIDEO_STD_PARAMETERS_KHR			   (-1000299000)
#define STD_VIDEO_H264_NO_REFERENCE_PICTURE				   0xFF

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

#define STD_VIDEO_H265_NO_REFERENCE_PICTURE 0xFF

typedef struct StdVideoEncodeH265ReferenceListsInfo {
	uint32_t flags;
	uint8_t num_ref_idx_l0_active_minus1, num_ref_idx_l1_active_minus1;
	uint8_t RefPicList0[STD_VIDEO_H265_MAX_NUM_LIST_REF];
	uint8_t RefPicList1[STD_VIDEO_H265_MAX_NUM_LIST_REF];
	uint8_t list_entry_l0[STD_VIDEO_H265_MAX_NUM_LIST_REF];
	uint8_t list_entry_l1[STD_VIDEO_H265_MAX_NUM_LIST_REF];
} StdVideoEncodeH265ReferenceListsInfo;

typedef struct StdVideoEncodeH265PictureInfo {
	struct {
		uint32_t is_reference : 1, IrapPicFlag : 1, unset : 3, pic_output_flag : 1,
			no_output_of_prior_pics_flag : 1, short_term_ref_pic_set_sps_flag : 1,
			slice_temporal_mvp_enabled_flag : 1, reserved : 23;
	} flags;
	StdVideoH265PictureType pic_type;
	uint8_t sps_video_parameter_set_id, pps_seq_parameter_set_id, pps_pic_parameter_set_id;
	uint8_t short_term_ref_pic_set_idx;
	int32_t PicOrderCntVal;
	uint8_t TemporalId, reserved1[7];
	const StdVideoEncodeH265ReferenceListsInfo *pRefLists;
	const StdVideoH265ShortTermRefPicSet *pShortTermRefPicSet;
	const void *pLongTermRefPics;
} StdVideoEncodeH265PictureInfo;

typedef struct StdVideoEncodeH265ReferenceInfo {
	uint32_t flags;
	StdVideoH265PictureType pic_type;
	int32_t PicOrderCntVal;
	uint8_t TemporalId;
} StdVideoEncodeH265ReferenceInfo;

typedef struct StdVideoEncodeH265SliceSegmentHeader {
	struct {
		uint32_t first_slice_segment_in_pic_flag : 1, unset : 31;
	} flags;
	StdVideoH265SliceType slice_type;
	uint32_t slice_segment_address;
	uint8_t collocated_ref_idx, MaxNumMergeCand;
	int8_t offsets[7], slice_qp_delta;
	uint16_t reserved1;
	const void *pWeightTable;
} StdVideoEncodeH265SliceSegmentHeader;

#endif

#ifndef vulkan_video_codec_av1std

typedef int32_t StdVideoAV1Profile, StdVideoAV1FrameType;

typedef struct StdVideoAV1ColorConfig {
	uint32_t flags;
	uint8_t BitDepth, subsampling_x, subsampling_y, reserved1;
	int32_t color_primaries, transfer_characteristics, matrix_coefficients;
	int32_t chroma_sample_position;
} StdVideoAV1ColorConfig;

typedef struct StdVideoAV1SequenceHeader {
	struct {
		uint32_t still_picture : 1, reduced_still_picture_header : 1,
			use_128x128_superblock : 1, tools : 6, enable_order_hint : 1, others : 22;
	} flags;
	StdVideoAV1Profile seq_profile;
	uint8_t frame_width_bits_minus_1, frame_height_bits_minus_1;
	uint16_t max_frame_width_minus_1, max_frame_height_minus_1;
	uint8_t delta_frame_id_length_minus_2, additional_frame_id_length_minus_1;
	uint8_t order_hint_bits_minus_1, seq_force_integer_mv, seq_force_screen_content_tools;
	uint8_t reserved1[5];
	const StdVideoAV1ColorConfig *pColorConfig;
	const void *pTimingInfo;
} StdVideoAV1SequenceHeader;

#endif

#ifndef VK_KHR_video_encode_av1

typedef struct StdVideoEncodeAV1OperatingPointInfo {
	uint32_t flags;
	uint16_t operating_point_idc;
	uint8_t seq_level_idx, seq_tier;
	uint32_t decoder_buffer_delay, encoder_buffer_delay;
	uint8_t initial_display_delay_minus_1;
} StdVideoEncodeAV1OperatingPointInfo;

typedef struct VkVideoEncodeAV1SessionParametersCreateInfoKHR {
	VkStructureType sType;
	const void *pNext;
	const StdVideoAV1SequenceHeader *pStdSequenceHeader;
	const void *pStdDecoderModelInfo;
	uint32_t stdOperatingPointCount;
	const StdVideoEncodeAV1OperatingPointInfo *pStdOperatingPoints;
} VkVideoEncodeAV1SessionParametersCreateInfoKHR;

typedef struct StdVideoEncodeAV1PictureInfo {
	struct {
		uint32_t error_resilient_mode : 1, tools : 26, show_frame : 1, showable_frame : 1,
			reserved : 3;
	} flags;
	StdVideoAV1FrameType frame_type;
	uint32_t frame_presentation_time, current_frame_id;
	uint8_t order_hint, primary_ref_frame, refresh_frame_flags, coded_denom;
	uint16_t render_width_minus_1, render_height_minus_1;
	int32_t interpolation_filter, TxMode;
	uint8_t delta_q_res, delta_lf_res;
	uint8_t ref_order_hint[8];
	int8_t ref_frame_idx[7];
	uint8_t reserved1[3];
	uint32_t delta_frame_id_minus_1[7];
	const void *parts[9]; /* of tiles, quantisers, filters ...: the driver's choice */
} StdVideoEncodeAV1PictureInfo;

typedef struct StdVideoEncodeAV1ReferenceInfo {
	uint32_t flags, RefFrameId;
	StdVideoAV1FrameType frame_type;
	uint8_t OrderHint, reserved1[3];
	const void *pExtensionHeader;
} StdVideoEncodeAV1ReferenceInfo;

typedef struct VkVideoEncodeAV1PictureInfoKHR {
	VkStructureType sType;
	const void *pNext;
	int32_t predictionMode, rateControlGroup;
	uint32_t constantQIndex;
	const StdVideoEncodeAV1PictureInfo *pStdPictureInfo;
	int32_t referenceNameSlotIndices[7];
	VkBool32 primaryReferenceCdfOnly, generateObuExtensionHeader;
} VkVideoEncodeAV1PictureInfoKHR;

#endif
