/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The part of AMD's Advanced Media Framework that encoding needs, declared here because no
 * distribution has its headers. Objects are COM-like: a pointer to a table of functions, in the order of the C++ classes
 * and of their bases. On 64-bit Windows the calling convention is the compiler's own.
 * Source: the headers of AMF, public/include/core and public/include/components.
 */

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

typedef int32_t amf_result;

/* Results that the probe tests for; amf.c names the others. */
enum {
	AMF_OK = 0,
	AMF_NOT_SUPPORTED = 10,
	AMF_NOT_FOUND = 11,
	AMF_NO_DEVICE = 17,
	AMF_EOF = 23,
	AMF_REPEAT = 24,
	AMF_INPUT_FULL = 25,
	AMF_CODEC_NOT_SUPPORTED = 30,
	AMF_ENCODER_NOT_PRESENT = 36,
	AMF_NEED_MORE_INPUT = 44,
};

enum { AMF_MEMORY_HOST = 1 };
enum { AMF_SURFACE_NV12 = 1 };
enum { AMF_DX11_0 = 110 };
enum { AMF_ACCELERATION_SOFTWARE = 2 };

/* Major, minor, release, build: 16 bits each. */
#define AMF_VERSION(major, minor, release)                                                         \
	((uint64_t)(major) << 48 | (uint64_t)(minor) << 32 | (uint64_t)(release) << 16)

struct amf_guid {
	uint32_t data1;
	uint16_t data2, data3;
	uint8_t data4[8];
};

static const struct amf_guid amf_buffer_guid = {
	0xb04b7248, 0xb6f0, 0x4321, {0xb6, 0x91, 0xba, 0xa4, 0x74, 0x0f, 0x9f, 0xcb}};
static const struct amf_guid amf_context1_guid = {
	0xd9e9f868, 0x6220, 0x44c6, {0xa2, 0x2f, 0x7c, 0xd6, 0xda, 0xc6, 0x86, 0x46}};

enum amf_variant_type { AMF_VARIANT_BOOL = 1, AMF_VARIANT_INT64 = 2, AMF_VARIANT_RATE = 7 };

struct amf_variant {
	int32_t type;
	union {
		uint8_t boolean;
		int64_t integer;
		struct {
			uint32_t numerator, denominator;
		} rate;
		uint8_t room[16];
	} value;
};

struct amf_vulkan_device {
	size_t size;
	void *next;
	void *instance, *physical, *device;
};

/* Of any interface. */
typedef struct amf_table *amf_object;
struct amf_table {
	void (*const *calls)(void);
};

/* Interface, method, its place in the table of the interface, result, parameters. Objects are made at
 * the last one. */
#define AMF_METHODS(X)                                                                             \
	X(AMFInterface, Release, 1, long, (amf_object))                                            \
	X(AMFFactory, CreateContext, 0, amf_result, (amf_object, amf_object *))                    \
	X(AMFFactory, CreateComponent, 1, amf_result,                                              \
	  (amf_object, amf_object context, const wchar_t *id, amf_object *))                       \
	X(AMFContext, QueryInterface, 2, amf_result,                                               \
	  (amf_object, const struct amf_guid *, amf_object *))                                     \
	X(AMFContext, Terminate, 13, amf_result, (amf_object))                                     \
	X(AMFContext, InitDX11, 18, amf_result, (amf_object, void *device, int32_t version))       \
	X(AMFContext, AllocSurface, 44, amf_result,                                                \
	  (amf_object, int32_t memory, int32_t format, int32_t width, int32_t height,              \
	   amf_object *))                                                                          \
	X(AMFContext1, InitVulkan, 58, amf_result, (amf_object, struct amf_vulkan_device *))       \
	X(AMFContext1, GetVulkanDeviceExtensions, 64, amf_result,                                  \
	  (amf_object, size_t * count, const char **names))                                        \
	X(AMFComponent, SetProperty, 3, amf_result,                                                \
	  (amf_object, const wchar_t *name, struct amf_variant))                                   \
	X(AMFComponent, Init, 17, amf_result,                                                      \
	  (amf_object, int32_t format, int32_t width, int32_t height))                             \
	X(AMFComponent, Terminate, 19, amf_result, (amf_object))                                   \
	X(AMFComponent, Drain, 20, amf_result, (amf_object))                                       \
	X(AMFComponent, SubmitInput, 22, amf_result, (amf_object, amf_object surface))             \
	X(AMFComponent, QueryOutput, 23, amf_result, (amf_object, amf_object *))                   \
	X(AMFComponent, GetCaps, 26, amf_result, (amf_object, amf_object *))                       \
	X(AMFCaps, GetProperty, 4, amf_result,                                                     \
	  (amf_object, const wchar_t *name, struct amf_variant *))                                 \
	X(AMFCaps, GetAccelerationType, 13, int32_t, (amf_object))                                 \
	X(AMFCaps, GetInputCaps, 14, amf_result, (amf_object, amf_object *))                       \
	X(AMFIOCaps, GetWidthRange, 3, void, (amf_object, int32_t * least, int32_t * most))        \
	X(AMFIOCaps, GetHeightRange, 4, void, (amf_object, int32_t * least, int32_t * most))       \
	X(AMFData, QueryInterface, 2, amf_result,                                                  \
	  (amf_object, const struct amf_guid *, amf_object *))                                     \
	X(AMFBuffer, GetSize, 24, size_t, (amf_object))                                            \
	X(AMFBuffer, GetNative, 25, void *, (amf_object))                                          \
	X(AMFSurface, GetPlanesCount, 24, size_t, (amf_object))                                    \
	X(AMFSurface, GetPlaneAt, 25, amf_object, (amf_object, size_t index))                      \
	X(AMFPlane, GetNative, 4, void *, (amf_object))                                            \
	X(AMFPlane, GetHPitch, 10, int32_t, (amf_object))

#define AMF_PLACE(interface, method, place, ...) interface##_##method##_PLACE = (place),
enum amf_place { AMF_METHODS(AMF_PLACE) AMF_PLACES = 65 };

#define AMF_TYPE(interface, method, place, result, parameters)                                     \
	typedef result interface##_##method parameters;
AMF_METHODS(AMF_TYPE)

/* To be called: AMF_METHOD(object, AMFComponent, Drain)(object). */
#define AMF_METHOD(object, interface, method)                                                      \
	((interface##_##method *)(object)->calls[interface##_##method##_PLACE])
