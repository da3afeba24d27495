/* SPDX-License-Identifier: MIT */
/*
 * How AV1 must be described: without tools that the driver does not require, each frame referring to the one
 * before, and, if the driver accepts headers, with headers that match the buffers. Otherwise the driver
 * writes its own. With a rate to keep it chooses another quantiser and writes it into the caller's header,
 * at the place that the caller states. Tiles are libaom's, which makes none for headers that it cannot
 * match. Words of GPUCERT_DOUBLE:
 *
 *   silent              tools are not reported
 *   large-superblocks   superblocks of 128 by 128 are required
 *   small-sizes         units state their size in two bytes
 *   largest             transforms are the largest of their blocks
 *   palette, tiny       tools that the probe does not describe are required: palettes, transforms of 4 by 4
 *   sharp               the only motion filter is one that libaom does not choose
 *   delimits            a picture begins with a temporal delimiter
 *   spoil=WHAT          the caller's description is spoilt before it is checked:
 *                       level, hints, width, order, key, slots, primary, list, reference, surface, quality,
 *                       transforms, tiles, group; of headers: headers, other-header, tools; where a rate is
 *                       kept: place, unit, filters
 */
#include "workloads/doubles/settings.h"
#include "workloads/doubles/va_double.h"

#include <string.h>

enum { DRIVERS_QUALITY = 144, LARGEST = 1, SELECT = 2 };

static uint32_t tools(void)
{
	VAConfigAttribValEncAV1 supported = {.value = 0};
	supported.bits.support_128x128_superblock =
		setting_has("large-superblocks") ? VA_FEATURE_SUPPORTED | VA_FEATURE_REQUIRED : 0;
	supported.bits.support_intra_edge_filter = VA_FEATURE_REQUIRED;
	supported.bits.support_filter_intra = VA_FEATURE_SUPPORTED;
	supported.bits.support_ref_frame_mvs = VA_FEATURE_REQUIRED;
	supported.bits.support_palette_mode =
		setting_has("palette") ? VA_FEATURE_REQUIRED : VA_FEATURE_SUPPORTED;
	return supported.value;
}

static uint32_t coding(void)
{
	VAConfigAttribValEncAV1Ext2 supported = {.value = 0};
	supported.bits.obu_size_bytes_minus1 = setting_has("small-sizes") ? 1 : 3;
	supported.bits.tx_mode_support = setting_has("tiny")	  ? 1
					 : setting_has("largest") ? 1u << LARGEST
								  : 1u << LARGEST | 1u << SELECT;
	return supported.value;
}

static uint32_t attribute(VAConfigAttribType type)
{
	VAConfigAttribValEncAV1Ext1 filters = {.value = 0};
	filters.bits.interpolation_filter = setting_has("sharp") ? 4 : 1;
	if (setting_has("silent"))
		return VA_ATTRIB_NOT_SUPPORTED;
	return type == VAConfigAttribEncAV1	  ? tools()
	       : type == VAConfigAttribEncAV1Ext1 ? filters.value
	       : type == VAConfigAttribEncAV1Ext2 ? coding()
						  : VA_ATTRIB_NOT_SUPPORTED;
}

static bool take(struct driver *d, VABufferType type, const void *data)
{
	if (type == VAEncSequenceParameterBufferType) {
		d->sequence = true;
		memcpy(&d->av1_sequence, data, sizeof(d->av1_sequence));
	} else if (type == VAEncPictureParameterBufferType) {
		d->picture = true;
		memcpy(&d->av1_picture, data, sizeof(d->av1_picture));
		d->coded = d->av1_picture.coded_buf;
	} else if (type == VAEncSliceParameterBufferType) {
		d->slice = true;
		memcpy(&d->av1_group, data, sizeof(d->av1_group));
	} else {
		return false;
	}
	return true;
}

static void spoil(struct driver *d)
{
	VAEncSequenceParameterBufferAV1 *sequence = &d->av1_sequence;
	VAEncPictureParameterBufferAV1 *picture = &d->av1_picture;
	char what[32] = "";
	(void)setting_text("spoil", what, sizeof(what));
#define SPOIL(name, statement)                                                                     \
	if (strcmp(what, name) == 0)                                                               \
	statement
	SPOIL("level", sequence->seq_level_idx = 24);
	SPOIL("hints", sequence->seq_fields.bits.enable_order_hint = 0);
	SPOIL("tools", sequence->seq_fields.bits.enable_intra_edge_filter ^= 1);
	SPOIL("width", picture->frame_width_minus_1 += 8);
	SPOIL("order", picture->order_hint++);
	SPOIL("key", picture->picture_flags.bits.frame_type ^= 1);
	SPOIL("slots", picture->refresh_frame_flags = 0);
	SPOIL("primary", picture->primary_ref_frame = 5);
	SPOIL("list", picture->ref_frame_idx[3] ^= 1);
	SPOIL("reference", memset(picture->reference_frames, 0xFF, sizeof(VASurfaceID[8])));
	SPOIL("surface", picture->reconstructed_frame = d->target);
	SPOIL("quality", picture->base_qindex ^= 8);
	SPOIL("transforms", picture->mode_control_flags.bits.tx_mode = 0);
	SPOIL("tiles", picture->tile_cols = 2);
	SPOIL("group", d->av1_group.tg_end = 1);
	SPOIL("headers", text_reset(&d->slice_header));
	SPOIL("place", picture->bit_offset_qindex++);
	SPOIL("unit", picture->byte_offset_frame_hdr_obu_size++);
	SPOIL("filters", picture->bit_offset_cdef_params--);
	if (strcmp(what, "other-header") == 0 && d->slice_header.size > 8)
		d->slice_header.data[8] = (char)(d->slice_header.data[8] ^ 4);
}

