/* SPDX-License-Identifier: MIT */
/*
 * A VA driver, loaded by the real libva, that encodes H.264 and HEVC without loss (h264_pcm.h,
 * hevc_pcm.h) and AV1 with libaom (av1_aom.h) in at most 64 by 64, and refuses wrongly described
 * pictures. Words in addition to those of settings.h, h264_pcm.h, va_double_hevc.c and
 * va_double_av1.c:
 *
 *   decode-only       no profile has an entry point that encodes
 *   low-power         they have EncSliceLP instead of EncSlice
 *   all-codecs        HEVC and AV1 are reported, too
 *   hevc, av1         only that codec is
 *   cqp, cbr          a rate is never kept, or always
 *   packed            it accepts the parameter sets, each as a separate header
 *   packed-sequence   it accepts both in one header
 *   old               it has no vaSyncSurface2
 *   ten-bit           it accepts frames of 10 bits, too
 *   profiles=N        it reports N profiles
 *   room=N            it states that it reports at most N
 *   small-image       an image is too small for the frame
 *   endless, overfull, broken   a fault of the coded buffer
 *
 * fail=init:CODE makes the driver's initialisation fail.
 */
#include "workloads/doubles/va_double.h"
#include "workloads/doubles/settings.h"

#include <va/va_backend.h>
#include <va/va_drmcommon.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ENTER(name)                                                                                \
	do {                                                                                       \
		const int code_ = setting_enter(name);                                             \
		if (code_ != 0)                                                                    \
			return code_;                                                              \
	} while (0)

static struct driver *of(VADriverContextP context)
{
	return context->pDriverData;
}

static VAStatus unimplemented(VADriverContextP context)
{
	(void)context;
	return VA_STATUS_ERROR_UNIMPLEMENTED;
}

static VAStatus terminate(VADriverContextP context)
{
	struct driver *d = of(context);
	for (size_t i = 0; i < BUFFERS; i++)
		free(d->buffers[i].data);
	text_free(&d->given);
	text_free(&d->slice_header);
	text_free(&d->stream);
	h264_pcm_free(&d->writer);
	av1_aom_close(&d->av1_coder);
	free(d);
	return VA_STATUS_SUCCESS;
}

static VAStatus query_profiles(VADriverContextP context, VAProfile *profiles, int *count)
{
	static const VAProfile all[] = {VAProfileMPEG2Main,  VAProfileH264High,
					VAProfileH264Main,   VAProfileH264ConstrainedBaseline,
					VAProfileHEVCMain,   VAProfileHEVCMain10,
					VAProfileAV1Profile0};
	ENTER("vaQueryConfigProfiles");
	(void)context;
	const size_t first = setting_has("hevc") ? 4 : setting_has("av1") ? 6 : 0;
	const size_t available = first > 0 ? 1 : setting_has("all-codecs") ? 7 : 4;
	memcpy(profiles, &all[first], available * sizeof(all[0]));
	*count = (int)setting_number("profiles", available);
	return VA_STATUS_SUCCESS;
}

static VAStatus query_entrypoints(VADriverContextP context, VAProfile profile,
				  VAEntrypoint *entrypoints, int *count)
{
	ENTER("vaQueryConfigEntrypoints");
	(void)context;
	entrypoints[0] = VAEntrypointVLD;
	entrypoints[1] = setting_has("low-power") ? VAEntrypointEncSliceLP : VAEntrypointEncSlice;
	*count = profile == VAProfileMPEG2Main || setting_has("decode-only") ? 1 : 2;
	return VA_STATUS_SUCCESS;
}

uint32_t va_packed(void)
{
	return setting_has("packed")
		       ? VA_ENC_PACKED_HEADER_SEQUENCE | VA_ENC_PACKED_HEADER_PICTURE |
				 VA_ENC_PACKED_HEADER_SLICE
	       : setting_has("packed-sequence") ? VA_ENC_PACKED_HEADER_SEQUENCE
						: VA_ATTRIB_NOT_SUPPORTED;
}

static const struct va_codec *codec_of(VAProfile profile)
{
	return profile == VAProfileHEVCMain	 ? &va_codec_hevc
	       : profile == VAProfileAV1Profile0 ? &va_codec_av1
						 : &va_codec_h264;
}

