/* SPDX-License-Identifier: MIT */

/*
 * The media framework of AMD's driver for tests, found by its name through LD_LIBRARY_PATH, on
 * Windows loaded before the probe's own code asks for it. Its streams carry the pixels that they are
 * given (h264_pcm.h, whose faults it has), so that it encodes frames of 64 by 64 at most.
 *
 * Beside settings.h:
 *
 *   version=N    the release of 1.4 that it is; default 30
 *   all          it makes components of HEVC and AV1, too; what comes out is H.264 all the same
 *   none         it makes no component
 *   software     its encoder works on a processor
 *   hold=N       it wants N frames more before any comes out
 *   starving     it wants more input for ever
 *   repeating    it says that the output is to be asked for again, for ever
 *   full         every other frame is refused at first
 *   nowhere      what is allocated is nowhere
 *   long         a picture says that it is 16 MB long
 */

#include "workloads/amf/amf_abi.h"
#include "workloads/doubles/h264_pcm.h"
#include "workloads/doubles/settings.h"
#include "workloads/video/frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __ELF__
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT __attribute__((dllexport))
#endif

enum { SIDE_MAX = 64, PITCH = 128, PICTURES = VIDEO_FRAMES };

EXPORT amf_result AMFQueryVersion(uint64_t *version);
EXPORT amf_result AMFInit(uint64_t version, struct amf_factory **out);

/* Every object is one of these: what is not its own is not used. */
struct object {
	const void *calls;
	long references;
	uint8_t samples[PITCH * SIDE_MAX * 3 / 2];
	struct plane {
		const void *calls;
		uint8_t *memory;
	} planes[2];
	struct text bytes; /* of a buffer */
	/* Of a component: */
	struct h264_pcm writer;
	struct object *outputs[PICTURES];
	unsigned put, got;
	bool drained, refused, usage, rate;
};

static long alive;