static struct av1_sequence sequence_of(const struct driver *d)
{
	const VAEncSequenceParameterBufferAV1 *given = &d->av1_sequence;
	return (struct av1_sequence){
		.width = d->av1_picture.frame_width_minus_1 + 1u,
		.height = d->av1_picture.frame_height_minus_1 + 1u,
		.seq_level_idx = given->seq_level_idx,
		.order_hint_bits = given->order_hint_bits_minus_1 + 1u,
		.use_128x128_superblock = given->seq_fields.bits.use_128x128_superblock,
		.enable_filter_intra = given->seq_fields.bits.enable_filter_intra,
		.enable_intra_edge_filter = given->seq_fields.bits.enable_intra_edge_filter,
		.enable_ref_frame_mvs = given->seq_fields.bits.enable_ref_frame_mvs,
		.enable_cdef = given->seq_fields.bits.enable_cdef,
	};
}

static struct av1_frame frame_of(const struct driver *d, unsigned quality)
{
	const VAEncPictureParameterBufferAV1 *given = &d->av1_picture;
	struct av1_frame frame = {
		.key = given->picture_flags.bits.frame_type == 0,
		.order_hint = given->order_hint,
		.primary_ref_frame = given->primary_ref_frame,
		.refresh_frame_flags = given->refresh_frame_flags,
		.interpolation_filter = given->interpolation_filter,
		.base_q_idx = quality,
		.tx_mode_select = given->mode_control_flags.bits.tx_mode == SELECT,
	};
	memcpy(frame.ref_frame_idx, given->ref_frame_idx, sizeof(frame.ref_frame_idx));
	return frame;
}

static bool is_sequence_right(const VAEncSequenceParameterBufferAV1 *given, bool kept)
{
	return given->seq_profile == 0 && given->seq_level_idx < 24 &&
	       given->order_hint_bits_minus_1 < 8 && given->seq_fields.bits.enable_order_hint &&
	       given->seq_fields.bits.subsampling_x && given->seq_fields.bits.subsampling_y &&
	       given->seq_fields.bits.bit_depth_minus8 == 0 &&
	       given->seq_fields.bits.use_128x128_superblock == setting_has("large-superblocks") &&
	       given->seq_fields.bits.enable_intra_edge_filter == !setting_has("silent") &&
	       given->seq_fields.bits.enable_ref_frame_mvs == !setting_has("silent") &&
	       !given->seq_fields.bits.enable_filter_intra && (given->bits_per_second > 0) == kept;
}

/* Are all references the frame before, in its slot and its surface? */
static bool are_references_right(const struct driver *d, bool first)
{
	const VAEncPictureParameterBufferAV1 *given = &d->av1_picture;
	const unsigned slot = given->ref_frame_idx[0];
	size_t i = 0;
	if (first)
		return given->refresh_frame_flags == AV1_ALL_SLOTS &&
		       given->primary_ref_frame == AV1_PRIMARY_REF_NONE;
	while (i < AV1_REFERENCES && given->ref_frame_idx[i] == slot)
		i++;
	return i == AV1_REFERENCES && slot < AV1_SLOTS &&
	       given->reference_frames[slot] == d->reference &&
	       given->reconstructed_frame != d->reference && given->primary_ref_frame == 0 &&
	       given->ref_frame_ctrl_l0.fields.search_idx0 == 1 &&
	       given->refresh_frame_flags != 0 &&
	       (given->refresh_frame_flags & (given->refresh_frame_flags - 1)) == 0 &&
	       given->refresh_frame_flags != 1u << slot;
}

