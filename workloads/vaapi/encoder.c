/* SPDX-License-Identifier: MIT */
/* One stream of one device. */
#include "workloads/vaapi/encoder.h"

#include "base/cleanup.h"

enum {
	WAIT_NS = 10 * 1000 * 1000, /* for a picture, before the caller checks its time limit */
	SEGMENTS_MAX = 4096,	    /* of a coded picture; a longer list has no end */
};

static const struct vaapi_codec *const codecs[VIDEO_CODECS] = {
	[VIDEO_H264] = &vaapi_h264,
	[VIDEO_HEVC] = &vaapi_hevc,
	[VIDEO_AV1] = &vaapi_av1,
};

/* What was made of a stream, for close_encoder(). */
enum { MADE_CONFIG = 1, MADE_SURFACES, MADE_CONTEXT, MADE_IMAGE, MADE_CODED };

static int create_config(struct encoder *e, struct error *err)
{
	const VAProfile profile = e->way.profile->profile;
	VAConfigAttrib offered[] = {
		{VAConfigAttribRTFormat, VA_ATTRIB_NOT_SUPPORTED},
		{VAConfigAttribRateControl, VA_ATTRIB_NOT_SUPPORTED},
		{VAConfigAttribEncPackedHeaders, VA_ATTRIB_NOT_SUPPORTED},
	};
	VAConfigAttrib chosen[ARRAY_SIZE(offered)] = {
		{VAConfigAttribRTFormat, VA_RT_FORMAT_YUV420}};
	int count = 1;

	int rc = CALL(e, err, vaGetConfigAttributes, profile, e->way.entrypoint, offered,
		      ARRAY_SIZE(offered));
	if (rc != 0)
		return rc;
	if (offered[0].value == VA_ATTRIB_NOT_SUPPORTED ||
	    !(offered[0].value & VA_RT_FORMAT_YUV420))
		return error_set(err, ERROR_UNSUPPORTED,
				 "the encoder accepts no frames of 8 bits 4:2:0");

	/* What suits the codec better: a rate that the driver keeps, or a fixed quality. */
	const uint32_t controls = offered[1].value;
	if (controls == VA_ATTRIB_NOT_SUPPORTED)
		e->rate_control = VA_RC_NONE;
	else if (e->codec->fixed_quality && (controls & VA_RC_CQP))
		e->rate_control = VA_RC_CQP;
	else if (controls & VA_RC_CBR)
		e->rate_control = VA_RC_CBR;
	else
		e->rate_control = (controls & VA_RC_VBR) ? VA_RC_VBR : VA_RC_CQP;
	if (e->rate_control != VA_RC_NONE)
		chosen[count++] = (VAConfigAttrib){VAConfigAttribRateControl, e->rate_control};

	if (offered[2].value != VA_ATTRIB_NOT_SUPPORTED)
		e->packed = offered[2].value & e->codec->packed;
	if (e->codec->prepare != NULL) {
		rc = e->codec->prepare(e, err);
		if (rc != 0)
			return rc;
	}
	if (e->packed != 0)
		chosen[count++] = (VAConfigAttrib){VAConfigAttribEncPackedHeaders, e->packed};
	rc = CALL(e, err, vaCreateConfig, profile, e->way.entrypoint, chosen, count, &e->config);
	if (rc == 0)
		e->made = MADE_CONFIG;
	return rc;
}

/* The image through which frames are copied to the surface. */
static int create_image(struct encoder *e, struct error *err)
{
	const struct video_source *source = &e->job->source;
	VAImageFormat format = {
		.fourcc = VA_FOURCC_NV12,
		.byte_order = VA_LSB_FIRST,
		.bits_per_pixel = 12,
	};

	int rc = CALL(e, err, vaCreateImage, &format, (int)source->width, (int)source->height,
		      &e->image);
	if (rc != 0)
		return rc;
	e->made = MADE_IMAGE;
	bool fits = e->image.format.fourcc == VA_FOURCC_NV12 && e->image.num_planes == 2;
	for (size_t i = 0; fits && i < 2; i++) {
		const uint64_t rows = i == 0 ? source->height : source->height / 2;
		fits = e->image.pitches[i] >= source->width &&
		       e->image.offsets[i] + rows * e->image.pitches[i] <= e->image.data_size;
	}
	if (!fits)
		return error_set(err, ERROR_FORMAT,
				 "vaCreateImage: the image has no room for a frame of NV12");
	return 0;
}

