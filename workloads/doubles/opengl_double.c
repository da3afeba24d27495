/* SPDX-License-Identifier: MIT */
/* The EGL of the double: devices, displays and contexts. */
#include "workloads/doubles/opengl_double.h"

#include "workloads/doubles/settings.h"

#define EGL_NO_X11
#include <glvnd/libeglabi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned double_device;
static char devices[DOUBLE_DEVICES_MAX], displays[DOUBLE_DEVICES_MAX], context;
static EGLint last_error = EGL_SUCCESS;
static EGLenum bound_api = EGL_OPENGL_ES_API;

/* Whether the call fails, with its error set. */
static bool fails(const char *call)
{
	last_error = setting_enter(call);
	if (last_error != 0)
		return true;
	last_error = EGL_SUCCESS;
	return false;
}

static unsigned number_of(const void *object, const char *array)
{
	return (unsigned)((const char *)object - array);
}

static EGLBoolean query_devices(EGLint room, EGLDeviceEXT *out, EGLint *count)
{
	const EGLint all = (EGLint)setting_number("devices", 1);
	if (fails("eglQueryDevicesEXT"))
		return EGL_FALSE;
	*count = all;
	for (EGLint i = 0; out != NULL && i < all && i < room && i < DOUBLE_DEVICES_MAX; i++)
		out[i] = setting_has("unwritten") && i >= 16 ? EGL_NO_DEVICE_EXT : &devices[i];
	return EGL_TRUE;
}

static const char *query_device_string(EGLDeviceEXT device, EGLint name)
{
	static char path[64];
	const unsigned number = number_of(device, devices);
	const bool software =
		setting_has("software") || setting_number("software", DOUBLE_DEVICES_MAX) == number;
	if (name == EGL_EXTENSIONS && software)
		return "EGL_MESA_device_software";
	if (name == EGL_EXTENSIONS)
		return "EGL_EXT_device_drm EGL_EXT_device_drm_render_node";
	if (name == EGL_DRM_DEVICE_FILE_EXT)
		(void)snprintf(path, sizeof(path), "/dev/dri/card%u", number);
	else if (name == EGL_DRM_RENDER_NODE_FILE_EXT)
		(void)snprintf(path, sizeof(path), "/dev/dri/renderD%u",
			       (unsigned)setting_number("render", 128) + number);
	return path;
}

static EGLDisplay get_display(EGLenum platform, void *native, const EGLAttrib *attributes)
{
	(void)attributes;
	return platform == EGL_PLATFORM_DEVICE_EXT ? &displays[number_of(native, devices)]
						   : EGL_NO_DISPLAY;
}

static EGLBoolean initialize(EGLDisplay display, EGLint *major, EGLint *minor)
{
	if (fails("eglInitialize"))
		return EGL_FALSE;
	if (setting_number("uninitialized", DOUBLE_DEVICES_MAX) == number_of(display, displays)) {
		last_error = EGL_NOT_INITIALIZED;
		return EGL_FALSE;
	}
	if (major != NULL && minor != NULL) {
		*major = 1;
		*minor = 5;
	}
	return EGL_TRUE;
}

static const char *query_string(EGLDisplay display, EGLint name)
{
	if (display == EGL_NO_DISPLAY && name == EGL_EXTENSIONS)
		return "EGL_EXT_device_base EGL_EXT_device_enumeration EGL_EXT_device_query "
		       "EGL_EXT_platform_base EGL_EXT_platform_device";
	return name == EGL_EXTENSIONS ? "EGL_KHR_no_config_context EGL_KHR_surfaceless_context"
				      : "1.5 double";
}

static EGLContext create_context(EGLDisplay display, EGLConfig config, EGLContext share,
				 const EGLint *attributes)
{
	const EGLint major = attributes[1];
	(void)display;
	(void)config;
	(void)share;
	if (fails("eglCreateContext"))
		return EGL_NO_CONTEXT;
	if ((bound_api == EGL_OPENGL_API && (setting_has("es") || setting_has("old"))) ||
	    (major > 2 && setting_has("old"))) {
		last_error = EGL_BAD_MATCH;
		return EGL_NO_CONTEXT;
	}
	return &context;
}

static EGLBoolean make_current(EGLDisplay display, EGLSurface draw, EGLSurface read, EGLContext own)
{
	(void)draw;
	(void)read;
	if (own != EGL_NO_CONTEXT && fails("eglMakeCurrent"))
		return EGL_FALSE;
	double_device = number_of(display, displays);
	return EGL_TRUE;
}

static EGLBoolean bind_api(EGLenum api)
{
	bound_api = api;
	return fails("eglBindAPI") ? EGL_FALSE : EGL_TRUE;
}

static EGLint get_error(void)
{
	const EGLint error = last_error;
	last_error = EGL_SUCCESS;
	return error;
}

/* For functions that only the loader needs, and for those that need not do anything. */
static EGLBoolean succeed(void)
{
	return EGL_TRUE;
}

static EGLBoolean supports_api(EGLenum api)
{
	return api == EGL_OPENGL_API || api == EGL_OPENGL_ES_API ? EGL_TRUE : EGL_FALSE;
}

static const char *vendor_string(int name)
{
	return name == __EGL_VENDOR_STRING_PLATFORM_EXTENSIONS ? "EGL_EXT_platform_device" : NULL;
}

#define FUNCTION(name, function)                                                                   \
	{                                                                                          \
		name, (void (*)(void))(function)                                                   \
	}

static void *get_function(const char *wanted)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} functions[] = {
		FUNCTION("eglQueryDevicesEXT", query_devices),
		FUNCTION("eglQueryDeviceStringEXT", query_device_string),
		FUNCTION("eglInitialize", initialize),
		FUNCTION("eglQueryString", query_string),
		FUNCTION("eglCreateContext", create_context),
		FUNCTION("eglMakeCurrent", make_current),
		FUNCTION("eglBindAPI", bind_api),
		FUNCTION("eglGetError", get_error),
	};
	void (*found)(void) = strncmp(wanted, "egl", 3) == 0 ? (void (*)(void))succeed : NULL;
	void *address = NULL;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		if (strcmp(functions[i].name, wanted) == 0)
			found = functions[i].function;
	}
	memcpy(&address, &found, sizeof(address));
	return address != NULL ? address : double_gl_function(wanted);
}

/* Tests load only one vendor, whose functions need no dispatch stubs. */
static void *get_dispatch(const char *name)
{
	return strcmp(name, "eglQueryDeviceStringEXT") == 0 ? get_function(name) : NULL;
}

static void set_index(const char *name, int index)
{
	(void)name;
	(void)index;
}

EGLBoolean __egl_Main(uint32_t version, const __EGLapiExports *exports, __EGLvendorInfo *vendor,
		      __EGLapiImports *imports);

__attribute__((visibility("default"))) EGLBoolean __egl_Main(uint32_t version,
							     const __EGLapiExports *exports,
							     __EGLvendorInfo *vendor,
							     __EGLapiImports *imports)
{
	(void)vendor;
	if (EGL_VENDOR_ABI_GET_MAJOR_VERSION(version) != EGL_VENDOR_ABI_MAJOR_VERSION)
		return EGL_FALSE;
	if (setting_has("noise"))
		(void)puts("the double says something");
	(void)exports;
	imports->getPlatformDisplay = get_display;
	imports->getSupportsAPI = supports_api;
	imports->getVendorString = vendor_string;
	imports->getProcAddress = get_function;
	imports->getDispatchAddress = get_dispatch;
	imports->setDispatchIndex = set_index;
	return EGL_TRUE;
}
