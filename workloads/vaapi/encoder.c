/* SPDX-License-Identifier: MIT */
/* One stream of one device: of H.264, as VA-API wants it described. */
#include "workloads/vaapi/vaapi.h"

#include "base/cleanup.h"

enum {
	WAIT_NS = 10 * 1000 * 1000, /* for a picture, before the loop looks at its time limit */
	SEGMENTS_MAX = 4096,	    /* of a coded picture; a longer list has no end */
	QUALITY = 24,		    /* the quantiser, where no rate is kept */
	INITIAL_QUALITY = 26,
	SLICE_P = 0,
	SLICE_I = 2,
};

enum { INPUT, RECONSTRUCTED, SURFACES = RECONSTRUCTED + 2 };
enum { BUFFERS_MAX = 16 }; /* of one picture, which has at most 9 */

/* One stream. */
struct encoder {
	struct vaapi *va;
	const struct video_job *job;
	VADisplay display;
	struct vaapi_way way;
	unsigned rate_control; /* VA_RC_... */
	unsigned packed;       /* VA_ENC_PACKED_HEADER_...: what the driver wants to be given */
	size_t made;	       /* of what follows, in this order */
	VAConfigID config;
	VASurfaceID surfaces[SURFACES];
	VAContextID context;
	VAImage image;
	VABufferID coded;
	unsigned coded_size;
	VABufferID buffers[BUFFERS_MAX];
	int buffer_count;
};

