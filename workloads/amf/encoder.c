/* SPDX-License-Identifier: MIT */
/* One stream of one component: surfaces go in, buffers come out, each when the encoder likes. */
#include "workloads/amf/amf.h"

#include "base/cleanup.h"

#include <stdlib.h>

enum { USAGE_TRANSCODING = 0, PLANES = 2 };

struct encoder {
	struct amf *amf;
	const struct video_job *job;
	struct amf_component *component;
};

static int set(struct encoder *e, const wchar_t *name, struct amf_variant value, struct error *err)
{
	int rc = amf_check(e->component->calls->set(e->component, name, value),
			   "AMFComponent::SetProperty", e->job->failure, err);
	return rc != 0 ? error_wrap(err, rc, "%ls", name) : 0;
}

static int set_number(struct encoder *e, const wchar_t *name, int64_t number, struct error *err)
{
	struct amf_variant value = {.type = AMF_VARIANT_INT64};
	value.value.integer = number;
	return set(e, name, value, err);
}

/* The usage first: it sets all other properties. */
static int set_properties(struct encoder *e, struct error *err)
{
	const struct amf_codec *codec = &amf_codecs[e->job->offer->codec];
	struct amf_variant rate = {.type = AMF_VARIANT_RATE};
	rate.value.rate.numerator = VIDEO_RATE;
	rate.value.rate.denominator = 1;
	int rc = set_number(e, codec->usage, USAGE_TRANSCODING, err);
	if (rc == 0)
		rc = set_number(e, codec->method, codec->constant, err);
	if (rc == 0)
		rc = set_number(e, codec->target, VIDEO_BIT_RATE, err);
	if (rc == 0)
		rc = set_number(e, codec->peak, VIDEO_BIT_RATE, err);
	return rc == 0 ? set(e, codec->rate, rate, err) : rc;
}

static int open_encoder(void *session, const struct video_job *job, void **encoder,
			struct error *err)
{
	struct encoder *e = calloc(1, sizeof(*e));
	if (e == NULL)
		return error_memory(err);
	*encoder = e;
	*e = (struct encoder){.amf = session, .job = job};
	struct amf_factory *factory = e->amf->factory;
	int rc = amf_check(factory->calls->create_component(factory, e->amf->context,
							    amf_codecs[job->offer->codec].id,
							    &e->component),
			   "AMFFactory::CreateComponent", job->failure, err);
	if (rc == 0 && e->component == NULL)
		rc = error_set(err, ERROR_REMOTE,
			       "AMFFactory::CreateComponent succeeded and made none");
	if (rc == 0)
		rc = set_properties(e, err);
	return rc == 0 ? amf_check(e->component->calls->init(e->component, AMF_SURFACE_NV12,
							     (int32_t)job->source.width,
							     (int32_t)job->source.height),
				   "AMFComponent::Init", job->failure, err)
		       : rc;
}

static int fill(struct encoder *e, struct amf_surface *surface, const struct video_planes *frame,
		struct error *err)
{
	const struct video_source *source = &e->job->source;
	struct video_planes planes = {0};
	for (size_t i = 0; i < PLANES && surface->calls->plane_count(surface) == PLANES; i++) {
		struct amf_plane *plane = surface->calls->plane(surface, i);
		const int32_t pitch = plane != NULL ? plane->calls->pitch(plane) : 0;
		planes.data[i] = plane != NULL ? plane->calls->native(plane) : NULL;
		planes.pitch[i] = pitch > 0 ? (size_t)pitch : 0;
	}
	if (planes.data[0] == NULL || planes.data[1] == NULL || planes.pitch[0] < source->width ||
	    planes.pitch[1] < source->width)
		return error_set(
			err, ERROR_REMOTE,
			"AMFContext::AllocSurface succeeded and gave no memory of %u by %u",
			source->width, source->height);
	video_copy(source, VIDEO_NV12, frame, &planes);
	return 0;
}

/* AMF_NEED_MORE_INPUT: it took the frame, and nothing comes out yet. */
static int submit(struct encoder *e, struct amf_surface *surface, struct error *err)
{
	const amf_result result =
		e->component->calls->submit(e->component, (struct amf_data *)(void *)surface);
	if (result == AMF_INPUT_FULL)
		return error_set(err, ERROR_BUSY, "the encoder takes no frame now");
	return result == AMF_NEED_MORE_INPUT
		       ? 0
		       : amf_check(result, "AMFComponent::SubmitInput", e->job->failure, err);
}

static int put(void *encoder, unsigned index, const struct video_planes *frame, struct error *err)
{
	struct encoder *e = encoder;
	struct amf_context *context = e->amf->context;
	struct amf_surface *surface = NULL;
	(void)index;
	if (frame == NULL) {
		const amf_result result = e->component->calls->drain(e->component);
		return result == AMF_INPUT_FULL
			       ? error_set(err, ERROR_BUSY, "the encoder does not drain now")
			       : amf_check(result, "AMFComponent::Drain", e->job->failure, err);
	}
	int rc = amf_check(context->calls->alloc_surface(context, AMF_MEMORY_HOST, AMF_SURFACE_NV12,
							 (int32_t)e->job->source.width,
							 (int32_t)e->job->source.height, &surface),
			   "AMFContext::AllocSurface", e->job->failure, err);
	if (rc == 0 && surface == NULL)
		rc = error_set(err, ERROR_REMOTE,
			       "AMFContext::AllocSurface succeeded and made none");
	if (rc == 0)
		rc = fill(e, surface, frame, err);
	if (rc == 0)
		rc = submit(e, surface, err);
	amf_release(surface);
	return rc;
}

static int append(struct encoder *e, struct amf_data *data, struct text *stream, struct error *err)
{
	static const struct amf_guid guid = AMF_BUFFER_GUID;
	void *object = NULL;
	int rc = amf_check(data->calls->query(data, &guid, &object), "AMFData::QueryInterface",
			   e->job->failure, err);
	struct amf_buffer *buffer = object;
	if (rc != 0 || buffer == NULL)
		return rc != 0 ? rc : error_set(err, ERROR_REMOTE, "what came out is no buffer");
	const size_t size = buffer->calls->size(buffer);
	const char *bytes = buffer->calls->native(buffer);
	if (size > VIDEO_STREAM_MAX)
		rc = error_set(err, ERROR_LIMIT,
			       "a picture of %zu bytes, more than the %d of a stream", size,
			       VIDEO_STREAM_MAX);
	else if (size > 0 && bytes == NULL)
		rc = error_set(err, ERROR_REMOTE, "AMFBuffer::GetNative gave no memory");
	else if (size > 0)
		text_append(stream, bytes, size);
	amf_release(buffer);
	return rc;
}

/* An encoder may want more frames for ever: video_work() ends that. */
static int get(void *encoder, struct text *stream, bool *ended, struct error *err)
{
	struct encoder *e = encoder;
	struct amf_data *data = NULL;
	const amf_result result = e->component->calls->output(e->component, &data);
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
		(void)e->component->calls->terminate(e->component);
	amf_release(e->component);
	free(e);
}

const struct video_encoder amf_encoder = {
	.layout = VIDEO_NV12,
	.list = amf_list,
	.open = open_encoder,
	.put = put,
	.get = get,
	.close = close_encoder,
};
