/* SPDX-License-Identifier: MIT */
/* One stream of one component: surfaces go in, buffers come out, each when the encoder likes. */
#include "workloads/amf/amf.h"

#include "base/cleanup.h"

#include <wchar.h>

enum { USAGE_TRANSCODING = 0, PLANES = 2 };

struct encoder {
	const struct amf *amf;
	const struct video_job *job;
	struct amf_object *component;
};

/* A property of the codec. */
static int set(const struct encoder *e, const wchar_t *name, struct amf_variant value,
	       struct error *err)
{
	wchar_t whole[64] = L"";
	(void)swprintf(whole, ARRAY_SIZE(whole), L"%ls%ls", amf_codecs[e->job->offer->codec].prefix,
		       name);
	int rc = AMF_CALL(e->job->failure, err, AMFComponent, SetProperty, e->component, whole,
			  value);
	return rc != 0 ? error_wrap(err, rc, "%ls", whole) : 0;
}

/* The usage first: it sets all other properties. */
static int set_properties(const struct encoder *e, struct error *err)
{
	const struct {
		const wchar_t *name;
		int64_t value;
	} numbers[] = {
		{L"Usage", USAGE_TRANSCODING},
		{L"RateControlMethod", amf_codecs[e->job->offer->codec].constant_rate},
		{L"TargetBitrate", VIDEO_BIT_RATE},
		{L"PeakBitrate", VIDEO_BIT_RATE},
	};
	const struct amf_variant rate = {AMF_VARIANT_RATE, {.rate = {VIDEO_RATE, 1}}};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(numbers); i++) {
		const struct amf_variant value = {AMF_VARIANT_INT64, {.integer = numbers[i].value}};
		rc = set(e, numbers[i].name, value, err);
	}
	return rc == 0 ? set(e, L"FrameRate", rate, err) : rc;
}

static int open_encoder(void *session, const struct video_job *job, void *encoder,
			struct error *err)
{
	struct encoder *e = encoder;
	e->amf = session;
	e->job = job;
	int rc = amf_make_component(e->amf, job->offer->codec, &e->component, job->failure, err);
	if (rc == 0)
		rc = set_properties(e, err);
	return rc == 0 ? AMF_CALL(job->failure, err, AMFComponent, Init, e->component,
				  AMF_SURFACE_NV12, (int32_t)job->source.width,
				  (int32_t)job->source.height)
		       : rc;
}

static int fill(const struct encoder *e, struct amf_object *surface,
		const struct video_planes *frame, struct error *err)
{
	const struct video_source *source = &e->job->source;
	const size_t count = AMF_METHOD(surface, AMFSurface, GetPlanesCount)(surface);
	struct video_planes planes = {0};
	bool fits = count == PLANES;
	for (size_t i = 0; fits && i < PLANES; i++) {
		struct amf_object *plane = AMF_METHOD(surface, AMFSurface, GetPlaneAt)(surface, i);
		if (plane != NULL) {
			const int32_t pitch = AMF_METHOD(plane, AMFPlane, GetHPitch)(plane);
			planes.pitch[i] = pitch > 0 ? (size_t)pitch : 0;
			planes.data[i] = AMF_METHOD(plane, AMFPlane, GetNative)(plane);
		}
		fits = planes.data[i] != NULL && planes.pitch[i] >= source->width;
	}
	if (!fits)
		return error_set(
			err, ERROR_REMOTE,
			"AMFContext::AllocSurface succeeded and gave no memory of %u by %u",
			source->width, source->height);
	video_copy(source, frame, &planes);
	return 0;
}

/* AMF_NEED_MORE_INPUT: it took the frame, and nothing comes out yet. */
static int check_taken(const struct encoder *e, amf_result result, const char *call,
		       struct error *err)
{
	if (result == AMF_INPUT_FULL)
		return error_set(err, ERROR_BUSY, "the encoder takes nothing now");
	return result == AMF_NEED_MORE_INPUT ? 0 : amf_check(result, call, e->job->failure, err);
}

static int put(void *encoder, unsigned index, const struct video_planes *frame, struct error *err)
{
	struct encoder *e = encoder;
	struct amf_object *component = e->component, *surface = NULL;
	(void)index;
	if (frame == NULL)
		return check_taken(e, AMF_METHOD(component, AMFComponent, Drain)(component),
				   "AMFComponent::Drain", err);
	int rc = AMF_CALL(e->job->failure, err, AMFContext, AllocSurface, e->amf->context,
			  AMF_MEMORY_HOST, AMF_SURFACE_NV12, (int32_t)e->job->source.width,
			  (int32_t)e->job->source.height, &surface);
	rc = amf_check_made(rc, surface, "AMFContext::AllocSurface", err);
	if (rc == 0)
		rc = fill(e, surface, frame, err);
	if (rc == 0)
		rc = check_taken(
			e, AMF_METHOD(component, AMFComponent, SubmitInput)(component, surface),
			"AMFComponent::SubmitInput", err);
	amf_release(surface);
	return rc;
}

static int append(const struct encoder *e, struct amf_object *data, struct text *stream,
		  struct error *err)
{
	struct amf_object *buffer = NULL;
	int rc = AMF_CALL(e->job->failure, err, AMFData, QueryInterface, data, &amf_buffer_guid,
			  &buffer);
	rc = amf_check_made(rc, buffer, "AMFData::QueryInterface", err);
	if (rc == 0)
		rc = video_append(stream, AMF_METHOD(buffer, AMFBuffer, GetNative)(buffer),
				  AMF_METHOD(buffer, AMFBuffer, GetSize)(buffer),
				  "AMFBuffer::GetNative", err);
	amf_release(buffer);
	return rc;
}

/* An encoder may want more frames for ever: video_work() ends that. */
static int get(void *encoder, struct text *stream, bool *ended, struct error *err)
{
	struct encoder *e = encoder;
	struct amf_object *data = NULL;
	const amf_result result =
		AMF_METHOD(e->component, AMFComponent, QueryOutput)(e->component, &data);
	*ended = result == AMF_EOF;
	if (result == AMF_EOF)
		return 0;
	if (result == AMF_REPEAT || result == AMF_NEED_MORE_INPUT ||
	    (result == AMF_OK && data == NULL))
		return error_set(err, ERROR_BUSY, "the encoder has nothing yet");
	int rc = amf_check(result, "AMFComponent::QueryOutput", e->job->failure, err);
	if (rc == 0)
		rc = append(e, data, stream, err);
	amf_release(data);
	return rc;
}

static void close_encoder(void *encoder)
{
	struct encoder *e = encoder;
	if (e->component != NULL)
		(void)AMF_METHOD(e->component, AMFComponent, Terminate)(e->component);
	amf_release(e->component);
}

static void end(void *session)
{
	struct amf *amf = session;
	if (amf->context != NULL)
		(void)AMF_METHOD(amf->context, AMFContext, Terminate)(amf->context);
	amf_release(amf->context);
	amf->context = NULL;
	amf_device_close(amf);
}

const struct video_encoder amf_encoder = {
	.layout = VIDEO_NV12,
	.list = amf_list,
	.size = sizeof(struct encoder),
	.open = open_encoder,
	.put = put,
	.get = get,
	.close = close_encoder,
	.end = end,
};