/* vaapi_check() of a function. */
#define CALL(e, err, function, ...)                                                                \
	vaapi_check((e)->job->failure, (e)->va->function((e)->display, __VA_ARGS__), #function, err)

/* The better one of what the driver has: a rate that it keeps, or a fixed quality. */
static unsigned choose_rate_control(uint32_t told)
{
	if (told == VA_ATTRIB_NOT_SUPPORTED)
		return VA_RC_NONE;
	return told & VA_RC_CBR ? VA_RC_CBR : told & VA_RC_VBR ? VA_RC_VBR : VA_RC_CQP;
}

static int create_config(struct encoder *e, struct error *err)
{
	const VAProfile profile = e->way.profile->profile;
	int count = 1;
	VAConfigAttrib told[] = {
		{VAConfigAttribRTFormat, VA_ATTRIB_NOT_SUPPORTED},
		{VAConfigAttribRateControl, VA_ATTRIB_NOT_SUPPORTED},
		{VAConfigAttribEncPackedHeaders, VA_ATTRIB_NOT_SUPPORTED},
	};
	VAConfigAttrib wanted[ARRAY_SIZE(told)] = {{VAConfigAttribRTFormat, VA_RT_FORMAT_YUV420}};
	int rc = CALL(e, err, vaGetConfigAttributes, profile, e->way.entrypoint, told,
		      ARRAY_SIZE(told));
	if (rc != 0)
		return rc;
	if (told[0].value == VA_ATTRIB_NOT_SUPPORTED || !(told[0].value & VA_RT_FORMAT_YUV420))
		return error_set(err, ERROR_UNSUPPORTED,
				 "the encoder takes no frames of 8 bits 4:2:0");
	e->rate_control = choose_rate_control(told[1].value);
	if (told[2].value != VA_ATTRIB_NOT_SUPPORTED)
		e->packed = told[2].value &
			    (VA_ENC_PACKED_HEADER_SEQUENCE | VA_ENC_PACKED_HEADER_PICTURE);
	if (e->rate_control != VA_RC_NONE)
		wanted[count++] = (VAConfigAttrib){VAConfigAttribRateControl, e->rate_control};
	if (e->packed != 0)
		wanted[count++] = (VAConfigAttrib){VAConfigAttribEncPackedHeaders, e->packed};
	return CALL(e, err, vaCreateConfig, profile, e->way.entrypoint, wanted, count, &e->config);
}

static int create_surfaces(struct encoder *e, struct error *err)
{
	VASurfaceAttrib format = {
		.type = VASurfaceAttribPixelFormat,
		.flags = VA_SURFACE_ATTRIB_SETTABLE,
		.value = {.type = VAGenericValueTypeInteger, .value = {.i = VA_FOURCC_NV12}},
	};
	return CALL(e, err, vaCreateSurfaces, VA_RT_FORMAT_YUV420, e->job->source.width,
		    e->job->source.height, e->surfaces, SURFACES, &format, 1);
}

static int create_context(struct encoder *e, struct error *err)
{
	return CALL(e, err, vaCreateContext, e->config, (int)e->job->source.width,
		    (int)e->job->source.height, VA_PROGRESSIVE, e->surfaces, SURFACES, &e->context);
}

/* Frames are written to it, and go from it to the surface. */
static int create_image(struct encoder *e, struct error *err)
{
	VAImageFormat format = {
		.fourcc = VA_FOURCC_NV12,
		.byte_order = VA_LSB_FIRST,
		.bits_per_pixel = 12,
	};
	return CALL(e, err, vaCreateImage, &format, (int)e->job->source.width,
		    (int)e->job->source.height, &e->image);
}

static int create_coded(struct encoder *e, struct error *err)
{
	const struct video_source *source = &e->job->source;
	bool fits = e->image.format.fourcc == VA_FOURCC_NV12 && e->image.num_planes == 2;
	for (size_t i = 0; fits && i < 2; i++) {
		const uint64_t rows = i == 0 ? source->height : source->height / 2;
		fits = e->image.pitches[i] >= source->width &&
		       e->image.offsets[i] + rows * e->image.pitches[i] <= e->image.data_size;
	}
	if (!fits)
		return error_set(err, ERROR_FORMAT,
				 "vaCreateImage: the image has no room for a frame of NV12");
	e->coded_size = source->width * source->height * 3 + 65536;
	return CALL(e, err, vaCreateBuffer, e->context, VAEncCodedBufferType, e->coded_size, 1,
		    NULL, &e->coded);
}

static int open_encoder(void *session, const struct video_job *job, void *encoder,
			struct error *err)
{
	static int (*const steps[])(struct encoder *, struct error *) = {
		create_config, create_surfaces, create_context, create_image, create_coded,
	};
	struct encoder *e = encoder;
	int rc = 0;
	e->va = session;
	e->job = job;
	e->display = e->va->nodes[job->request->device].display;
	e->way = e->va->ways[job->offer->id];
	for (; rc == 0 && e->made < ARRAY_SIZE(steps); e->made += rc == 0)
		rc = steps[e->made](e, err);
	return rc;
}

static void close_encoder(void *encoder)
{
	struct encoder *e = encoder;
	if (e->made > 4)
		(void)e->va->vaDestroyBuffer(e->display, e->coded);
	if (e->made > 3)
		(void)e->va->vaDestroyImage(e->display, e->image.image_id);
	if (e->made > 2)
		(void)e->va->vaDestroyContext(e->display, e->context);
	if (e->made > 1)
		(void)e->va->vaDestroySurfaces(e->display, e->surfaces, SURFACES);
	if (e->made > 0)
		(void)e->va->vaDestroyConfig(e->display, e->config);
}

static int upload(struct encoder *e, const struct video_planes *frame, struct error *err)
{
	const struct video_source *source = &e->job->source;
	void *memory = NULL;
	int rc = CALL(e, err, vaMapBuffer, e->image.buf, &memory);
	if (rc != 0)
		return rc;
	const struct video_planes planes = {
		{(uint8_t *)memory + e->image.offsets[0], (uint8_t *)memory + e->image.offsets[1]},
		{e->image.pitches[0], e->image.pitches[1]},
	};
	video_copy(source, frame, &planes);
	rc = CALL(e, err, vaUnmapBuffer, e->image.buf);
	if (rc == 0)
		rc = CALL(e, err, vaPutImage, e->surfaces[INPUT], e->image.image_id, 0, 0,
			  source->width, source->height, 0, 0, source->width, source->height);
	return rc;
}

static VAEncSequenceParameterBufferH264 describe_sequence(const struct encoder *e)
{
	VAEncSequenceParameterBufferH264 sequence = {
		.level_idc = (uint8_t)e->way.profile->sequence.level,
		.intra_period = VIDEO_FRAMES,
		.intra_idr_period = VIDEO_FRAMES,
		.ip_period = 1,
		.bits_per_second = e->rate_control == VA_RC_CQP ? 0 : VIDEO_BIT_RATE,
		.max_num_ref_frames = 1,
		.picture_width_in_mbs = (uint16_t)h264_blocks(e->job->source.width),
		.picture_height_in_mbs = (uint16_t)h264_blocks(e->job->source.height),
		.num_units_in_tick = 1,
		.time_scale = 2 * VIDEO_RATE,
	};
	sequence.seq_fields.bits.chroma_format_idc = 1;
	sequence.seq_fields.bits.frame_mbs_only_flag = 1;
	sequence.seq_fields.bits.direct_8x8_inference_flag = 1;
	sequence.seq_fields.bits.log2_max_frame_num_minus4 = H264_FRAME_NUMBER_BITS - 4;
	sequence.seq_fields.bits.log2_max_pic_order_cnt_lsb_minus4 = H264_ORDER_BITS - 4;
	return sequence;
}

/* What a coded picture looks like when it is decoded: the two surfaces take turns. */
static VAPictureH264 reconstructed(const struct encoder *e, unsigned index)
{
	return (VAPictureH264){
		.picture_id = e->surfaces[RECONSTRUCTED + index % 2],
		.frame_idx = index,
		.flags = VA_PICTURE_H264_SHORT_TERM_REFERENCE,
		.TopFieldOrderCnt = h264_order(index),
		.BottomFieldOrderCnt = h264_order(index),
	};
}

/* The pictures that one refers to: the one before, or none of an earlier one. */
static void fill_references(const struct encoder *e, unsigned index, VAPictureH264 *out,
			    size_t count)
{
	for (size_t i = 0; i < count; i++)
		out[i] = (VAPictureH264){.picture_id = VA_INVALID_SURFACE,
					 .flags = VA_PICTURE_H264_INVALID};
	if (index > 0)
		out[0] = reconstructed(e, index - 1);
}

static VAEncPictureParameterBufferH264 describe_picture(const struct encoder *e, unsigned index)
{
	VAEncPictureParameterBufferH264 picture = {
		.CurrPic = reconstructed(e, index),
		.coded_buf = e->coded,
		.frame_num = (uint16_t)index,
		.pic_init_qp = INITIAL_QUALITY,
		.last_picture = index + 1 == VIDEO_FRAMES ? H264_LAST_PICTURE_EOSTREAM : 0,
	};
	fill_references(e, index, picture.ReferenceFrames, ARRAY_SIZE(picture.ReferenceFrames));
	picture.CurrPic.flags = 0;
	picture.pic_fields.bits.idr_pic_flag = index == 0;
	picture.pic_fields.bits.reference_pic_flag = 1;
	picture.pic_fields.bits.deblocking_filter_control_present_flag = 1;
	return picture;
}

static VAEncSliceParameterBufferH264 describe_slice(const struct encoder *e, unsigned index)
{
	VAEncSliceParameterBufferH264 slice = {
		.num_macroblocks =
			h264_blocks(e->job->source.width) * h264_blocks(e->job->source.height),
		.macroblock_info = VA_INVALID_ID,
		.slice_type = index == 0 ? SLICE_I : SLICE_P,
		.pic_order_cnt_lsb = (uint16_t)h264_order(index),
		.slice_qp_delta = QUALITY - INITIAL_QUALITY,
	};
	fill_references(e, index, slice.RefPicList0, ARRAY_SIZE(slice.RefPicList0));
	fill_references(e, 0, slice.RefPicList1, ARRAY_SIZE(slice.RefPicList1));
	return slice;
}

/* A buffer that a picture is described by. */
struct part {
	bool wanted;
	VABufferType type;
	const void *data;
	size_t size;
};

static int make_parts(struct encoder *e, const struct part *parts, size_t count, struct error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < count; i++) {
		if (!parts[i].wanted)
			continue;
		rc = CALL(e, err, vaCreateBuffer, e->context, parts[i].type,
			  (unsigned)parts[i].size, 1, (void *)(uintptr_t)parts[i].data,
			  &e->buffers[e->buffer_count]);
		e->buffer_count += rc == 0;
	}
	return rc;
}

