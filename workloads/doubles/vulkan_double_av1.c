/* SPDX-License-Identifier: MIT */
/*
 * How AV1 must be described: a key frame, and frames that are predicted from the one before. The headers are the
 * caller's, the tiles libaom's (av1_aom.h). Words of GPUCERT_DOUBLE:
 *
 *   large-superblocks   superblocks are 128 by 128
 *   golden              the only reference is called GOLDEN_FRAME
 *   no-points           no operating point is accepted
 *   no-primary          no probabilities are inherited, unlike in libaom: its streams do not decode
 *   spoil=WHAT          width, colours, superblocks, hints, level; key, shown, order, refresh, kept, name, primary,
 *                       mode, group, slot-order
 */
#include "workloads/doubles/av1_aom.h"
#include "workloads/doubles/settings.h"
#include "workloads/doubles/vulkan_double_video.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	LEVEL_4_0 = 8,
	Q_LEAST = 132,
	Q_MOST = 200,
	Q_OWN = 136, /* of its own rate control */
	GOLDEN = 3,  /* after LAST_FRAME */
	SELECTED = 2,
	PRIMARY_REFERENCE = 4, /* of stdSyntaxFlags */
};

static bool offers(uint32_t profile, bool ten_bit)
{
	return profile == 0 && !ten_bit;
}

static unsigned name_of_reference(void)
{
	return setting_has("golden") ? GOLDEN : 0;
}

static void report_capabilities(uint32_t *values)
{
	values[1] = LEVEL_4_0;
	values[2] = values[3] = 8;    /* alignment of pictures */
	values[4] = values[5] = 1;    /* tiles */
	values[6] = values[7] = 64;   /* their smallest side */
	values[8] = values[9] = 4096; /* and the largest */
	values[10] = setting_has("large-superblocks") ? 2 : 1;
	values[11] = setting_has("intra") ? 0 : 1; /* reference */
	values[12] = 1u << name_of_reference();
	values[20] = values[21] = 1; /* temporal and spatial layers */
	values[22] = !setting_has("no-points");
	values[23] = Q_LEAST;
	values[24] = Q_MOST;
	values[27] = setting_has("no-primary") ? 0 : PRIMARY_REFERENCE;
}

static const char *check_sequence(const struct parameters *parameters,
				  const StdVideoAV1SequenceHeader *sequence,
				  const StdVideoAV1ColorConfig *colours)
{
	const struct video_source *source = &parameters->session->writer.source;
	if (sequence->seq_profile != 0 || sequence->max_frame_width_minus_1 + 1u != source->width ||
	    sequence->max_frame_height_minus_1 + 1u != source->height ||
	    sequence->max_frame_width_minus_1 >> (sequence->frame_width_bits_minus_1 + 1) != 0 ||
	    sequence->max_frame_height_minus_1 >> (sequence->frame_height_bits_minus_1 + 1) != 0 ||
	    sequence->flags.still_picture || sequence->flags.reduced_still_picture_header)
		return "pictures of another kind than the session's";
	if (colours->BitDepth != 8 || colours->subsampling_x != 1 || colours->subsampling_y != 1)
		return "colours that are not 4:2:0 of 8 bits";
	if (sequence->flags.use_128x128_superblock != setting_has("large-superblocks"))
		return "superblocks that it does not have";
	if (!sequence->flags.enable_order_hint || sequence->order_hint_bits_minus_1 > 7 ||
	    sequence->order_hint_bits_minus_1 < 3 ||
	    sequence->seq_force_screen_content_tools != SELECTED ||
	    sequence->seq_force_integer_mv != SELECTED)
		return "a sequence that it codes no frames for";
	return NULL;
}

static const char *check_points(const VkVideoEncodeAV1SessionParametersCreateInfoKHR *info,
				unsigned level)
{
	if (info->pStdDecoderModelInfo != NULL ||
	    info->stdOperatingPointCount != (setting_has("no-points") ? 0 : 1))
		return "more or fewer operating points than there are";
	if (info->stdOperatingPointCount == 0)
		return NULL;
	return info->pStdOperatingPoints == NULL ||
			       info->pStdOperatingPoints[0].operating_point_idc != 0 ||
			       level > LEVEL_4_0
		       ? "an operating point that is none"
		       : NULL;
}