static int open_encoder(void *session, const struct video_job *job, void *encoder,
			struct error *err)
{
	struct encoder *e = encoder;
	VASurfaceAttrib format = {
		.type = VASurfaceAttribPixelFormat,
		.flags = VA_SURFACE_ATTRIB_SETTABLE,
		.value = {.type = VAGenericValueTypeInteger, .value = {.i = VA_FOURCC_NV12}},
	};

	e->va = session;
	e->job = job;
	e->display = e->va->nodes[job->request->device].display;
	e->way = e->va->ways[job->offer->id];
	e->codec = codecs[job->offer->codec];
	e->width = job->source.width;
	e->height = job->source.height;
	int rc = create_config(e, err);
	if (rc != 0)
		return rc;

	rc = CALL(e, err, vaCreateSurfaces, VA_RT_FORMAT_YUV420, e->width, e->height, e->surfaces,
		  SURFACES, &format, 1);
	if (rc != 0)
		return rc;
	e->made = MADE_SURFACES;
	rc = CALL(e, err, vaCreateContext, e->config, (int)e->width, (int)e->height, VA_PROGRESSIVE,
		  e->surfaces, SURFACES, &e->context);
	if (rc != 0)
		return rc;
	e->made = MADE_CONTEXT;
	rc = create_image(e, err);
	if (rc != 0)
		return rc;

	e->coded_size = job->source.width * job->source.height * 3 + 65536;
	rc = CALL(e, err, vaCreateBuffer, e->context, VAEncCodedBufferType, e->coded_size, 1, NULL,
		  &e->coded);
	if (rc == 0)
		e->made = MADE_CODED;
	return rc;
}

static void close_encoder(void *encoder)
{
	struct encoder *e = encoder;

	if (e->made >= MADE_CODED)
		(void)e->va->vaDestroyBuffer(e->display, e->coded);
	if (e->made >= MADE_IMAGE)
		(void)e->va->vaDestroyImage(e->display, e->image.image_id);
	if (e->made >= MADE_CONTEXT)
		(void)e->va->vaDestroyContext(e->display, e->context);
	if (e->made >= MADE_SURFACES)
		(void)e->va->vaDestroySurfaces(e->display, e->surfaces, SURFACES);
	if (e->made >= MADE_CONFIG)
		(void)e->va->vaDestroyConfig(e->display, e->config);
}

VASurfaceID vaapi_reconstructed(const struct encoder *e, unsigned index)
{
	return e->surfaces[RECONSTRUCTED + index % 2];
}

static int add_buffer(struct encoder *e, VABufferType type, const void *data, size_t size,
		      struct error *err)
{
	int rc = CALL(e, err, vaCreateBuffer, e->context, type, (unsigned)size, 1,
		      (void *)(uintptr_t)data, &e->buffers[e->buffer_count]);
	if (rc == 0)
		e->buffer_count++;
	return rc;
}

/* Makes the buffers that describe a picture. The first describes the stream, too: its rate where one is
 * kept, and its parameter sets where the driver wants them. */