static VAStatus get_attributes(VADriverContextP context, VAProfile profile, VAEntrypoint entrypoint,
			       VAConfigAttrib *attributes, int count)
{
	ENTER("vaGetConfigAttributes");
	(void)context;
	(void)entrypoint;
	for (int i = 0; i < count; i++) {
		const VAConfigAttribType type = attributes[i].type;
		attributes[i].value =
			type == VAConfigAttribRTFormat
				? VA_RT_FORMAT_YUV420 |
					  (setting_has("ten-bit") ? VA_RT_FORMAT_YUV420_10 : 0)
			: type == VAConfigAttribRateControl
				? (setting_has("cqp")	? VA_RC_CQP
				   : setting_has("cbr") ? VA_RC_CBR
							: VA_RC_CQP | VA_RC_CBR)
			: type == VAConfigAttribMaxPictureWidth ||
					type == VAConfigAttribMaxPictureHeight
				? SIDE
			: type == VAConfigAttribEncMaxRefFrames ? 1
			: type == VAConfigAttribEncPackedHeaders
				? va_packed()
				: codec_of(profile)->attribute(type);
	}
	return VA_STATUS_SUCCESS;
}

static VAStatus create_config(VADriverContextP context, VAProfile profile, VAEntrypoint entrypoint,
			      VAConfigAttrib *attributes, int count, VAConfigID *id)
{
	ENTER("vaCreateConfig");
	of(context)->codec = codec_of(profile);
	if ((profile != VAProfileH264ConstrainedBaseline && profile != VAProfileHEVCMain &&
	     profile != VAProfileAV1Profile0) ||
	    entrypoint == VAEntrypointVLD)
		return VA_STATUS_ERROR_UNSUPPORTED_PROFILE;
	of(context)->keeps_rate = false;
	for (int i = 0; i < count; i++) {
		VAConfigAttrib supported = attributes[i];
		if (supported.type == VAConfigAttribRateControl)
			of(context)->keeps_rate = supported.value == VA_RC_CBR;
		(void)get_attributes(context, profile, entrypoint, &supported, 1);
		if ((supported.value & attributes[i].value) != attributes[i].value)
			return VA_STATUS_ERROR_INVALID_VALUE;
	}
	*id = 1;
	return VA_STATUS_SUCCESS;
}

static VAStatus destroy_config(VADriverContextP context, VAConfigID id)
{
	(void)context;
	return id == 1 ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_CONFIG;
}

/* The side of a coded picture. */
static unsigned coded_side(void)
{
	return setting_has("large-superblocks") ? 2 * SIDE : SIDE;
}

static VAStatus create_surfaces(VADriverContextP context, unsigned format, unsigned width,
				unsigned height, VASurfaceID *ids, unsigned count,
				VASurfaceAttrib *attributes, unsigned attribute_count)
{
	ENTER("vaCreateSurfaces");
	(void)context;
	if (format != VA_RT_FORMAT_YUV420 || width != coded_side() || height != coded_side() ||
	    count > SURFACES || attribute_count != 1 ||
	    attributes[0].value.value.i != VA_FOURCC_NV12)
		return VA_STATUS_ERROR_INVALID_PARAMETER;
	for (unsigned i = 0; i < count; i++)
		ids[i] = i;
	return VA_STATUS_SUCCESS;
}

static VAStatus destroy_surfaces(VADriverContextP context, VASurfaceID *ids, int count)
{
	(void)context;
	return ids != NULL && count == SURFACES ? VA_STATUS_SUCCESS
						: VA_STATUS_ERROR_INVALID_SURFACE;
}

static VAStatus create_context(VADriverContextP context, VAConfigID config, int width, int height,
			       int flag, VASurfaceID *targets, int count, VAContextID *id)
{
	ENTER("vaCreateContext");
	(void)flag;
	(void)targets;
	struct driver *d = of(context);
	const int side = (int)coded_side();
	if (config != 1 || width != side || height != side || count != SURFACES)
		return VA_STATUS_ERROR_INVALID_PARAMETER;
	h264_pcm_free(&d->writer);
	text_reset(&d->given);
	av1_aom_close(&d->av1_coder);
	d->writer = (struct h264_pcm){
		.source = {.width = SIDE, .height = SIDE}, .put = d->codec->put, .user = d};
	if (va_packed() != VA_ATTRIB_NOT_SUPPORTED || d->codec->put != NULL)
		d->writer.given = &d->given;
	*id = 1;
	return VA_STATUS_SUCCESS;
}

static VAStatus destroy_context(VADriverContextP context, VAContextID id)
{
	(void)context;
	return id == 1 ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_CONTEXT;
}

static VAStatus create_buffer(VADriverContextP context, VAContextID owner, VABufferType type,
			      unsigned size, unsigned count, void *data, VABufferID *id)
{
	ENTER("vaCreateBuffer");
	struct driver *d = of(context);
	unsigned i = 0;
	while (i < BUFFERS && d->buffers[i].used)
		i++;
	if (owner != 1 || count != 1 || i == BUFFERS)
		return VA_STATUS_ERROR_ALLOCATION_FAILED;
	d->buffers[i] = (struct buffer){true, type, size, calloc(1, size)};
	if (data != NULL)
		memcpy(d->buffers[i].data, data, size);
	*id = i;
	return VA_STATUS_SUCCESS;
}