static const char *take_parameters(struct parameters *parameters, const void *codec)
{
	const VkVideoEncodeAV1SessionParametersCreateInfoKHR *info = codec;
	if (info->pStdSequenceHeader == NULL || info->pStdSequenceHeader->pColorConfig == NULL)
		return "no sequence header";
	StdVideoAV1SequenceHeader sequence = *info->pStdSequenceHeader;
	StdVideoAV1ColorConfig colours = *sequence.pColorConfig;
	unsigned level = info->stdOperatingPointCount > 0
				 ? info->pStdOperatingPoints[0].seq_level_idx
				 : LEVEL_4_0;
	if (double_spoils("width"))
		sequence.max_frame_width_minus_1++;
	if (double_spoils("colours"))
		colours.subsampling_x = 0;
	sequence.flags.use_128x128_superblock ^= double_spoils("superblocks");
	sequence.flags.enable_order_hint ^= double_spoils("hints");
	level += double_spoils("level") ? LEVEL_4_0 : 0;
	const char *wrong = check_sequence(parameters, &sequence, &colours);
	if (wrong == NULL)
		wrong = check_points(info, level);
	if (wrong != NULL)
		return wrong;
	parameters->av1 = (struct av1_sequence){
		.width = sequence.max_frame_width_minus_1 + 1u,
		.height = sequence.max_frame_height_minus_1 + 1u,
		.seq_level_idx = level,
		.use_128x128_superblock = sequence.flags.use_128x128_superblock,
		.order_hint_bits = sequence.order_hint_bits_minus_1 + 1u,
	};
	av1_add_sequence_header(&parameters->av1, 0, &parameters->headers);
	return NULL;
}

/* The caller's description of a picture, perhaps spoilt. */
struct described {
	VkVideoEncodeAV1PictureInfoKHR codec;
	StdVideoEncodeAV1PictureInfo picture;
	StdVideoEncodeAV1ReferenceInfo own;
};

static void spoil(struct described *described)
{
	int8_t *reference = &described->picture.ref_frame_idx[name_of_reference()];
	described->picture.frame_type ^= double_spoils("key");
	described->picture.flags.show_frame ^= double_spoils("shown");
	described->picture.order_hint ^= double_spoils("order");
	described->picture.refresh_frame_flags ^= double_spoils("refresh");
	*reference = (int8_t)(*reference ^ double_spoils("kept"));
	if (double_spoils("primary"))
		described->picture.primary_ref_frame = 1;
	if (double_spoils("name")) {
		described->codec.referenceNameSlotIndices[1] =
			described->codec.referenceNameSlotIndices[name_of_reference()];
		described->codec.referenceNameSlotIndices[name_of_reference()] = -1;
	}
	described->codec.predictionMode ^= double_spoils("mode");
	described->codec.rateControlGroup ^= double_spoils("group");
	described->own.OrderHint ^= double_spoils("slot-order");
}

/* 7.20: checks the frames in the decoder's slots, and the slot that is referenced. */
static const char *check_places(const struct session *session, const VkVideoEncodeInfoKHR *info,
				const StdVideoEncodeAV1PictureInfo *picture)
{
	const int order = session->slots[info->pReferenceSlots[0].slotIndex].order;
	for (size_t i = 0; i < AV1_REFERENCES; i++)
		if (picture->ref_frame_idx[i] < 0 || picture->ref_frame_idx[i] >= AV1_SLOTS)
			return "a reference that decoders do not keep";
	const unsigned place = (unsigned)picture->ref_frame_idx[name_of_reference()];
	if (session->kept[place] != order || picture->order_hint != order + 1)
		return "wrong numbers of a picture";
	if (picture->refresh_frame_flags == 0 || (picture->refresh_frame_flags >> place & 1) != 0 ||
	    (picture->refresh_frame_flags & (picture->refresh_frame_flags - 1)) != 0)
		return "a picture that is kept in another place than one of its own";
	return NULL;
}

