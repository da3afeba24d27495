/* SPDX-License-Identifier: MIT */

/*
 * The media framework of AMD's driver for tests, found by its name through LD_LIBRARY_PATH, on
 * Windows loaded before the probe's own code asks for it. Its streams carry the caller's pixels
 * unchanged (h264_pcm.h, with its faults), so it encodes frames of at most 64 by 64.
 *
 * In addition to the words of settings.h:
 *
 *   version=N    its release of version 1.4; default 30
 *   all          it makes components of HEVC and AV1, too; their output is H.264
 *   none         it makes no component
 *   software     its encoder works on a processor
 *   hold=N       it needs N more frames before the first output
 *   starving     it requests more input for ever
 *   repeating    it asks the caller to query the output again, for ever
 *   full         every other frame is refused at first
 *   nowhere      an allocation succeeds without memory
 *   extensions   it names two extensions of Vulkan, one of which the device has
 *   greedy       it asks for 1000 extensions of Vulkan
 *   growing      it asks for one, and then for 1000
 *   long         a picture reports a length of 16 MB
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
EXPORT amf_result AMFInit(uint64_t version, amf_object *out);

/* Every object is one of these, with unused members. */
struct object {
	struct amf_table head;
	long references;
	uint8_t samples[PITCH * SIDE_MAX * 3 / 2];
	struct plane {
		struct amf_table head;
		uint8_t *memory;
	} planes[2];
	struct text bytes; /* of a buffer */
	/* Only in a component: */
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

typedef void (*const table)(void);

/* An entry of a function table. */
#define METHOD(interface, method, function)                                                        \
	[interface##_##method##_PLACE] =                                                           \
		(void (*)(void))(1 ? (function) : (interface##_##method *)NULL)

static struct object *object_of(amf_object self)
{
	return (struct object *)(void *)self;
}

static struct object *make(table *calls)
{
	struct object *object = calloc(1, sizeof(*object));
	if (object == NULL)
		return NULL;
	object->head.calls = calls;
	object->references = 1;
	alive++;
	return object;
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

static long release_object(amf_object o)
{
	return release(object_of(o));
}

static amf_result query(amf_object o, const struct amf_guid *guid, amf_object *out)
{
	ENTER(QueryInterface);
	if (memcmp(guid, &amf_buffer_guid, sizeof(*guid)) != 0 &&
	    memcmp(guid, &amf_context1_guid, sizeof(*guid)) != 0)
		return 8;
	object_of(o)->references++;
	*out = o;
	return AMF_OK;
}

/* The methods of every object. */
#define BASE                                                                                       \
	METHOD(AMFInterface, Release, release_object), METHOD(AMFContext, QueryInterface, query)

static size_t buffer_size(amf_object o)
{
	return setting_has("long") ? (size_t)16 << 20 : object_of(o)->bytes.size;
}

static void *buffer_native(amf_object o)
{
	return object_of(o)->bytes.data;
}

static table buffer_calls[AMF_PLACES] = {
	BASE,
	METHOD(AMFBuffer, GetSize, buffer_size),
	METHOD(AMFBuffer, GetNative, buffer_native),
};

static void *plane_native(amf_object o)
{
	return setting_has("nowhere") ? NULL : ((struct plane *)(void *)o)->memory;
}

static int32_t plane_pitch(amf_object o)
{
	(void)o;
	return PITCH;
}

static table plane_calls[AMF_PLACES] = {
	METHOD(AMFPlane, GetNative, plane_native),
	METHOD(AMFPlane, GetHPitch, plane_pitch),
};

static size_t plane_count(amf_object o)
{
	(void)o;
	return 2;
}

static amf_object plane_at(amf_object o, size_t index)
{
	return &object_of(o)->planes[index].head;
}

static table surface_calls[AMF_PLACES] = {
	BASE,
	METHOD(AMFSurface, GetPlanesCount, plane_count),
	METHOD(AMFSurface, GetPlaneAt, plane_at),
};

static void side_range(amf_object o, int32_t *least, int32_t *most)
{
	(void)o;
	*least = 32;
	*most = SIDE_MAX;
}

static long static_release(amf_object o)
{
	(void)o;
	return 1;
}

static table io_caps_calls[AMF_PLACES] = {
	METHOD(AMFInterface, Release, static_release),
	METHOD(AMFIOCaps, GetWidthRange, side_range),
	METHOD(AMFIOCaps, GetHeightRange, side_range),
};

static amf_result input_caps(amf_object o, amf_object *out)
{
	static struct amf_table caps = {io_caps_calls};
	(void)o;
	*out = &caps;
	return AMF_OK;
}

static int32_t acceleration(amf_object o)
{
	(void)o;
	return setting_has("software") ? AMF_ACCELERATION_SOFTWARE : 0;
}

static amf_result get_property(amf_object o, const wchar_t *name, struct amf_variant *value)
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

static table caps_calls[AMF_PLACES] = {
	BASE,
	METHOD(AMFCaps, GetProperty, get_property),
	METHOD(AMFCaps, GetAccelerationType, acceleration),
	METHOD(AMFCaps, GetInputCaps, input_caps),
};

static amf_result get_caps(amf_object o, amf_object *out)
{
	(void)o;
	ENTER(GetCaps);
	*out = (amf_object)(void *)make(caps_calls);
	return AMF_OK;
}

/* For any codec: the end of the name identifies the property. */
static amf_result set_property(amf_object o, const wchar_t *name, struct amf_variant value)
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

static amf_result init(amf_object o, int32_t format, int32_t width, int32_t height)
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

static amf_result terminate(amf_object o)
{
	(void)o;
	return AMF_OK;
}

static amf_result drain(amf_object o)
{
	ENTER(Drain);
	object_of(o)->drained = true;
	return AMF_OK;
}

static amf_result submit(amf_object o, amf_object data)
{
	struct object *c = object_of(o), *surface = object_of(data);
	ENTER(SubmitInput);
	c->refused = !c->refused && setting_has("full");
	if (c->refused)
		return AMF_INPUT_FULL;
	struct object *buffer = c->put < PICTURES ? make(buffer_calls) : NULL;
	if (buffer == NULL)
		return 6;
	const struct video_planes planes = {
		{surface->planes[0].memory, surface->planes[1].memory, NULL}, {PITCH, PITCH, 0}};
	h264_pcm_add(&c->writer, VIDEO_NV12, &planes, &buffer->bytes);
	c->outputs[c->put++] = buffer;
	return c->put <= setting_number("hold", 0) ? AMF_NEED_MORE_INPUT : AMF_OK;
}

static amf_result output(amf_object o, amf_object *out)
{
	struct object *c = object_of(o);
	ENTER(QueryOutput);
	if (setting_has("starving"))
		return AMF_NEED_MORE_INPUT;
	if (setting_has("repeating") || (!c->drained && c->put <= setting_number("hold", 0)))
		return AMF_REPEAT;
	if (c->got == c->put)
		return c->drained ? AMF_EOF : AMF_OK;
	*out = &c->outputs[c->got++]->head;
	return AMF_OK;
}

static table component_calls[AMF_PLACES] = {
	BASE,
	METHOD(AMFComponent, SetProperty, set_property),
	METHOD(AMFComponent, Init, init),
	METHOD(AMFComponent, Terminate, terminate),
	METHOD(AMFComponent, Drain, drain),
	METHOD(AMFComponent, SubmitInput, submit),
	METHOD(AMFComponent, QueryOutput, output),
	METHOD(AMFComponent, GetCaps, get_caps),
};

static amf_result init_dx11(amf_object o, void *device, int32_t version)
{
	(void)o;
	ENTER(InitDX11);
	return device != NULL && version == AMF_DX11_0 ? AMF_OK : 4;
}

static amf_result init_vulkan(amf_object o, struct amf_vulkan_device *device)
{
	(void)o;
	ENTER(InitVulkan);
	return device->size == sizeof(*device) && device->instance != NULL &&
			       device->physical != NULL && device->device != NULL
		       ? AMF_OK
		       : 4;
}

static amf_result get_extensions(amf_object o, size_t *count, const char **names)
{
	(void)o;
	ENTER(GetVulkanDeviceExtensions);
	*count = setting_has("greedy") || (setting_has("growing") && names != NULL) ? 1000 : 0;
	*count += setting_has("growing") && names == NULL;
	if (!setting_has("extensions"))
		return AMF_OK;
	*count = 2;
	if (names != NULL) {
		names[0] = "VK_AMD_that_no_device_has";
		names[1] = "VK_EXT_pci_bus_info";
	}
	return AMF_OK;
}

static amf_result alloc_surface(amf_object o, int32_t memory, int32_t format, int32_t width,
				int32_t height, amf_object *out)
{
	(void)o;
	ENTER(AllocSurface);
	struct object *surface = make(surface_calls);
	if (surface == NULL || memory != AMF_MEMORY_HOST || format != AMF_SURFACE_NV12 ||
	    width > SIDE_MAX || height > SIDE_MAX) {
		if (surface != NULL)
			(void)release(surface);
		return 4;
	}
	surface->planes[0] = (struct plane){{plane_calls}, surface->samples};
	surface->planes[1] =
		(struct plane){{plane_calls}, surface->samples + (size_t)PITCH * (size_t)height};
	*out = &surface->head;
	return AMF_OK;
}

static table context_calls[AMF_PLACES] = {
	BASE,
	METHOD(AMFContext, Terminate, terminate),
	METHOD(AMFContext, InitDX11, init_dx11),
	METHOD(AMFContext, AllocSurface, alloc_surface),
	METHOD(AMFContext1, InitVulkan, init_vulkan),
	METHOD(AMFContext1, GetVulkanDeviceExtensions, get_extensions),
};

static amf_result create_context(amf_object o, amf_object *out)
{
	(void)o;
	ENTER(CreateContext);
	*out = (amf_object)(void *)make(context_calls);
	return AMF_OK;
}

static amf_result create_component(amf_object o, amf_object context, const wchar_t *id,
				   amf_object *out)
{
	(void)o;
	(void)context;
	ENTER(CreateComponent);
	if (setting_has("none") ||
	    (wcscmp(id, L"AMFVideoEncoderVCE_AVC") != 0 && !setting_has("all")))
		return AMF_CODEC_NOT_SUPPORTED;
	*out = (amf_object)(void *)make(component_calls);
	return AMF_OK;
}

static table factory_calls[AMF_PLACES] = {
	METHOD(AMFFactory, CreateContext, create_context),
	METHOD(AMFFactory, CreateComponent, create_component),
};

amf_result AMFQueryVersion(uint64_t *version)
{
	ENTER(AMFQueryVersion);
	*version = AMF_VERSION(1, 4, setting_number("version", 30));
	return AMF_OK;
}

/* Reports objects left at exit on stderr, where the tests look for it. */
static void report_leaks(void)
{
	if (alive != 0)
		(void)fprintf(stderr, "amf double: %ld objects are left\n", alive);
}

amf_result AMFInit(uint64_t version, amf_object *out)
{
	static struct amf_table factory = {factory_calls};
	ENTER(AMFInit);
	(void)atexit(report_leaks);
	*out = &factory;
	return version <= AMF_VERSION(1, 4, 30) ? AMF_OK : AMF_NOT_SUPPORTED;
}