static bool is_picture_right(const struct driver *d, bool first)
{
	const VAEncPictureParameterBufferAV1 *given = &d->av1_picture;
	const unsigned mode = given->mode_control_flags.bits.tx_mode;
	return given->frame_width_minus_1 == SIDE - 1 && given->frame_height_minus_1 == SIDE - 1 &&
	       given->reconstructed_frame < SURFACES && given->reconstructed_frame != d->target &&
	       given->order_hint == d->writer.count &&
	       given->picture_flags.bits.frame_type == !first &&
	       given->picture_flags.bits.error_resilient_mode == first &&
	       given->interpolation_filter == (setting_has("sharp") ? 2 : 0) &&
	       given->base_qindex > 0 && mode == (setting_has("largest") ? LARGEST : SELECT) &&
	       given->tile_cols == 1 && given->tile_rows == 1 &&
	       given->width_in_sbs_minus_1[0] == 0 && given->height_in_sbs_minus_1[0] == 0 &&
	       given->num_tile_groups_minus1 == 0 &&
	       given->tile_group_obu_hdr_info.bits.obu_has_size_field &&
	       d->av1_group.tg_start == 0 && d->av1_group.tg_end == 0 &&
	       are_references_right(d, first);
}

/* Writes headers from the buffers; places count from the first bit of the frame header. */
static void write_headers(const struct driver *d, bool first, unsigned quality,
			  struct av1_places *places, size_t *before, struct text *out)
{
	const unsigned bytes = setting_has("small-sizes") ? 2 : 4;
	const struct av1_frame frame = frame_of(d, quality);
	struct av1_sequence sequence = sequence_of(d);
	const bool own = va_packed() == VA_ATTRIB_NOT_SUPPORTED;
	sequence.width += own && setting_has("size") ? 16 : 0;
	if (first)
		av1_add_sequence_header(&sequence, bytes, out);
	*before = out->size;
	av1_add_frame_header(&sequence, &frame, bytes, places, out);
}

static bool are_places_right(const struct driver *d, const struct av1_places *places, size_t before)
{
	const VAEncPictureParameterBufferAV1 *given = &d->av1_picture;
	return given->min_base_qindex <= DRIVERS_QUALITY &&
	       given->max_base_qindex >= DRIVERS_QUALITY &&
	       given->bit_offset_loopfilter_params == places->loop_filter &&
	       given->bit_offset_cdef_params == places->cdef &&
	       given->size_in_bits_cdef_params == places->cdef_bits &&
	       given->size_in_bits_frame_hdr_obu == places->end &&
	       given->byte_offset_frame_hdr_obu_size == before + 1;
}

/* Writes the quantiser that keeps the rate at the place that the caller states. */
static void write_quality(struct driver *d, size_t before)
{
	for (unsigned i = 0; i < 8; i++) {
		const size_t at = 8 * before + d->av1_picture.bit_offset_qindex + i;
		const unsigned mask = 0x80u >> at % 8;
		const unsigned bit = DRIVERS_QUALITY >> (7 - i) & 1u ? mask : 0;
		if (at / 8 < d->slice_header.size)
			d->slice_header.data[at / 8] =
				(char)(((uint8_t)d->slice_header.data[at / 8] & ~mask) | bit);
	}
	d->av1_quality = DRIVERS_QUALITY;
}

/* Checks that the caller's headers match its buffers, and makes missing ones. */
static bool settle_headers(struct driver *d, bool first)
{
	const uint32_t both = VA_ENC_PACKED_HEADER_SEQUENCE | VA_ENC_PACKED_HEADER_PICTURE;
	const uint32_t packed = va_packed();
	const bool given = packed != VA_ATTRIB_NOT_SUPPORTED && (packed & both) == both;
	struct av1_places places = {0};
	struct text wanted = {0};
	size_t before = 0;
	d->av1_quality = d->av1_picture.base_qindex;
	write_headers(d, first, d->av1_quality, &places, &before, &wanted);
	const bool right = !given || (d->slice_header.size == wanted.size &&
				      memcmp(d->slice_header.data, wanted.data, wanted.size) == 0);
	const bool placed = !given || !d->keeps_rate || are_places_right(d, &places, before);
	if (!given)
		text_add_all(&d->slice_header, &wanted);
	else if (d->keeps_rate)
		write_quality(d, before);
	text_free(&wanted);
	return right && placed;
}

static bool end(struct driver *d)
{
	const bool first = d->writer.count == 0;
	spoil(d);
	if (!is_sequence_right(&d->av1_sequence, d->keeps_rate) || !is_picture_right(d, first) ||
	    !settle_headers(d, first))
		return false;
	d->reference = d->av1_picture.reconstructed_frame;
	return true;
}

static void put(const struct h264_pcm *writer, const struct video_planes *frame,
		struct text *stream)
{
	struct driver *d = writer->user;
	const struct av1_sequence sequence = sequence_of(d);
	const struct av1_frame coded = frame_of(d, d->av1_quality);
	struct text tile = {0};
	d->failed = !av1_aom_encode(&d->av1_coder, &sequence, &coded, frame, &tile);
	if (setting_has("delimits"))
		av1_add_obu(AV1_TEMPORAL_DELIMITER, NULL, 0, 0, stream);
	text_add_all(stream, &d->slice_header);
	av1_add_obu(AV1_TILE_GROUP, tile.data, tile.size, 4, stream);
	text_free(&tile);
}

const struct va_codec va_codec_av1 = {attribute, take, end, true, put};