static int describe(struct encoder *e, unsigned index, struct error *err)
{
	static const VAEncPackedHeaderType types[HEADERS] = {
		VAEncPackedHeaderSequence, VAEncPackedHeaderPicture, VAEncPackedHeaderSlice};
	struct vaapi_description d = {.headers = {{0}}};
	const struct vaapi_codec *codec = e->codec;
	int rc = 0;

	codec->describe(e, index, &d);
	if (index == 0)
		rc = add_buffer(e, VAEncSequenceParameterBufferType, &d.sequence,
				codec->sequence_size, err);
	if (rc == 0 && index == 0 && vaapi_keeps_rate(e)) {
		/* Both are prefixed by their types, as VAEncMiscParameterBuffer has it. */
		const struct {
			VAEncMiscParameterType type;
			VAEncMiscParameterRateControl data;
		} rate = {VAEncMiscParameterTypeRateControl,
			  {.bits_per_second = VIDEO_BIT_RATE,
			   .target_percentage = 100,
			   .window_size = 1000,
			   .initial_qp = codec->quality}};
		const struct {
			VAEncMiscParameterType type;
			VAEncMiscParameterFrameRate data;
		} frames = {VAEncMiscParameterTypeFrameRate, {.framerate = VIDEO_RATE}};
		rc = add_buffer(e, VAEncMiscParameterBufferType, &rate, sizeof(rate), err);
		if (rc == 0)
			rc = add_buffer(e, VAEncMiscParameterBufferType, &frames, sizeof(frames),
					err);
	}
	if (rc == 0)
		rc = add_buffer(e, VAEncPictureParameterBufferType, &d.picture, codec->picture_size,
				err);
	for (size_t i = 0; i < HEADERS && rc == 0; i++) {
		const VAEncPackedHeaderParameterBuffer head = {
			types[i], 8 * (uint32_t)d.headers[i].size, 1, {0}};

		if (d.headers[i].size == 0)
			continue;
		rc = add_buffer(e, VAEncPackedHeaderParameterBufferType, &head, sizeof(head), err);
		if (rc == 0)
			rc = add_buffer(e, VAEncPackedHeaderDataBufferType, d.headers[i].data,
					d.headers[i].size, err);
	}
	if (rc == 0)
		rc = add_buffer(e, VAEncSliceParameterBufferType, &d.slice, codec->slice_size, err);
	for (size_t i = 0; i < HEADERS; i++)
		text_free(&d.headers[i]);
	return rc;
}

static int put(void *encoder, unsigned index, const struct video_planes *frame, struct error *err)
{
	struct encoder *e = encoder;
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

static int get(void *encoder, struct text *stream, bool *ended, struct error *err)
{
	static const uint32_t broken = VA_CODED_BUF_STATUS_SLICE_OVERFLOW_MASK |
				       VA_CODED_BUF_STATUS_FRAME_SIZE_OVERFLOW |
				       VA_CODED_BUF_STATUS_BAD_BITSTREAM;
	struct encoder *e = encoder;
	VASurfaceID surface = e->surfaces[INPUT];
	void *segments = NULL;
	(void)ended;

	/* Drivers before VA-API 1.9 have no wait with a time limit. */
	const VAStatus status = e->va->vaSyncSurface2(e->display, surface, WAIT_NS);
	if (status == VA_STATUS_ERROR_TIMEDOUT)
		return error_set(err, ERROR_BUSY, "the picture is not coded yet");
	int rc = status == VA_STATUS_ERROR_UNIMPLEMENTED
			 ? CALL(e, err, vaSyncSurface, surface)
			 : vaapi_check(e->job->failure, status, "vaSyncSurface2", err);
	if (rc == 0)
		rc = CALL(e, err, vaMapBuffer, e->coded, &segments);
	if (rc != 0)
		return rc;

	if (e->codec->begin != NULL)
		e->codec->begin(segments, stream);
	const VACodedBufferSegment *segment = segments;
	for (size_t i = 0; rc == 0 && segment != NULL; i++, segment = segment->next) {
		if (i == SEGMENTS_MAX || segment->size > e->coded_size ||
		    (segment->buf == NULL && segment->size > 0))
			rc = error_set(err, ERROR_FORMAT,
				       "the coded buffer holds more than was made room for");
		else if (segment->status & broken)
			rc = error_set(err, ERROR_FORMAT,
				       "the driver calls its picture broken: status 0x%x",
				       segment->status);
		else
			text_append(stream, segment->buf, segment->size);
	}
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