/* The first picture describes the stream, too: its rate where one is kept, and its parameter sets where
 * the driver wants to be given them, both in one where it takes none of its own for pictures. */
static int describe(struct encoder *e, unsigned index, struct error *err)
{
	const bool first = index == 0;
	const bool kept = first && (e->rate_control & (VA_RC_CBR | VA_RC_VBR)) != 0;
	const bool packed = first && (e->packed & VA_ENC_PACKED_HEADER_SEQUENCE) != 0;
	const bool apart = packed && (e->packed & VA_ENC_PACKED_HEADER_PICTURE) != 0;
	const struct {
		VAEncMiscParameterType type; /* as VAEncMiscParameterBuffer has it */
		VAEncMiscParameterRateControl data;
	} rate = {VAEncMiscParameterTypeRateControl,
		  {.bits_per_second = VIDEO_BIT_RATE,
		   .target_percentage = 100,
		   .window_size = 1000,
		   .initial_qp = QUALITY}};
	const struct {
		VAEncMiscParameterType type;
		VAEncMiscParameterFrameRate data;
	} frames = {VAEncMiscParameterTypeFrameRate, {.framerate = VIDEO_RATE}};
	struct text sps CLEANUP_TEXT = {0}, pps CLEANUP_TEXT = {0};
	h264_add_sequence(&e->way.profile->sequence, &e->job->source, &sps);
	h264_add_picture(apart ? &pps : &sps);
	if (sps.failed || pps.failed)
		return error_memory(err);
	const VAEncPackedHeaderParameterBuffer sps_head = {
		VAEncPackedHeaderSequence, 8 * (uint32_t)sps.size, 0, {0}};
	const VAEncPackedHeaderParameterBuffer pps_head = {
		VAEncPackedHeaderPicture, 8 * (uint32_t)pps.size, 0, {0}};
	const VAEncSequenceParameterBufferH264 sequence = describe_sequence(e);
	const VAEncPictureParameterBufferH264 picture = describe_picture(e, index);
	const VAEncSliceParameterBufferH264 slice = describe_slice(e, index);
	const struct part parts[] = {
		{first, VAEncSequenceParameterBufferType, &sequence, sizeof(sequence)},
		{kept, VAEncMiscParameterBufferType, &rate, sizeof(rate)},
		{kept, VAEncMiscParameterBufferType, &frames, sizeof(frames)},
		{true, VAEncPictureParameterBufferType, &picture, sizeof(picture)},
		{packed, VAEncPackedHeaderParameterBufferType, &sps_head, sizeof(sps_head)},
		{packed, VAEncPackedHeaderDataBufferType, sps.data, sps.size},
		{apart, VAEncPackedHeaderParameterBufferType, &pps_head, sizeof(pps_head)},
		{apart, VAEncPackedHeaderDataBufferType, pps.data, pps.size},
		{true, VAEncSliceParameterBufferType, &slice, sizeof(slice)},
	};
	return make_parts(e, parts, ARRAY_SIZE(parts), err);
}

