/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The part of AMD's Advanced Media Framework that encodes, declared here, for no distribution has its
 * headers. Objects are COM-like: a pointer to a table of functions, in the order of the C++ classes
 * and of their bases. On 64-bit Windows the calling convention is the compiler's own.
 * Source: the headers of AMF, public/include/core and public/include/components.
 */

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

typedef int32_t amf_result;

/* Results that decide something; amf.c names the others. */
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

/* AMFInterface, AMFPropertyStorage, AMFData */
#define AMF_INTERFACE(self)                                                                        \
	long (*acquire)(struct self *);                                                            \
	long (*release)(struct self *);                                                            \
	amf_result (*query)(struct self *, const struct amf_guid *, void **out);
#define AMF_STORAGE(self)                                                                          \
	AMF_INTERFACE(self)                                                                        \
	amf_result (*set)(struct self *, const wchar_t *name, struct amf_variant value);           \
	amf_result (*get)(struct self *, const wchar_t *name, struct amf_variant *value);          \
	void (*storage[8])(void);
#define AMF_DATA(self)                                                                             \
	AMF_STORAGE(self)                                                                          \
	void (*data[10])(void);

#define AMF_OBJECT(self)                                                                           \
	struct self##_calls;                                                                       \
	struct self {                                                                              \
		const struct self##_calls *calls;                                                  \
	};

AMF_OBJECT(amf_buffer)
AMF_OBJECT(amf_caps)
AMF_OBJECT(amf_component)
AMF_OBJECT(amf_context)
AMF_OBJECT(amf_data)
AMF_OBJECT(amf_factory)
AMF_OBJECT(amf_io_caps)
AMF_OBJECT(amf_plane)
AMF_OBJECT(amf_surface)

struct amf_factory_calls {
	amf_result (*create_context)(struct amf_factory *, struct amf_context **out);
	amf_result (*create_component)(struct amf_factory *, struct amf_context *,
				       const wchar_t *id, struct amf_component **out);
	void (*rest[5])(void);
};

/* AMFContext, and from create_buffer_from_dx11 on AMFContext1. */
struct amf_context_calls {
	AMF_STORAGE(amf_context)
	amf_result (*terminate)(struct amf_context *);
	void (*dx9[4])(void);
	amf_result (*init_dx11)(struct amf_context *, void *device, int32_t version);
	void (*dx11[3])(void);
	void (*opencl[8])(void);
	void (*opengl[5])(void);
	void (*xv[4])(void);
	void (*gralloc[4])(void);
	void (*alloc_buffer)(void);
	amf_result (*alloc_surface)(struct amf_context *, int32_t memory, int32_t format,
				    int32_t width, int32_t height, struct amf_surface **out);
	void (*alloc_audio)(void);
	void (*wrap[8])(void);
	void (*get_compute)(void);
	void (*create_buffer_from_dx11)(void);
	void (*alloc_ex[2])(void);
	amf_result (*init_vulkan)(struct amf_context *, struct amf_vulkan_device *device);
	void (*vulkan[5])(void);
	amf_result (*get_vulkan_extensions)(struct amf_context *, size_t *count,
					    const char **names);
};

struct amf_component_calls {
	AMF_STORAGE(amf_component)
	void (*storage_ex[4])(void);
	amf_result (*init)(struct amf_component *, int32_t format, int32_t width, int32_t height);
	void (*reinit)(void);
	amf_result (*terminate)(struct amf_component *);
	amf_result (*drain)(struct amf_component *);
	void (*flush)(void);
	amf_result (*submit)(struct amf_component *, struct amf_data *);
	amf_result (*output)(struct amf_component *, struct amf_data **out);
	void (*get_context)(void);
	void (*set_allocator)(void);
	amf_result (*get_caps)(struct amf_component *, struct amf_caps **out);
	void (*optimize)(void);
};

struct amf_caps_calls {
	AMF_STORAGE(amf_caps)
	int32_t (*acceleration)(struct amf_caps *);
	amf_result (*input)(struct amf_caps *, struct amf_io_caps **out);
	void (*output)(void);
};

struct amf_io_caps_calls {
	AMF_INTERFACE(amf_io_caps)
	void (*width)(struct amf_io_caps *, int32_t *least, int32_t *most);
	void (*height)(struct amf_io_caps *, int32_t *least, int32_t *most);
	void (*rest[6])(void);
};

struct amf_data_calls {
	AMF_DATA(amf_data)
};

struct amf_buffer_calls {
	AMF_DATA(amf_buffer)
	void (*set_size)(void);
	size_t (*size)(struct amf_buffer *);
	void *(*native)(struct amf_buffer *);
	void (*observers[2])(void);
};

struct amf_surface_calls {
	AMF_DATA(amf_surface)
	void (*format)(void);
	size_t (*plane_count)(struct amf_surface *);
	struct amf_plane *(*plane)(struct amf_surface *, size_t index);
	void (*rest[7])(void);
};

struct amf_plane_calls {
	AMF_INTERFACE(amf_plane)
	void (*type)(void);
	void *(*native)(struct amf_plane *);
	void (*pixel_size)(void);
	int32_t (*offset_x)(struct amf_plane *);
	int32_t (*offset_y)(struct amf_plane *);
	void (*size[2])(void);
	int32_t (*pitch)(struct amf_plane *);
	void (*rest[2])(void);
};

/* {b04b7248-b6f0-4321-b691-baa4740f9fcb}, {d9e9f868-6220-44c6-a22f-7cd6dac68646} */
#define AMF_BUFFER_GUID                                                                            \
	{                                                                                          \
		0xb04b7248, 0xb6f0, 0x4321,                                                        \
		{                                                                                  \
			0xb6, 0x91, 0xba, 0xa4, 0x74, 0x0f, 0x9f, 0xcb                             \
		}                                                                                  \
	}
#define AMF_CONTEXT1_GUID                                                                          \
	{                                                                                          \
		0xd9e9f868, 0x6220, 0x44c6,                                                        \
		{                                                                                  \
			0xa2, 0x2f, 0x7c, 0xd6, 0xda, 0xc6, 0x86, 0x46                             \
		}                                                                                  \
	}
