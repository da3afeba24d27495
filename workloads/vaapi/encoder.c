/* SPDX-License-Identifier: MIT */
/* One stream of one device, whatever its codec. */
#include "workloads/vaapi/vaapi.h"

#include "base/cleanup.h"

enum {
	WAIT_NS = 10 * 1000 * 1000, /* for a picture, before the loop looks at its time limit */
	SEGMENTS_MAX = 4096,	    /* of a coded picture; a longer list has no end */
};

/* The better one of what the driver has: a rate that it keeps, or a fixed quality. */
static unsigned choose_rate_control(uint32_t told)
{
	if (told == VA_ATTRIB_NOT_SUPPORTED)
		return VA_RC_NONE;
	return told & VA_RC_CBR ? VA_RC_CBR : told & VA_RC_VBR ? VA_RC_VBR : VA_RC_CQP;
}

static int create_config(struct vaapi_encoder *e, struct error *err)
{
	VAConfigAttrib told[] = {
		{VAConfigAttribRTFormat, VA_ATTRIB_NOT_SUPPORTED},
		{VAConfigAttribRateControl, VA_ATTRIB_NOT_SUPPORTED},
		{VAConfigAttribEncPackedHeaders, VA_ATTRIB_NOT_SUPPORTED},
	};
	int rc = VAAPI_CALL(e, err, vaGetConfigAttributes, e->way.profile->profile,
			    e->way.entrypoint, told, ARRAY_SIZE(told));
	if (rc != 0)
		return rc;
	if (told[0].value == VA_ATTRIB_NOT_SUPPORTED || !(told[0].value & VA_RT_FORMAT_YUV420))
		return error_set(err, ERROR_UNSUPPORTED,
				 "the encoder takes no frames of 8 bits 4:2:0");
	e->rate_control = choose_rate_control(told[1].value);
	if (told[2].value != VA_ATTRIB_NOT_SUPPORTED)
		e->packed = told[2].value &
			    (VA_ENC_PACKED_HEADER_SEQUENCE | VA_ENC_PACKED_HEADER_PICTURE);
	VAConfigAttrib wanted[] = {
		{VAConfigAttribRTFormat, VA_RT_FORMAT_YUV420},
		{VAConfigAttribRateControl, e->rate_control},
		{VAConfigAttribEncPackedHeaders, e->packed},
	};
	if (e->rate_control == VA_RC_NONE) /* not to be asked for */
		wanted[1] = wanted[0];
	const int count = e->packed != 0 ? 3 : 2;
	return VAAPI_CALL(e, err, vaCreateConfig, e->way.profile->profile, e->way.entrypoint,
			  wanted, count, &e->config);
}

static int create_surfaces(struct vaapi_encoder *e, struct error *err)
{
	VASurfaceAttrib format = {
		.type = VASurfaceAttribPixelFormat,
		.flags = VA_SURFACE_ATTRIB_SETTABLE,
		.value = {.type = VAGenericValueTypeInteger, .value = {.i = VA_FOURCC_NV12}},
	};
	return VAAPI_CALL(e, err, vaCreateSurfaces, VA_RT_FORMAT_YUV420, e->job->source.width,
			  e->job->source.height, e->surfaces, VAAPI_SURFACES, &format, 1);
}

static int create_context(struct vaapi_encoder *e, struct error *err)
{
	return VAAPI_CALL(e, err, vaCreateContext, e->config, (int)e->job->source.width,
			  (int)e->job->source.height, VA_PROGRESSIVE, e->surfaces, VAAPI_SURFACES,
			  &e->context);
}

/* Frames are written to it, and go from it to the surface. */
static int create_image(struct vaapi_encoder *e, struct error *err)
{
	VAImageFormat format = {
		.fourcc = VA_FOURCC_NV12,
		.byte_order = VA_LSB_FIRST,
		.bits_per_pixel = 12,
	};
	return VAAPI_CALL(e, err, vaCreateImage, &format, (int)e->job->source.width,
			  (int)e->job->source.height, &e->image);
}

