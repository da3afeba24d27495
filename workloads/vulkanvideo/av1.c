/* SPDX-License-Identifier: MIT */
/* Describes AV1 for Vulkan: one reference, no optional tools, and tiles and filters that the driver
 * chooses. */
#include "workloads/vulkanvideo/vulkanvideo.h"

#include <string.h>

enum {
	SUPERBLOCKS = 10, /* index of values[]: 1 is 64 by 64, 2 is 128 by 128 */
	NAMES = 12,	  /* of references: LAST_FRAME is 1 */
	POINTS = 22,	  /* the number of operating points */
	SYNTAX = 27,
	PRIMARY_REFERENCE = 4, /* of SYNTAX: probabilities are inherited from a reference */
	REFERENCES = 7,	       /* of a picture */
	SIDE_BITS = 16,
	ORDER_BITS = 8,
	LEVEL = 4,  /* 3.0: 1024 by 1024 at 23 frames a second */
	CHOSEN = 2, /* each picture chooses the precision of motion vectors */
	NO_PRIMARY_REFERENCE = 7,
	ALL_PICTURES = 0xFF, /* a key frame replaces all that are kept */
};

static int make_parameters(struct vulkanvideo_encoder *e, struct error *err)
{
	const uint32_t *values = e->capabilities.codec.values;
	const StdVideoAV1ColorConfig colours = {
		.BitDepth = 8,
		.subsampling_x = 1,
		.subsampling_y = 1,
		.color_primaries = 2, /* unspecified, as the next two */
		.transfer_characteristics = 2,
		.matrix_coefficients = 2,
	};
	const StdVideoAV1SequenceHeader sequence = {
		.flags = {.use_128x128_superblock = (values[SUPERBLOCKS] & 1) == 0,
			  .enable_order_hint = 1},
		.seq_profile = (StdVideoAV1Profile)e->profile.codec.values[0],
		.frame_width_bits_minus_1 = SIDE_BITS - 1,
		.frame_height_bits_minus_1 = SIDE_BITS - 1,
		.max_frame_width_minus_1 = (uint16_t)(e->job->source.width - 1),
		.max_frame_height_minus_1 = (uint16_t)(e->job->source.height - 1),
		.order_hint_bits_minus_1 = ORDER_BITS - 1,
		.seq_force_integer_mv = CHOSEN,
		.seq_force_screen_content_tools = CHOSEN,
		.pColorConfig = &colours,
	};
	const StdVideoEncodeAV1OperatingPointInfo point = {.seq_level_idx = LEVEL};
	const VkVideoEncodeAV1SessionParametersCreateInfoKHR parameters = {
		.sType = (VkStructureType)AV1_PARAMETERS,
		.pStdSequenceHeader = &sequence,
		.stdOperatingPointCount = values[POINTS] != 0,
		.pStdOperatingPoints = &point,
	};

	return vulkanvideo_create_parameters(e, &parameters, NULL, err);
}

static StdVideoEncodeAV1ReferenceInfo reference(unsigned index)
{
	return (StdVideoEncodeAV1ReferenceInfo){.frame_type = index != 0,
						.OrderHint = (uint8_t)index};
}

/* A picture after the first, a key frame (0), is an inter frame (1), predicts by a single reference
 * (1), and its quantiser is that of predicted ones (1). */
static void record(struct vulkanvideo_encoder *e, VkCommandBuffer commands, unsigned index)
{
	const StdVideoEncodeAV1ReferenceInfo now = reference(index), before = reference(index - 1);
	const bool inter = index != 0;
	const uint32_t *values = e->capabilities.codec.values;
	const bool primary = (values[SYNTAX] & PRIMARY_REFERENCE) != 0;
	const uint8_t slot = (index + 1) % VULKANVIDEO_SLOTS; /* there are two */
	size_t name = 0;

	/* The driver's first name for the only reference. */
	while (name + 1 < REFERENCES && (values[NAMES] >> name & 1) == 0)
		name++;
	StdVideoEncodeAV1PictureInfo picture = {
		.flags = {.error_resilient_mode = !inter, .show_frame = 1, .showable_frame = inter},
		.frame_type = inter,
		.order_hint = (uint8_t)index,
		.primary_ref_frame = inter && primary ? (uint8_t)name : NO_PRIMARY_REFERENCE,
		.refresh_frame_flags =
			(uint8_t)(inter ? 1u << index % VULKANVIDEO_SLOTS : ALL_PICTURES),
		.render_width_minus_1 = (uint16_t)(e->job->source.width - 1),
		.render_height_minus_1 = (uint16_t)(e->job->source.height - 1),
		.TxMode = 2, /* TX_MODE_SELECT */
	};
	VkVideoEncodeAV1PictureInfoKHR codec = {
		.sType = (VkStructureType)AV1_PICTURE,
		.predictionMode = inter,
		.rateControlGroup = inter,
		.constantQIndex = (uint32_t)e->qp,
		.pStdPictureInfo = &picture,
	};
	for (size_t i = 0; i < REFERENCES; i++)
		codec.referenceNameSlotIndices[i] = -1;
	if (inter) {
		memset(picture.ref_frame_idx, slot, sizeof(picture.ref_frame_idx));
		picture.ref_order_hint[slot] = (uint8_t)(index - 1);
		codec.referenceNameSlotIndices[name] = slot;
	}
	vulkanvideo_record(e, commands, index, &codec, &now, &before);
}

const struct vulkanvideo_coder vulkanvideo_av1 = {make_parameters, record};
