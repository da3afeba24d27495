/* SPDX-License-Identifier: MIT */
/* One stream of one device. */
#include "workloads/vaapi/encoder.h"

#include "base/cleanup.h"

enum {
	WAIT_NS = 10 * 1000 * 1000, /* for a picture, before the loop looks at its time limit */
	SEGMENTS_MAX = 4096,	    /* of a coded picture; a longer list has no end */
};

static const struct vaapi_codec *const codecs[VIDEO_CODECS] = {
	[VIDEO_H264] = &vaapi_h264,
	[VIDEO_HEVC] = &vaapi_hevc,
	[VIDEO_AV1] = &vaapi_av1,
};

/* What is better for the codec: a rate that the driver keeps, or a fixed quality. */
static unsigned choose_rate_control(const struct vaapi_codec *codec, uint32_t told)
{
	if (told == VA_ATTRIB_NOT_SUPPORTED)
		return VA_RC_NONE;
	if (codec->fixed_quality && (told & VA_RC_CQP))
		return VA_RC_CQP;
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
	e->rate_control = choose_rate_control(e->codec, told[1].value);
	if (told[2].value != VA_ATTRIB_NOT_SUPPORTED)
		e->packed = told[2].value & e->codec->packed;
	if (e->rate_control != VA_RC_NONE)
		wanted[count++] = (VAConfigAttrib){VAConfigAttribRateControl, e->rate_control};
	rc = e->codec->prepare != NULL ? e->codec->prepare(e, err) : 0;
	if (rc != 0)
		return rc;
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
	return CALL(e, err, vaCreateSurfaces, VA_RT_FORMAT_YUV420, e->width, e->height, e->surfaces,
		    SURFACES, &format, 1);
}

static int create_context(struct encoder *e, struct error *err)
{
	return CALL(e, err, vaCreateContext, e->config, (int)e->width, (int)e->height,
		    VA_PROGRESSIVE, e->surfaces, SURFACES, &e->context);
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
	e->codec = codecs[job->offer->codec];
	e->width = job->source.width;
	e->height = job->source.height;
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

VASurfaceID vaapi_reconstructed(const struct encoder *e, unsigned index)
{
	return e->surfaces[RECONSTRUCTED + index % 2];
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

static int make_all(struct encoder *e, bool first, const struct vaapi_description *d,
		    struct error *err)
{
	const bool kept = first && vaapi_keeps_rate(e);
	const struct {
		VAEncMiscParameterType type; /* as VAEncMiscParameterBuffer has it */
		VAEncMiscParameterRateControl data;
	} rate = {VAEncMiscParameterTypeRateControl,
		  {.bits_per_second = VIDEO_BIT_RATE,
		   .target_percentage = 100,
		   .window_size = 1000,
		   .initial_qp = e->codec->quality}};
	const struct {
		VAEncMiscParameterType type;
		VAEncMiscParameterFrameRate data;
	} frames = {VAEncMiscParameterTypeFrameRate, {.framerate = VIDEO_RATE}};
	VAEncPackedHeaderParameterBuffer heads[HEADERS] = {{VAEncPackedHeaderSequence, 0, 1, {0}},
							   {VAEncPackedHeaderPicture, 0, 1, {0}},
							   {VAEncPackedHeaderSlice, 0, 1, {0}}};
	struct part parts[BUFFERS_MAX] = {
		{first, VAEncSequenceParameterBufferType, &d->sequence, e->codec->sequence_size},
		{kept, VAEncMiscParameterBufferType, &rate, sizeof(rate)},
		{kept, VAEncMiscParameterBufferType, &frames, sizeof(frames)},
		{true, VAEncPictureParameterBufferType, &d->picture, e->codec->picture_size},
	};
	size_t count = 4;
	for (size_t i = 0; i < HEADERS; i++) {
		const struct text *header = &d->headers[i];
		const bool given = header->size > 0;
		heads[i].bit_length = 8 * (uint32_t)header->size;
		parts[count++] = (struct part){given, VAEncPackedHeaderParameterBufferType,
					       &heads[i], sizeof(heads[i])};
		parts[count++] = (struct part){given, VAEncPackedHeaderDataBufferType, header->data,
					       header->size};
	}
	parts[count++] =
		(struct part){true, VAEncSliceParameterBufferType, &d->slice, e->codec->slice_size};
	return make_parts(e, parts, count, err);
}

/* The first picture describes the stream, too: its rate where one is kept, and its parameter sets where
 * the driver wants to be given them. */
static int describe(struct encoder *e, unsigned index, struct error *err)
{
	struct vaapi_description description = {.headers = {{0}}};
	e->codec->describe(e, index, &description);
	int rc = 0;
	for (size_t i = 0; i < HEADERS; i++)
		rc = description.headers[i].failed ? error_memory(err) : rc;
	if (rc == 0)
		rc = make_all(e, index == 0, &description, err);
	for (size_t i = 0; i < HEADERS; i++)
		text_free(&description.headers[i]);
	return rc;
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
	if (e->codec->begin != NULL)
		e->codec->begin(segments, stream);
	rc = append(e, segments, stream, err);
	(void)e->va->vaUnmapBuffer(e->display, e->coded);
	return rc;
}

const struct video_encoder vaapi_encoder = {
	.single = true,
	.layout = VIDEO_NV12,
	.list = vaapi_list,
	.size = sizeof(struct encoder),
	.open = open_encoder,
	.put = put,
	.get = get,
	.close = close_encoder,
};