static VAStatus destroy_buffer(VADriverContextP context, VABufferID id)
{
	struct driver *d = of(context);
	if (id >= BUFFERS || !d->buffers[id].used)
		return VA_STATUS_ERROR_INVALID_BUFFER;
	free(d->buffers[id].data);
	d->buffers[id] = (struct buffer){0};
	return VA_STATUS_SUCCESS;
}

static void *map_coded(struct driver *d)
{
	d->segment =
		(VACodedBufferSegment){.size = (uint32_t)d->stream.size, .buf = d->stream.data};
	if (setting_has("endless"))
		d->segment.next = &d->segment;
	if (setting_has("overfull"))
		d->segment.size = UINT32_MAX;
	if (setting_has("broken"))
		d->segment.status = VA_CODED_BUF_STATUS_BAD_BITSTREAM;
	return &d->segment;
}

static VAStatus map_buffer(VADriverContextP context, VABufferID id, void **out)
{
	ENTER("vaMapBuffer");
	struct driver *d = of(context);
	if (id == IMAGE_BUFFER)
		*out = d->image;
	else if (id < BUFFERS && d->buffers[id].type == VAEncCodedBufferType)
		*out = map_coded(d);
	else
		return VA_STATUS_ERROR_INVALID_BUFFER;
	return VA_STATUS_SUCCESS;
}

static VAStatus unmap_buffer(VADriverContextP context, VABufferID id)
{
	ENTER("vaUnmapBuffer");
	(void)context;
	return id <= IMAGE_BUFFER ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_BUFFER;
}

static VAStatus create_image(VADriverContextP context, VAImageFormat *format, int width, int height,
			     VAImage *image)
{
	ENTER("vaCreateImage");
	(void)context;
	if (format->fourcc != VA_FOURCC_NV12 || width != SIDE || height != SIDE)
		return VA_STATUS_ERROR_INVALID_IMAGE_FORMAT;
	*image = (VAImage){
		.image_id = 1,
		.format = *format,
		.buf = IMAGE_BUFFER,
		.width = SIDE,
		.height = SIDE,
		.data_size = setting_has("small-image") ? FRAME - 1 : FRAME,
		.num_planes = 2,
		.pitches = {SIDE, SIDE},
		.offsets = {0, SIDE * SIDE},
	};
	return VA_STATUS_SUCCESS;
}

static VAStatus destroy_image(VADriverContextP context, VAImageID id)
{
	(void)context;
	return id == 1 ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_IMAGE;
}

static VAStatus put_image(VADriverContextP context, VASurfaceID surface, VAImageID image, int x,
			  int y, unsigned width, unsigned height, int to_x, int to_y,
			  unsigned to_width, unsigned to_height)
{
	ENTER("vaPutImage");
	struct driver *d = of(context);
	if (surface >= SURFACES || image != 1 || x + y + to_x + to_y != 0 || width != SIDE ||
	    height != SIDE || to_width != SIDE || to_height != SIDE)
		return VA_STATUS_ERROR_INVALID_PARAMETER;
	memcpy(d->surfaces[surface], d->image, FRAME);
	return VA_STATUS_SUCCESS;
}

static VAStatus begin_picture(VADriverContextP context, VAContextID id, VASurfaceID target)
{
	ENTER("vaBeginPicture");
	struct driver *d = of(context);
	if (id != 1 || target >= SURFACES)
		return VA_STATUS_ERROR_INVALID_SURFACE;
	d->target = target;
	d->sequence = d->picture = d->slice = d->rate = d->failed = false;
	text_reset(&d->slice_header);
	return VA_STATUS_SUCCESS;
}

static bool take_other(struct driver *d, const VAEncMiscParameterBuffer *parameter)
{
	const void *data = parameter->data;
	const VAEncMiscParameterRateControl *rate = data;
	if (parameter->type == VAEncMiscParameterTypeRateControl)
		d->rate = rate->bits_per_second == 800000;
	return true;
}

static bool take_header(struct driver *d, const VAEncPackedHeaderParameterBuffer *header)
{
	d->header = (VAEncPackedHeaderType)header->type;
	return header->bit_length > 0 && header->has_emulation_bytes == 1;
}

static bool take(struct driver *d, const struct buffer *buffer)
{
	const bool of_slice = d->codec->headers_first || d->header == VAEncPackedHeaderSlice;
	switch ((int)buffer->type) {
	case VAEncMiscParameterBufferType:
		return take_other(d, buffer->data);
	case VAEncPackedHeaderParameterBufferType:
		return take_header(d, buffer->data);
	case VAEncPackedHeaderDataBufferType:
		text_append(of_slice ? &d->slice_header : &d->given, buffer->data, buffer->size);
		return true;
	default:
		return d->codec->take(d, buffer->type, buffer->data);
	}
}