static int put(void *encoder, unsigned index, const struct video_planes *frame, struct error *err)
{
	struct encoder *e = encoder;
	int rc = upload(e, frame, err);
	if (rc == 0)
		rc = describe(e, index, err);
	if (rc == 0)
		rc = CALL(e, err, vaBeginPicture, e->context, e->surfaces[INPUT]);
	if (rc == 0)
		rc = CALL(e, err, vaRenderPicture, e->context, e->buffers, e->buffer_count);
	if (rc == 0)
		rc = CALL(e, err, vaEndPicture, e->context);
	while (e->buffer_count > 0)
		(void)e->va->vaDestroyBuffer(e->display, e->buffers[--e->buffer_count]);
	return rc;
}

/* Drivers of before VA-API 1.9 have no wait that ends. */
static int wait(struct encoder *e, struct error *err)
{
	VASurfaceID surface = e->surfaces[INPUT];
	const VAStatus status = e->va->vaSyncSurface2(e->display, surface, WAIT_NS);
	if (status == VA_STATUS_ERROR_TIMEDOUT)
		return error_set(err, ERROR_BUSY, "the picture is not coded yet");
	if (status == VA_STATUS_ERROR_UNIMPLEMENTED)
		return CALL(e, err, vaSyncSurface, surface);
	return vaapi_check(e->job->failure, status, "vaSyncSurface2", err);
}

static int append(const struct encoder *e, const VACodedBufferSegment *segment, struct text *stream,
		  struct error *err)
{
	static const uint32_t broken = VA_CODED_BUF_STATUS_SLICE_OVERFLOW_MASK |
				       VA_CODED_BUF_STATUS_FRAME_SIZE_OVERFLOW |
				       VA_CODED_BUF_STATUS_BAD_BITSTREAM;
	for (size_t i = 0; segment != NULL; i++, segment = segment->next) {
		if (i == SEGMENTS_MAX || segment->size > e->coded_size ||
		    (segment->buf == NULL && segment->size > 0))
			return error_set(err, ERROR_FORMAT,
					 "the coded buffer holds more than was made room for");
		if (segment->status & broken)
			return error_set(err, ERROR_FORMAT,
					 "the driver calls its picture broken: status 0x%x",
					 segment->status);
		text_append(stream, segment->buf, segment->size);
	}
	return 0;
}

static int get(void *encoder, struct text *stream, bool *ended, struct error *err)
{
	struct encoder *e = encoder;
	void *segments = NULL;
	(void)ended;
	int rc = wait(e, err);
	if (rc == 0)
		rc = CALL(e, err, vaMapBuffer, e->coded, &segments);
	if (rc != 0)
		return rc;
	rc = append(e, segments, stream, err);
	(void)e->va->vaUnmapBuffer(e->display, e->coded);
	return rc;
}

const struct video_encoder vaapi_encoder = {
	.single = true,
	.h264_alone = "VA-API",
	.layout = VIDEO_NV12,
	.list = vaapi_list,
	.size = sizeof(struct encoder),
	.open = open_encoder,
	.put = put,
	.get = get,
	.close = close_encoder,
};
