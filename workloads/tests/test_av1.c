/* SPDX-License-Identifier: MIT */
/* The headers of AV1, as dav1d reads them: alone, and in front of tiles that libaom coded. */
#include "base/tests/unit.h"

#include "base/cleanup.h"
#include "workloads/doubles/av1_aom.h"
#include "workloads/doubles/av1_lossless.h"
#include "workloads/video/av1.h"
#include "workloads/video/bits.h"
#include "workloads/video/walk.h"

#include <dav1d/dav1d.h>
#include <string.h>

enum { SIDE = 64, QUALITY = 128, SEED = 7 };

static const struct video_source source = {.seed = SEED, .width = SIDE, .height = SIDE};

static const struct av1_sequence plain = {
	.width = SIDE,
	.height = SIDE,
	.seq_level_idx = AV1_LEVEL,
	.order_hint_bits = AV1_ORDER_HINT_BITS,
};

/* A key frame, and then frames that refer to the one before, which lies in the other of two slots. */
static struct av1_frame frame_of(unsigned index)
{
	struct av1_frame frame = {
		.key = index == 0,
		.order_hint = index,
		.primary_ref_frame = index == 0 ? AV1_PRIMARY_REF_NONE : 0,
		.refresh_frame_flags = index == 0 ? AV1_ALL_SLOTS : 1u << index % 2,
		.base_q_idx = QUALITY,
		.tx_mode_select = true,
	};
	memset(frame.ref_frame_idx, (int)(index + 1) % 2, AV1_REFERENCES);
	return frame;
}

/* A decoder that is given a stream as a whole, and what it made of its frames. */
struct decoded {
	size_t count;
	Dav1dFrameHeader headers[VIDEO_FRAMES];
	double psnr[VIDEO_FRAMES];
};

static void take(Dav1dContext *decoder, struct decoded *out)
{
	Dav1dPicture picture = {0};
	while (out->count < VIDEO_FRAMES && dav1d_get_picture(decoder, &picture) == 0) {
		const size_t chroma = (size_t)picture.stride[1];
		const struct video_planes planes = {
			{picture.data[0], picture.data[1], picture.data[2]},
			{(size_t)picture.stride[0], chroma, chroma}};
		double psnr[VIDEO_PLANES] = {0};
		if (picture.p.w == SIDE && picture.p.h == SIDE)
			video_psnr(&source, (unsigned)out->count, &planes, psnr);
		out->psnr[out->count] = psnr[0];
		out->headers[out->count++] = *picture.frame_hdr;
		dav1d_picture_unref(&picture);
	}
}

static void decode(const struct text *stream, struct decoded *out)
{
	Dav1dContext *decoder = NULL;
	Dav1dSettings settings = {0};
	Dav1dData data = {0};
	dav1d_default_settings(&settings);
	settings.n_threads = 1;
	settings.max_frame_delay = 1;
	settings.logger = (Dav1dLogger){NULL, NULL};
	*out = (struct decoded){0};
	CU_ASSERT_EQUAL_FATAL(dav1d_open(&decoder, &settings), 0);
	uint8_t *copy = dav1d_data_create(&data, stream->size);
	CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
	memcpy(copy, stream->data, stream->size);
	int rc = 0;
	while (data.sz > 0 && (rc == 0 || rc == DAV1D_ERR(EAGAIN))) {
		rc = dav1d_send_data(decoder, &data);
		take(decoder, out);
	}
	CU_ASSERT_EQUAL(rc, 0);
	dav1d_data_unref(&data);
	dav1d_close(&decoder);
}

/* A frame of a stream; without a coder its tile says nothing. */
static void add_frame(struct av1_aom *coder, const struct av1_sequence *sequence,
		      const struct av1_frame *frame, unsigned index, struct text *stream)
{
	uint8_t memory[SIDE * SIDE * 3 / 2] = {0};
	struct text tile CLEANUP_TEXT = {0};
	const struct video_planes planes = video_planes_of(&source, VIDEO_I420, memory);
	av1_add_obu(AV1_TEMPORAL_DELIMITER, NULL, 0, 0, stream);
	if (frame->key)
		av1_add_sequence_header(sequence, 0, stream);
	av1_add_frame_header(sequence, frame, 0, NULL, stream);
	video_fill(&source, index, VIDEO_I420, &planes);
	if (coder == NULL)
		text_append(&tile, (const char *)memory, SIDE);
	else
		CU_ASSERT_TRUE(av1_aom_encode(coder, sequence, frame, &planes, &tile));
	av1_add_obu(AV1_TILE_GROUP, tile.data, tile.size, 0, stream);
}