static VAStatus render_picture(VADriverContextP context, VAContextID id, VABufferID *buffers,
			       int count)
{
	ENTER("vaRenderPicture");
	struct driver *d = of(context);
	for (int i = 0; i < count; i++) {
		if (id != 1 || buffers[i] >= BUFFERS || !d->buffers[buffers[i]].used ||
		    !take(d, &d->buffers[buffers[i]]))
			return VA_STATUS_ERROR_INVALID_PARAMETER;
	}
	return VA_STATUS_SUCCESS;
}

static VAStatus end_picture(VADriverContextP context, VAContextID id)
{
	ENTER("vaEndPicture");
	struct driver *d = of(context);
	const bool first = d->writer.count == 0;
	const struct video_planes planes =
		video_planes_of(&d->writer.source, VIDEO_NV12, d->surfaces[d->target]);
	if (id != 1 || !d->picture || !d->slice || d->sequence != first ||
	    d->rate != (first && d->keeps_rate) || d->coded >= BUFFERS ||
	    d->buffers[d->coded].type != VAEncCodedBufferType ||
	    (d->codec->end != NULL && !d->codec->end(d)))
		return VA_STATUS_ERROR_INVALID_PARAMETER;
	text_free(&d->stream);
	h264_pcm_add(&d->writer, VIDEO_NV12, &planes, &d->stream);
	return d->failed ? VA_STATUS_ERROR_ENCODING_ERROR : VA_STATUS_SUCCESS;
}

static VAStatus sync_surface(VADriverContextP context, VASurfaceID surface)
{
	ENTER("vaSyncSurface");
	return surface == of(context)->target ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_SURFACE;
}

static VAStatus sync_surface_2(VADriverContextP context, VASurfaceID surface, uint64_t timeout_ns)
{
	ENTER("vaSyncSurface2");
	(void)timeout_ns;
	if (setting_has("old"))
		return VA_STATUS_ERROR_UNIMPLEMENTED;
	return setting_has("hang") ? VA_STATUS_ERROR_TIMEDOUT : sync_surface(context, surface);
}

static void fill(struct VADriverVTable *table)
{
	VAStatus (*const stub)(VADriverContextP) = unimplemented;
	for (size_t at = 0; at < offsetof(struct VADriverVTable, reserved); at += sizeof(stub))
		memcpy((char *)table + at, &stub, sizeof(stub));
	table->vaTerminate = terminate;
	table->vaQueryConfigProfiles = query_profiles;
	table->vaQueryConfigEntrypoints = query_entrypoints;
	table->vaGetConfigAttributes = get_attributes;
	table->vaCreateConfig = create_config;
	table->vaDestroyConfig = destroy_config;
	table->vaCreateSurfaces2 = create_surfaces;
	table->vaDestroySurfaces = destroy_surfaces;
	table->vaCreateContext = create_context;
	table->vaDestroyContext = destroy_context;
	table->vaCreateBuffer = create_buffer;
	table->vaDestroyBuffer = destroy_buffer;
	table->vaMapBuffer = map_buffer;
	table->vaUnmapBuffer = unmap_buffer;
	table->vaCreateImage = create_image;
	table->vaDestroyImage = destroy_image;
	table->vaPutImage = put_image;
	table->vaBeginPicture = begin_picture;
	table->vaRenderPicture = render_picture;
	table->vaEndPicture = end_picture;
	table->vaSyncSurface = sync_surface;
	table->vaSyncSurface2 = sync_surface_2;
}

__attribute__((visibility("default"))) VAStatus __vaDriverInit_1_0(VADriverContextP context);
VAStatus __vaDriverInit_1_0(VADriverContextP context)
{
	ENTER("init");
	context->max_profiles = (int)setting_number("room", 16);
	/* libva does not terminate a driver without room for profiles, so such a driver must own nothing. */
	context->pDriverData = context->max_profiles > 0 ? calloc(1, sizeof(struct driver)) : NULL;
	if (context->pDriverData == NULL && context->max_profiles > 0)
		return VA_STATUS_ERROR_ALLOCATION_FAILED;
	context->version_major = VA_MAJOR_VERSION;
	context->version_minor = VA_MINOR_VERSION;
	context->max_entrypoints = 4;
	context->max_attributes = 16;
	context->max_image_formats = 1;
	context->max_subpic_formats = 1;
	context->max_display_attributes = 1;
	context->str_vendor = "gpucert VA double";
	fill(context->vtable);
	return VA_STATUS_SUCCESS;
}