static int create_coded(struct vaapi_encoder *e, struct error *err)
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
	return VAAPI_CALL(e, err, vaCreateBuffer, e->context, VAEncCodedBufferType, e->coded_size,
			  1, NULL, &e->coded);
}

static int open_encoder(void *session, const struct video_job *job, void *encoder,
			struct error *err)
{
	static int (*const steps[])(struct vaapi_encoder *, struct error *) = {
		create_config, create_surfaces, create_context, create_image, create_coded,
	};
	struct vaapi_encoder *e = encoder;
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
	struct vaapi_encoder *e = encoder;
	if (e->made > 4)
		(void)e->va->vaDestroyBuffer(e->display, e->coded);
	if (e->made > 3)
		(void)e->va->vaDestroyImage(e->display, e->image.image_id);
	if (e->made > 2)
		(void)e->va->vaDestroyContext(e->display, e->context);
	if (e->made > 1)
		(void)e->va->vaDestroySurfaces(e->display, e->surfaces, VAAPI_SURFACES);
	if (e->made > 0)
		(void)e->va->vaDestroyConfig(e->display, e->config);
}

static int upload(struct vaapi_encoder *e, const struct video_planes *frame, struct error *err)
{
	const struct video_source *source = &e->job->source;
	void *memory = NULL;
	int rc = VAAPI_CALL(e, err, vaMapBuffer, e->image.buf, &memory);
	if (rc != 0)
		return rc;
	const struct video_planes planes = {
		{(uint8_t *)memory + e->image.offsets[0], (uint8_t *)memory + e->image.offsets[1]},
		{e->image.pitches[0], e->image.pitches[1]},
	};
	video_copy(source, frame, &planes);
	rc = VAAPI_CALL(e, err, vaUnmapBuffer, e->image.buf);
	if (rc == 0)
		rc = VAAPI_CALL(e, err, vaPutImage, e->surfaces[VAAPI_INPUT], e->image.image_id, 0,
				0, source->width, source->height, 0, 0, source->width,
				source->height);
	return rc;
}

static int render(struct vaapi_encoder *e, unsigned index, struct error *err)
{
	int rc = vaapi_h264_describe(e, index, err);
	if (rc == 0)
		rc = VAAPI_CALL(e, err, vaBeginPicture, e->context, e->surfaces[VAAPI_INPUT]);
	if (rc == 0)
		rc = VAAPI_CALL(e, err, vaRenderPicture, e->context, e->buffers, e->buffer_count);
	return rc == 0 ? VAAPI_CALL(e, err, vaEndPicture, e->context) : rc;
}

static int put(void *encoder, unsigned index, const struct video_planes *frame, struct error *err)
{
	struct vaapi_encoder *e = encoder;
	int rc = upload(e, frame, err);
	if (rc == 0)
		rc = render(e, index, err);
	while (e->buffer_count > 0)
		(void)e->va->vaDestroyBuffer(e->display, e->buffers[--e->buffer_count]);
	return rc;
}

/* Drivers of before VA-API 1.9 have no wait that ends. */
static int wait(struct vaapi_encoder *e, struct error *err)
{
	VASurfaceID surface = e->surfaces[VAAPI_INPUT];
	const VAStatus status = e->va->vaSyncSurface2(e->display, surface, WAIT_NS);
	if (status == VA_STATUS_ERROR_TIMEDOUT)
		return error_set(err, ERROR_BUSY, "the picture is not coded yet");
	if (status == VA_STATUS_ERROR_UNIMPLEMENTED)
		return VAAPI_CALL(e, err, vaSyncSurface, surface);
	return vaapi_check(e->job->failure, status, "vaSyncSurface2", err);
}

static int append(const struct vaapi_encoder *e, const VACodedBufferSegment *segment,
		  struct text *stream, struct error *err)
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
	struct vaapi_encoder *e = encoder;
	void *segments = NULL;
	(void)ended;
	int rc = wait(e, err);
	if (rc == 0)
		rc = VAAPI_CALL(e, err, vaMapBuffer, e->coded, &segments);
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
	.size = sizeof(struct vaapi_encoder),
	.open = open_encoder,
	.put = put,
	.get = get,
	.close = close_encoder,
};