static void expect_decoded(const struct av1_sequence *sequence, bool keys)
{
	struct av1_aom coder = {0};
	struct text stream CLEANUP_TEXT = {0};
	struct decoded decoded = {0};
	struct video_walk walk = {0};
	for (unsigned i = 0; i < VIDEO_FRAMES; i++) {
		const struct av1_frame frame = frame_of(keys ? 0 : i);
		add_frame(&coder, sequence, &frame, i, &stream);
	}
	av1_aom_close(&coder);
	decode(&stream, &decoded);
	UNIT_INT(decoded.count, VIDEO_FRAMES);
	for (size_t i = 0; i < decoded.count; i++)
		CU_ASSERT_TRUE(decoded.psnr[i] >= VIDEO_LIKE_DB);
	UNIT_INT(video_walk_frames(VIDEO_AV1, (const uint8_t *)stream.data, stream.size, &source,
				   &walk, NULL),
		 0);
	UNIT_INT(walk.keys, keys ? VIDEO_FRAMES : 1);
	UNIT_INT(walk.headers, keys ? VIDEO_FRAMES : 1);
	UNIT_INT(walk.units, walk.headers + 3 * walk.pictures);
}

/* libaom's tiles under these headers: were one bit of them another, the frames would be others, too. */
static void test_streams_decode(void)
{
	struct av1_sequence sequence = plain;
	expect_decoded(&sequence, false);
	expect_decoded(&sequence, true);
	sequence.enable_filter_intra = sequence.enable_intra_edge_filter = true;
	sequence.enable_jnt_comp = sequence.enable_ref_frame_mvs = true;
	sequence.enable_superres = sequence.enable_cdef = sequence.enable_restoration = true;
	expect_decoded(&sequence, false);
	sequence.order_hint_bits = 0;
	sequence.use_128x128_superblock = true;
	expect_decoded(&sequence, false);
}

/* The coder of doubles where there is no libaom: nothing is lost, with tables that begin anew and with those of
 * the frame before. */
static void test_own_tiles_decode(void)
{
	for (int fresh = 0; fresh < 2; fresh++) {
		uint8_t memory[SIDE * SIDE * 3 / 2] = {0};
		const struct video_planes planes = video_planes_of(&source, VIDEO_I420, memory);
		struct text stream CLEANUP_TEXT = {0};
		struct decoded decoded = {0};
		struct av1_tables tables = {.skip = {0}};
		for (unsigned i = 0; i < VIDEO_FRAMES; i++) {
			struct av1_frame frame = frame_of(i);
			struct text tile CLEANUP_TEXT = {0};
			frame.base_q_idx = 0;
			if (fresh != 0)
				frame.primary_ref_frame = AV1_PRIMARY_REF_NONE;
			video_fill(&source, i, VIDEO_I420, &planes);
			av1_lossless_add(&tables, frame.key, frame.key || fresh != 0, &planes,
					 &tile);
			av1_add_obu(AV1_TEMPORAL_DELIMITER, NULL, 0, 0, &stream);
			if (frame.key)
				av1_add_sequence_header(&plain, 0, &stream);
			av1_add_frame_header(&plain, &frame, 0, NULL, &stream);
			av1_add_obu(AV1_TILE_GROUP, tile.data, tile.size, 0, &stream);
		}
		decode(&stream, &decoded);
		UNIT_INT(decoded.count, VIDEO_FRAMES);
		for (size_t i = 0; i < decoded.count; i++)
			CU_ASSERT_DOUBLE_EQUAL(decoded.psnr[i], 99, 0);
	}
}

/* Of more than one superblock, where headers could tell of more than one tile. */
static void test_larger_frames_have_one_tile(void)
{
	static const struct video_source large = {.seed = SEED, .width = 320, .height = 240};
	static uint8_t memory[320 * 240 * 3 / 2];
	const struct video_planes planes = video_planes_of(&large, VIDEO_I420, memory);
	const struct av1_frame frame = frame_of(0);
	struct av1_sequence sequence = plain;
	struct av1_aom coder = {0};
	struct text stream CLEANUP_TEXT = {0}, tile CLEANUP_TEXT = {0};
	struct decoded decoded = {0};
	sequence.width = large.width;
	sequence.height = large.height;
	video_fill(&large, 0, VIDEO_I420, &planes);
	CU_ASSERT_TRUE(av1_aom_encode(&coder, &sequence, &frame, &planes, &tile));
	av1_aom_close(&coder);
	av1_add_sequence_header(&sequence, 0, &stream);
	av1_add_frame_header(&sequence, &frame, 0, NULL, &stream);
	av1_add_obu(AV1_TILE_GROUP, tile.data, tile.size, 4, &stream);
	decode(&stream, &decoded);
	UNIT_INT(decoded.count, 1);
	UNIT_INT(decoded.headers[0].width[0], 320);
	UNIT_INT(decoded.headers[0].height, 240);
	UNIT_INT(decoded.headers[0].tiling.max_log2_cols, 3);
	UNIT_INT(decoded.headers[0].tiling.cols * decoded.headers[0].tiling.rows, 1);
}