#define ENTER(name)                                                                                \
	do {                                                                                       \
		const amf_result failure_ = (amf_result)setting_enter(#name);                      \
		if (failure_ != AMF_OK)                                                            \
			return failure_;                                                           \
	} while (0)

static struct object *object_of(void *self)
{
	return self;
}

static struct object *make(const void *calls)
{
	struct object *object = calloc(1, sizeof(*object));
	if (object == NULL)
		return NULL;
	object->calls = calls;
	object->references = 1;
	alive++;
	return object;
}

static long acquire(struct object *object)
{
	return ++object->references;
}

static long release(struct object *object)
{
	const long left = --object->references;
	if (left > 0)
		return left;
	for (unsigned i = object->got; i < object->put; i++)
		(void)release(object->outputs[i]);
	text_free(&object->bytes);
	h264_pcm_free(&object->writer);
	free(object);
	alive--;
	return 0;
}

/* Functions of one kind of object, as those of all of them. */
#define BASE(self)                                                                                 \
	static long self##_acquire(struct self *o)                                                 \
	{                                                                                          \
		return acquire(object_of(o));                                                      \
	}                                                                                          \
	static long self##_release(struct self *o)                                                 \
	{                                                                                          \
		return release(object_of(o));                                                      \
	}                                                                                          \
	static amf_result self##_query(struct self *o, const struct amf_guid *guid, void **out)    \
	{                                                                                          \
		static const struct amf_guid known[] = {AMF_BUFFER_GUID, AMF_CONTEXT1_GUID};       \
		ENTER(QueryInterface);                                                             \
		if (memcmp(guid, &known[0], sizeof(*guid)) != 0 &&                                 \
		    memcmp(guid, &known[1], sizeof(*guid)) != 0)                                   \
			return 8;                                                                  \
		(void)acquire(object_of(o));                                                       \
		*out = o;                                                                          \
		return AMF_OK;                                                                     \
	}

BASE(amf_buffer)
BASE(amf_caps)
BASE(amf_component)
BASE(amf_context)
BASE(amf_surface)

#define CALLS(self) .acquire = self##_acquire, .release = self##_release, .query = self##_query

static size_t buffer_size(struct amf_buffer *o)
{
	return setting_has("long") ? (size_t)16 << 20 : object_of(o)->bytes.size;
}

static void *buffer_native(struct amf_buffer *o)
{
	return object_of(o)->bytes.data;
}

static const struct amf_buffer_calls buffer_calls = {
	CALLS(amf_buffer),
	.size = buffer_size,
	.native = buffer_native,
};

static void *plane_native(struct amf_plane *o)
{
	return setting_has("nowhere") ? NULL : ((struct plane *)(void *)o)->memory;
}

static int32_t plane_pitch(struct amf_plane *o)
{
	(void)o;
	return PITCH;
}

static const struct amf_plane_calls plane_calls = {.native = plane_native, .pitch = plane_pitch};

static size_t plane_count(struct amf_surface *o)
{
	(void)o;
	return 2;
}

static struct amf_plane *plane_at(struct amf_surface *o, size_t index)
{
	return (struct amf_plane *)(void *)&object_of(o)->planes[index];
}

static const struct amf_surface_calls surface_calls = {
	CALLS(amf_surface),
	.plane_count = plane_count,
	.plane = plane_at,
};

static void side_range(struct amf_io_caps *o, int32_t *least, int32_t *most)
{
	(void)o;
	*least = 32;
	*most = SIDE_MAX;
}

static long static_release(struct amf_io_caps *o)
{
	(void)o;
	return 1;
}

static const struct amf_io_caps_calls io_caps_calls = {
	.release = static_release,
	.width = side_range,
	.height = side_range,
};

static amf_result input_caps(struct amf_caps *o, struct amf_io_caps **out)
{
	static struct amf_io_caps caps = {&io_caps_calls};
	(void)o;
	*out = &caps;
	return AMF_OK;
}

static int32_t acceleration(struct amf_caps *o)
{
	(void)o;
	return setting_has("software") ? AMF_ACCELERATION_SOFTWARE : 0;
}

static amf_result get_property(struct amf_caps *o, const wchar_t *name, struct amf_variant *value)
{
	(void)o;
	if (wcscmp(name, L"MaxProfile") == 0) {
		value->type = AMF_VARIANT_INT64;
		value->value.integer = 100;
		return AMF_OK;
	}
	value->type = AMF_VARIANT_BOOL;
	return wcscmp(name, L"BFrames") == 0 ? AMF_OK : AMF_NOT_FOUND;
}

static const struct amf_caps_calls caps_calls = {
	CALLS(amf_caps),
	.get = get_property,
	.acceleration = acceleration,
	.input = input_caps,
};

static amf_result get_caps(struct amf_component *o, struct amf_caps **out)
{
	(void)o;
	ENTER(GetCaps);
	*out = (struct amf_caps *)(void *)make(&caps_calls);
	return AMF_OK;
}

/* Of any codec: the end of the name says which property it is. */
static amf_result set_property(struct amf_component *o, const wchar_t *name,
			       struct amf_variant value)
{
	struct object *c = object_of(o);
	ENTER(SetProperty);
	if (wcsstr(name, L"Usage") != NULL)
		c->usage = value.type == AMF_VARIANT_INT64 && value.value.integer == 0;
	else if (!c->usage)
		return 15;
	if (wcsstr(name, L"FrameRate") != NULL)
		c->rate = value.type == AMF_VARIANT_RATE &&
			  value.value.rate.numerator == VIDEO_RATE &&
			  value.value.rate.denominator == 1;
	return AMF_OK;
}

static amf_result init(struct amf_component *o, int32_t format, int32_t width, int32_t height)
{
	struct object *c = object_of(o);
	ENTER(Init);
	if (!c->usage || !c->rate || format != AMF_SURFACE_NV12 || width > SIDE_MAX ||
	    height > SIDE_MAX)
		return 4;
	c->writer.source.width = (unsigned)width;
	c->writer.source.height = (unsigned)height;
	return AMF_OK;
}

static amf_result terminate(struct amf_component *o)
{
	(void)o;
	return AMF_OK;
}

static amf_result drain(struct amf_component *o)
{
	ENTER(Drain);
	object_of(o)->drained = true;
	return AMF_OK;
}

static amf_result submit(struct amf_component *o, struct amf_data *data)
{
	struct object *c = object_of(o), *surface = object_of(data);
	ENTER(SubmitInput);
	c->refused = !c->refused && setting_has("full");
	if (c->refused)
		return AMF_INPUT_FULL;
	struct object *buffer = c->put < PICTURES ? make(&buffer_calls) : NULL;
	if (buffer == NULL)
		return 6;
	const struct video_planes planes = {
		{surface->planes[0].memory, surface->planes[1].memory, NULL}, {PITCH, PITCH, 0}};
	h264_pcm_add(&c->writer, VIDEO_NV12, &planes, &buffer->bytes);
	c->outputs[c->put++] = buffer;
	return c->put <= setting_number("hold", 0) ? AMF_NEED_MORE_INPUT : AMF_OK;
}

static amf_result output(struct amf_component *o, struct amf_data **out)
{
	struct object *c = object_of(o);
	ENTER(QueryOutput);
	if (setting_has("starving"))
		return AMF_NEED_MORE_INPUT;
	if (setting_has("repeating") || (!c->drained && c->put <= setting_number("hold", 0)))
		return AMF_REPEAT;
	if (c->got == c->put)
		return c->drained ? AMF_EOF : AMF_OK;
	*out = (struct amf_data *)(void *)c->outputs[c->got++];
	return AMF_OK;
}

static const struct amf_component_calls component_calls = {
	CALLS(amf_component), .set = set_property, .init = init,     .terminate = terminate,
	.drain = drain,	      .submit = submit,	   .output = output, .get_caps = get_caps,
};

static amf_result terminate_context(struct amf_context *o)
{
	(void)o;
	return AMF_OK;
}

static amf_result init_dx11(struct amf_context *o, void *device, int32_t version)
{
	(void)o;
	ENTER(InitDX11);
	return device != NULL && version == AMF_DX11_0 ? AMF_OK : 4;
}

static amf_result init_vulkan(struct amf_context *o, struct amf_vulkan_device *device)
{
	(void)o;
	ENTER(InitVulkan);
	return device->size == sizeof(*device) && device->instance != NULL &&
			       device->physical != NULL && device->device != NULL
		       ? AMF_OK
		       : 4;
}

static amf_result get_extensions(struct amf_context *o, size_t *count, const char **names)
{
	(void)o;
	(void)names;
	ENTER(GetVulkanDeviceExtensions);
	*count = setting_has("greedy") ? 1000 : 0;
	return AMF_OK;
}

static amf_result alloc_surface(struct amf_context *o, int32_t memory, int32_t format,
				int32_t width, int32_t height, struct amf_surface **out)
{
	(void)o;
	ENTER(AllocSurface);
	struct object *surface = make(&surface_calls);
	if (surface == NULL || memory != AMF_MEMORY_HOST || format != AMF_SURFACE_NV12 ||
	    width > SIDE_MAX || height > SIDE_MAX) {
		if (surface != NULL)
			(void)release(surface);
		return 4;
	}
	surface->planes[0] = (struct plane){&plane_calls, surface->samples};
	surface->planes[1] =
		(struct plane){&plane_calls, surface->samples + (size_t)PITCH * (size_t)height};
	*out = (struct amf_surface *)(void *)surface;
	return AMF_OK;
}

static const struct amf_context_calls context_calls = {
	CALLS(amf_context),	    .terminate = terminate_context,
	.init_dx11 = init_dx11,	    .alloc_surface = alloc_surface,
	.init_vulkan = init_vulkan, .get_vulkan_extensions = get_extensions,
};

static amf_result create_context(struct amf_factory *o, struct amf_context **out)
{
	(void)o;
	ENTER(CreateContext);
	*out = (struct amf_context *)(void *)make(&context_calls);
	return AMF_OK;
}

static amf_result create_component(struct amf_factory *o, struct amf_context *context,
				   const wchar_t *id, struct amf_component **out)
{
	(void)o;
	(void)context;
	ENTER(CreateComponent);
	if (setting_has("none") ||
	    (wcscmp(id, L"AMFVideoEncoderVCE_AVC") != 0 && !setting_has("all")))
		return AMF_CODEC_NOT_SUPPORTED;
	*out = (struct amf_component *)(void *)make(&component_calls);
	return AMF_OK;
}

static const struct amf_factory_calls factory_calls = {
	.create_context = create_context,
	.create_component = create_component,
};

amf_result AMFQueryVersion(uint64_t *version)
{
	ENTER(AMFQueryVersion);
	*version = AMF_VERSION(1, 4, setting_number("version", 30));
	return AMF_OK;
}

/* What is left when the probe ends is told on stderr: its tests look for it. */
static void tell_what_is_left(void)
{
	if (alive != 0)
		(void)fprintf(stderr, "amf double: %ld objects are left\n", alive);
}

amf_result AMFInit(uint64_t version, struct amf_factory **out)
{
	static struct amf_factory factory = {&factory_calls};
	ENTER(AMFInit);
	(void)atexit(tell_what_is_left);
	*out = &factory;
	return version <= AMF_VERSION(1, 4, 30) ? AMF_OK : AMF_NOT_SUPPORTED;
}
