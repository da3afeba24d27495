/* SPDX-License-Identifier: MIT */
/* One stream of one device, whatever its codec. */
#include "workloads/vaapi/vaapi.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

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
	int rc = VAAPI_CALL(e, err, vaGetConfigAttributes, e->way.profile, e->way.entrypoint, told,
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
	VAConfigAttrib wanted[] = {
		{VAConfigAttribRTFormat, VA_RT_FORMAT_YUV420},
		{VAConfigAttribRateControl, e->rate_control},
		{VAConfigAttribEncPackedHeaders, e->packed},
	};
	if (e->rate_control == VA_RC_NONE) /* not to be asked for */
		wanted[1] = wanted[0];
	const int count = e->packed != 0 ? 3 : 2;
	return VAAPI_CALL(e, err, vaCreateConfig, e->way.profile, e->way.entrypoint, wanted, count,
			  &e->config);
}

static int create_context(struct vaapi_encoder *e, struct error *err)
{
	const struct video_source *source = &e->job->source;
	VASurfaceAttrib format = {
		.type = VASurfaceAttribPixelFormat,
		.flags = VA_SURFACE_ATTRIB_SETTABLE,
		.value = {.type = VAGenericValueTypeInteger, .value = {.i = VA_FOURCC_NV12}},
	};
	int rc = VAAPI_CALL(e, err, vaCreateSurfaces, VA_RT_FORMAT_YUV420, source->width,
			    source->height, e->surfaces, VAAPI_SURFACES, &format, 1);
	if (rc == 0)
		rc = VAAPI_CALL(e, err, vaCreateContext, e->config, (int)source->width,
				(int)source->height, VA_PROGRESSIVE, e->surfaces, VAAPI_SURFACES,
				&e->context);
	return rc;
}

/* Frames are written to it, and go from it to the surface. */
static int create_image(struct vaapi_encoder *e, struct error *err)
{
	VAImageFormat format = {
		.fourcc = VA_FOURCC_NV12,
		.byte_order = VA_LSB_FIRST,
		.bits_per_pixel = 12,
	};
	const struct video_source *source = &e->job->source;
	int rc = VAAPI_CALL(e, err, vaCreateImage, &format, (int)source->width, (int)source->height,
			    &e->image);
	if (rc != 0)
		return rc;
	bool fits = e->image.format.fourcc == VA_FOURCC_NV12 && e->image.num_planes == 2;
	for (size_t i = 0; fits && i < 2; i++) {
		const uint64_t rows = i == 0 ? source->height : source->height / 2;
		fits = e->image.pitches[i] >= source->width &&
		       e->image.offsets[i] + rows * e->image.pitches[i] <= e->image.data_size;
	}
	return fits ? 0
		    : error_set(err, ERROR_FORMAT,
				"vaCreateImage: the image has no room for a frame of NV12");
}

static int open_encoder(void *session, const struct video_job *job, void *encoder,
			struct error *err)
{
	struct vaapi *va = session;
	struct vaapi_encoder *e = encoder;
	*e = (struct vaapi_encoder){
		.va = va,
		.job = job,
		.display = va->nodes[job->request->device].display,
		.way = va->ways[job->offer->id],
		.config = VA_INVALID_ID,
		.context = VA_INVALID_ID,
		.surfaces = {VA_INVALID_SURFACE, VA_INVALID_SURFACE, VA_INVALID_SURFACE},
		.coded = VA_INVALID_ID,
		.coded_size = job->source.width * job->source.height * 3 + 65536,
		.image = {.image_id = VA_INVALID_ID},
	};
	if (job->offer->codec != VIDEO_H264)
		return error_set(err, ERROR_UNSUPPORTED,
				 "the device offers it, and this probe encodes only H.264 with "
				 "VA-API");
	int rc = create_config(e, err);
	if (rc == 0)
		rc = create_context(e, err);
	if (rc == 0)
		rc = create_image(e, err);
	if (rc == 0)
		rc = VAAPI_CALL(e, err, vaCreateBuffer, e->context, VAEncCodedBufferType,
				e->coded_size, 1, NULL, &e->coded);
	return rc;
}

int vaapi_add_buffer(struct vaapi_encoder *e, VABufferType type, const void *data, size_t size,
		     struct error *err)
{
	if (e->buffer_count == VAAPI_BUFFERS_MAX)
		return error_set(err, ERROR_LIMIT, "a picture has more than %d buffers",
				 VAAPI_BUFFERS_MAX);
	int rc = VAAPI_CALL(e, err, vaCreateBuffer, e->context, type, (unsigned)size, 1,
			    (void *)(uintptr_t)data, &e->buffers[e->buffer_count]);
	if (rc == 0)
		e->buffer_count++;
	return rc;
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

static void destroy_buffers(struct vaapi_encoder *e)
{
	while (e->buffer_count > 0)
		(void)e->va->vaDestroyBuffer(e->display, e->buffers[--e->buffer_count]);
}

static int code(struct vaapi_encoder *e, unsigned index, struct error *err)
{
	int rc = vaapi_h264_describe(e, index, err);
	if (rc == 0)
		rc = VAAPI_CALL(e, err, vaBeginPicture, e->context, e->surfaces[VAAPI_INPUT]);
	if (rc == 0)
		rc = VAAPI_CALL(e, err, vaRenderPicture, e->context, e->buffers, e->buffer_count);
	if (rc == 0)
		rc = VAAPI_CALL(e, err, vaEndPicture, e->context);
	destroy_buffers(e);
	return rc;
}

/* One picture at a time: each refers to the one before. */
static int put(void *encoder, unsigned index, const struct video_planes *frame, struct error *err)
{
	struct vaapi_encoder *e = encoder;
	e->draining = frame == NULL;
	if (e->draining)
		return 0;
	if (e->coding)
		return error_set(err, ERROR_BUSY, "the encoder codes a picture");
	int rc = upload(e, frame, err);
	if (rc == 0)
		rc = code(e, index, err);
	e->coding = rc == 0;
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
	*ended = e->draining && !e->coding;
	if (!e->coding)
		return *ended ? 0 : error_set(err, ERROR_BUSY, "there is no picture to wait for");
	int rc = wait(e, err);
	if (rc == 0)
		rc = VAAPI_CALL(e, err, vaMapBuffer, e->coded, &segments);
	if (rc != 0)
		return rc;
	rc = append(e, segments, stream, err);
	(void)e->va->vaUnmapBuffer(e->display, e->coded);
	e->coding = false;
	*ended = e->draining;
	return rc;
}

static void close_encoder(void *encoder)
{
	struct vaapi_encoder *e = encoder;
	if (e->image.image_id != VA_INVALID_ID)
		(void)e->va->vaDestroyImage(e->display, e->image.image_id);
	if (e->coded != VA_INVALID_ID)
		(void)e->va->vaDestroyBuffer(e->display, e->coded);
	if (e->context != VA_INVALID_ID)
		(void)e->va->vaDestroyContext(e->display, e->context);
	if (e->surfaces[0] != VA_INVALID_SURFACE)
		(void)e->va->vaDestroySurfaces(e->display, e->surfaces, VAAPI_SURFACES);
	if (e->config != VA_INVALID_ID)
		(void)e->va->vaDestroyConfig(e->display, e->config);
}

const struct video_encoder vaapi_encoder = {
	.layout = VIDEO_NV12,
	.list = vaapi_list,
	.size = sizeof(struct vaapi_encoder),
	.open = open_encoder,
	.put = put,
	.get = get,
	.close = close_encoder,
};