/* The coder has no tile for a header that says what libaom does not do. */
static void test_tiles_fit_their_headers(void)
{
	uint8_t memory[SIDE * SIDE * 3 / 2] = {0};
	const struct video_planes planes = video_planes_of(&source, VIDEO_I420, memory);
	for (int i = 0; i < 5; i++) {
		struct av1_aom coder = {0};
		struct text tile CLEANUP_TEXT = {0};
		struct av1_frame frame = frame_of(0);
		struct av1_sequence sequence = plain;
		sequence.enable_warped_motion = i == 4;
		frame.tx_mode_select = i != 1;
		frame.loop_filter_level[0] = i == 2;
		frame.base_q_idx += i == 3;
		CU_ASSERT_EQUAL(av1_aom_encode(&coder, &sequence, &frame, &planes, &tile), i == 0);
		av1_aom_close(&coder);
	}
}

static void parse(const struct av1_sequence *sequence, unsigned size_bytes,
		  Dav1dSequenceHeader *out)
{
	struct text stream CLEANUP_TEXT = {0};
	av1_add_sequence_header(sequence, size_bytes, &stream);
	UNIT_INT(stream.data[1] & 0x80, size_bytes > 1 ? 0x80 : 0);
	CU_ASSERT_EQUAL_FATAL(
		dav1d_parse_sequence_header(out, (const uint8_t *)stream.data, stream.size), 0);
}

static void test_sequences_are_read_back(void)
{
	static const struct av1_sequence wide = {
		.width = 4096,
		.height = 2160,
		.seq_level_idx = 13,
		.seq_tier = true,
	};
	static const size_t flags[][2] = {
#define FLAG(ours, theirs)                                                                         \
	{offsetof(struct av1_sequence, ours), offsetof(Dav1dSequenceHeader, theirs)}
		FLAG(use_128x128_superblock, sb128),
		FLAG(enable_filter_intra, filter_intra),
		FLAG(enable_intra_edge_filter, intra_edge_filter),
		FLAG(enable_interintra_compound, inter_intra),
		FLAG(enable_masked_compound, masked_compound),
		FLAG(enable_warped_motion, warped_motion),
		FLAG(enable_dual_filter, dual_filter),
		FLAG(enable_jnt_comp, jnt_comp),
		FLAG(enable_ref_frame_mvs, ref_frame_mvs),
		FLAG(enable_superres, super_res),
		FLAG(enable_cdef, cdef),
		FLAG(enable_restoration, restoration),
		FLAG(separate_uv_delta_q, separate_uv_delta_q),
	};
	Dav1dSequenceHeader read = {0};
	for (size_t i = 0; i <= ARRAY_SIZE(flags); i++) {
		struct av1_sequence sequence = plain;
		if (i < ARRAY_SIZE(flags))
			*(bool *)((char *)&sequence + flags[i][0]) = true;
		parse(&sequence, 1, &read);
		for (size_t j = 0; j < ARRAY_SIZE(flags); j++)
			UNIT_INT(*(const int *)((const char *)&read + flags[j][1]), i == j);
		UNIT_INT(read.order_hint_n_bits, AV1_ORDER_HINT_BITS);
		UNIT_INT(read.screen_content_tools, DAV1D_ADAPTIVE);
	}
	UNIT_INT(read.max_width, SIDE);
	UNIT_INT(read.layout, DAV1D_PIXEL_LAYOUT_I420);
	UNIT_INT(read.operating_points[0].major_level, 3);
	parse(&wide, 4, &read);
	UNIT_INT(read.max_width, 4096);
	UNIT_INT(read.max_height, 2160);
	UNIT_INT(read.hbd, 0);
	UNIT_INT(read.operating_points[0].major_level, 5);
	UNIT_INT(read.operating_points[0].minor_level, 1);
	UNIT_INT(read.operating_points[0].tier, 1);
	UNIT_INT(read.order_hint, 0);
	UNIT_INT(read.film_grain_present, 0);
}