static const char *check_picture(const struct session *session, const VkVideoEncodeInfoKHR *info,
				 const struct described *described)
{
	const StdVideoEncodeAV1PictureInfo *picture = &described->picture;
	const bool key = picture->frame_type == 0;
	const unsigned primary =
		key || setting_has("no-primary") ? AV1_PRIMARY_REF_NONE : name_of_reference();
	int listed = -1;
	for (unsigned i = 0; i < AV1_REFERENCES; i++) {
		if (described->codec.referenceNameSlotIndices[i] >= 0 && i != name_of_reference())
			return "a reference of a name that it does not have";
		if (described->codec.referenceNameSlotIndices[i] >= 0)
			listed = described->codec.referenceNameSlotIndices[i];
	}
	const char *wrong = double_check_slots(session, info, key, listed);
	if (wrong == NULL && !key)
		wrong = check_places(session, info, picture);
	if (wrong != NULL)
		return wrong;
	if (key && (picture->order_hint != 0 || picture->refresh_frame_flags != AV1_ALL_SLOTS))
		return "a key frame that is none";
	if (!picture->flags.show_frame || picture->flags.showable_frame == key ||
	    picture->flags.error_resilient_mode != key || picture->frame_type > 1 ||
	    picture->primary_ref_frame != primary || picture->interpolation_filter != 0 ||
	    described->codec.predictionMode == key || described->codec.rateControlGroup == key)
		return "another picture than a key frame or a predicted one";
	return described->own.OrderHint != picture->order_hint ||
			       described->own.frame_type != picture->frame_type
		       ? "a slot that tells another picture than its own"
		       : NULL;
}

static const char *take_picture(struct double_picture *picture, const VkVideoEncodeInfoKHR *info)
{
	struct session *session = picture->session;
	const struct vulkanvideo_slot *own = info->pSetupReferenceSlot->pNext;
	if (own == NULL)
		return "a slot that is not described";
	struct described described = {
		.codec = *(const VkVideoEncodeAV1PictureInfoKHR *)info->pNext,
		.own = *(const StdVideoEncodeAV1ReferenceInfo *)own->reference,
	};
	described.picture = *described.codec.pStdPictureInfo;
	spoil(&described);
	const char *wrong = check_picture(session, info, &described);
	if (wrong != NULL)
		return wrong;
	if (!double_is_qp(session, described.codec.constantQIndex, Q_LEAST, Q_MOST))
		return "a quantiser that the rate control does not allow";
	picture->av1 = (struct av1_frame){
		.key = described.picture.frame_type == 0,
		.order_hint = described.picture.order_hint,
		.primary_ref_frame = described.picture.primary_ref_frame,
		.refresh_frame_flags = described.picture.refresh_frame_flags,
		.base_q_idx = session->constant_qp ? described.codec.constantQIndex : Q_OWN,
		.tx_mode_select = described.picture.TxMode == SELECTED,
	};
	for (size_t i = 0; i < AV1_REFERENCES; i++)
		picture->av1.ref_frame_idx[i] = (uint8_t)described.picture.ref_frame_idx[i];
	for (size_t i = 0; i < AV1_SLOTS; i++)
		if ((described.picture.refresh_frame_flags >> i & 1) != 0)
			session->kept[i] = described.picture.order_hint;
	session->slots[info->pSetupReferenceSlot->slotIndex] =
		(struct coded){true, 0, described.picture.order_hint};
	return NULL;
}

/* libaom calls the reference LAST_FRAME, and inherits its probabilities from the same slot. */
static void put(const struct h264_pcm *writer, const struct video_planes *frame,
		struct text *stream)
{
	const struct double_picture *picture = writer->user;
	const struct av1_sequence *sequence = &picture->parameters->av1;
	struct av1_frame coded = picture->av1;
	struct text tile = {0};
	coded.primary_ref_frame = coded.key ? AV1_PRIMARY_REF_NONE : 0;
	if (!av1_aom_encode(picture->session->coder, sequence, &coded, frame, &tile))
		(void)fprintf(stderr, "the double: libaom codes no such frame\n");
	av1_add_frame_header(sequence, &picture->av1, 0, NULL, stream);
	av1_add_obu(AV1_TILE_GROUP, tile.data, tile.size, 0, stream);
	text_free(&tile);
}

static void begin(struct session *session)
{
	session->coder = double_allocate(sizeof(struct av1_aom));
}

static void end(struct session *session)
{
	av1_aom_close(session->coder);
	free(session->coder);
}

const struct double_codec double_av1 = {
	.extension = "VK_KHR_video_encode_av1",
	.operation = 0x40000,
	.capabilities = AV1_CAPABILITIES,
	.parameters = AV1_PARAMETERS,
	.picture = AV1_PICTURE,
	.slot = AV1_SLOT,
	.begin = begin,
	.end = end,
	.offers = offers,
	.report_capabilities = report_capabilities,
	.take_parameters = take_parameters,
	.take_picture = take_picture,
	.put = put,
};