/* The header of the second frame as dav1d has it, whose tile is any. */
static Dav1dFrameHeader read_back(const struct av1_sequence *sequence,
				  const struct av1_frame *frame)
{
	struct text stream CLEANUP_TEXT = {0};
	struct decoded decoded = {0};
	const struct av1_frame first = frame_of(0);
	add_frame(NULL, sequence, &first, 0, &stream);
	add_frame(NULL, sequence, frame, 1, &stream);
	decode(&stream, &decoded);
	UNIT_INT(decoded.count, 2);
	return decoded.headers[1];
}

static void test_references_are_read_back(void)
{
	struct av1_sequence sequence = plain;
	struct av1_frame frame = frame_of(1);
	sequence.enable_warped_motion = sequence.enable_ref_frame_mvs = true;
	frame.primary_ref_frame = 3;
	frame.refresh_frame_flags = 0x81;
	frame.interpolation_filter = 2;
	for (int i = 0; i < AV1_REFERENCES; i++)
		frame.ref_frame_idx[i] = (uint8_t)(AV1_REFERENCES - i);
	Dav1dFrameHeader read = read_back(&sequence, &frame);
	UNIT_INT(read.frame_type, DAV1D_FRAME_TYPE_INTER);
	UNIT_INT(read.frame_offset, 1);
	UNIT_INT(read.primary_ref_frame, 3);
	UNIT_INT(read.refresh_frame_flags, 0x81);
	UNIT_INT(read.subpel_filter_mode, DAV1D_FILTER_8TAP_SHARP);
	CU_ASSERT_FALSE(read.hp || read.switchable_motion_mode || read.reduced_txtp_set ||
			read.disable_cdf_update);
	CU_ASSERT_FALSE(read.use_ref_frame_mvs || read.warp_motion || read.error_resilient_mode ||
			read.allow_screen_content_tools);
	UNIT_INT(read.refresh_context, 1);
	for (int i = 0; i < AV1_REFERENCES; i++)
		UNIT_INT(read.refidx[i], AV1_REFERENCES - i);
	frame = frame_of(1);
	frame.interpolation_filter = AV1_FILTER_SWITCHABLE;
	frame.tx_mode_select = false;
	read = read_back(&sequence, &frame);
	UNIT_INT(read.subpel_filter_mode, DAV1D_FILTER_SWITCHABLE);
	UNIT_INT(read.txfm_mode, DAV1D_TX_LARGEST);
	UNIT_INT(read.quant.yac, QUALITY);
}

static void test_filters_are_read_back(void)
{
	struct av1_sequence sequence = plain;
	struct av1_frame frame = frame_of(1);
	sequence.enable_cdef = sequence.enable_restoration = true;
	frame.y_dc_delta_q = -64;
	frame.uv_dc_delta_q = 63;
	frame.uv_ac_delta_q = -1;
	frame.using_qmatrix = true;
	frame.qm_y = 9;
	frame.qm_uv = 10;
	frame.delta_q_present = frame.delta_lf_present = frame.delta_lf_multi = true;
	frame.delta_q_res = 2;
	frame.delta_lf_res = 3;
	for (unsigned i = 0; i < 4; i++)
		frame.loop_filter_level[i] = 60 + i;
	frame.loop_filter_sharpness = 5;
	frame.loop_filter_delta_enabled = frame.loop_filter_delta_update = true;
	for (int i = 0; i < AV1_SLOTS; i++)
		frame.loop_filter_ref_deltas[i] = i - 63;
	frame.loop_filter_mode_deltas[1] = 7;
	frame.cdef_damping_minus_3 = 2;
	frame.cdef_bits = 1;
	frame.cdef_y_pri_strength[1] = 15;
	frame.cdef_y_sec_strength[1] = 2;
	frame.cdef_uv_pri_strength[0] = 3;
	const Dav1dFrameHeader read = read_back(&sequence, &frame);
	UNIT_INT(read.quant.ydc_delta, -64);
	UNIT_INT(read.quant.udc_delta, 63);
	UNIT_INT(read.quant.vac_delta, -1);
	CU_ASSERT_TRUE(read.quant.qm && read.quant.qm_y == 9 && read.quant.qm_v == 10);
	CU_ASSERT_TRUE(read.delta.q.present && read.delta.q.res_log2 == 2);
	CU_ASSERT_TRUE(read.delta.lf.present && read.delta.lf.multi && read.delta.lf.res_log2 == 3);
	CU_ASSERT_TRUE(read.loopfilter.level_y[0] == 60 && read.loopfilter.level_y[1] == 61);
	CU_ASSERT_TRUE(read.loopfilter.level_u == 62 && read.loopfilter.level_v == 63);
	UNIT_INT(read.loopfilter.sharpness, 5);
	UNIT_INT(read.loopfilter.mode_ref_deltas.ref_delta[7], -56);
	UNIT_INT(read.loopfilter.mode_ref_deltas.mode_delta[1], 7);
	CU_ASSERT_TRUE(read.cdef.damping == 5 && read.cdef.n_bits == 1);
	CU_ASSERT_TRUE(read.cdef.y_strength[1] == (15 << 2 | 2) &&
		       read.cdef.uv_strength[0] == 3 << 2);
	UNIT_INT(read.restoration.type[0], DAV1D_RESTORATION_NONE);
	UNIT_INT(read.txfm_mode, DAV1D_TX_SWITCHABLE);
}

/* V apart from U, and changes of one kind alone. */
static void test_what_is_kept_is_read_back(void)
{
	struct av1_sequence sequence = plain;
	struct av1_frame frame = frame_of(1);
	sequence.separate_uv_delta_q = true;
	frame.uv_dc_delta_q = 1;
	frame.v_dc_delta_q = 5;
	frame.v_ac_delta_q = -6;
	frame.using_qmatrix = true;
	frame.qm_uv = 10;
	frame.qm_v = 11;
	frame.loop_filter_level[0] = 1;
	frame.loop_filter_delta_enabled = frame.loop_filter_delta_update = true;
	frame.loop_filter_ref_deltas_kept = true;
	frame.loop_filter_mode_deltas[1] = 7;
	Dav1dFrameHeader read = read_back(&sequence, &frame);
	CU_ASSERT_TRUE(read.quant.udc_delta == 1 && read.quant.uac_delta == 0);
	CU_ASSERT_TRUE(read.quant.vdc_delta == 5 && read.quant.vac_delta == -6);
	CU_ASSERT_TRUE(read.quant.qm_u == 10 && read.quant.qm_v == 11);
	UNIT_INT(read.loopfilter.mode_ref_deltas.ref_delta[7], -1);
	UNIT_INT(read.loopfilter.mode_ref_deltas.mode_delta[1], 7);
	frame.loop_filter_ref_deltas_kept = false;
	frame.loop_filter_mode_deltas_kept = true;
	frame.loop_filter_ref_deltas[7] = 9;
	read = read_back(&sequence, &frame);
	UNIT_INT(read.loopfilter.mode_ref_deltas.ref_delta[7], 9);
	UNIT_INT(read.loopfilter.mode_ref_deltas.mode_delta[1], 0);
}

static uint32_t bits_at(const struct text *header, unsigned at, unsigned count)
{
	struct bits bits = {.data = (const uint8_t *)header->data, .size = header->size, .at = at};
	return bits_read(&bits, count);
}

/* What an encoder is to change is where the header says. */
static void test_places(void)
{
	static const unsigned sizes[] = {0, 4};
	struct av1_sequence sequence = plain;
	struct av1_frame frame = frame_of(1);
	sequence.enable_cdef = true;
	frame.base_q_idx = 0xA5;
	frame.loop_filter_level[0] = 0x2A;
	frame.cdef_damping_minus_3 = 3;
	frame.cdef_uv_sec_strength[0] = 3;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct av1_places places = {0};
		struct text header CLEANUP_TEXT = {0};
		av1_add_frame_header(&sequence, &frame, sizes[i], &places, &header);
		UNIT_INT(places.end, 8 * header.size);
		UNIT_INT(header.size, (sizes[i] > 0 ? 5 : 2) + (header.data[1] & 0x7F));
		UNIT_INT(bits_at(&header, places.base_q_idx, 8), 0xA5);
		UNIT_INT(bits_at(&header, places.loop_filter, 6), 0x2A);
		UNIT_INT(places.cdef_bits, 2 + 2 + 4 + 2 + 4 + 2);
		UNIT_INT(bits_at(&header, places.cdef, 16), 3 << 14 | 3);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"streams decode", test_streams_decode},
		{"own tiles decode", test_own_tiles_decode},
		{"larger frames have one tile", test_larger_frames_have_one_tile},
		{"tiles fit their headers", test_tiles_fit_their_headers},
		{"sequences are read back", test_sequences_are_read_back},
		{"references are read back", test_references_are_read_back},
		{"filters are read back", test_filters_are_read_back},
		{"what is kept is read back", test_what_is_kept_is_read_back},
		{"places", test_places},
		CU_TEST_INFO_NULL,
	};
	return unit_run("av1", tests);
}
