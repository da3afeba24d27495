/* SPDX-License-Identifier: MIT */
/* EGL without windows: a display for each device that EGL enumerates, else one without a device. */
#include "workloads/opengl/opengl.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/text.h"

#define EGL_NO_X11
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Extensions of a loader or driver; NULL where it has not. */
#define EGL_EXTENSIONS_USED(X)                                                                     \
	X(PFNEGLGETPLATFORMDISPLAYEXTPROC, eglGetPlatformDisplayEXT)                               \
	X(PFNEGLQUERYDEVICESEXTPROC, eglQueryDevicesEXT)                                           \
	X(PFNEGLQUERYDEVICESTRINGEXTPROC, eglQueryDeviceStringEXT)                                 \
	X(PFNEGLDEBUGMESSAGECONTROLKHRPROC, eglDebugMessageControlKHR)                             \
	X(PFNEGLLABELOBJECTKHRPROC, eglLabelObjectKHR)

/* The kernel's nodes cardN and renderDN; minor numbers have 20 bits. */
enum { DRM_MAJOR = 226, MINOR_MAX = (1 << 20) - 1 };

struct opengl_platform {
#define X OPENGL_DECLARE
#include "workloads/opengl/egl_functions.h" /* those that this file calls */
#undef X
	struct {
		EGL_EXTENSIONS_USED(OPENGL_DECLARE)
	} more;
	const char *extensions; /* of EGL itself; NULL where it has none */
	EGLDisplay display;	/* of the current context */
	EGLContext context;
};

static bool check(struct opengl *gl, EGLBoolean done, const char *call)
{
	if (done != EGL_TRUE)
		opengl_failed(gl, call, gl->platform->eglGetError());
	return done == EGL_TRUE;
}

/* A list of words, which is NULL where there is none. */
static bool listed(const char *list, const char *wanted)
{
	struct text_list words CLEANUP_TEXT_LIST = {0};
	text_list_split(&words, list != NULL ? list : "", ' ');
	return text_list_has(&words, wanted);
}

/* Receives the errors inside of EGL; the label of the thread is the struct opengl. */
static void EGLAPIENTRY on_message(EGLenum error, const char *command, EGLint type,
				   EGLLabelKHR thread, EGLLabelKHR object, const char *message)
{
	const struct opengl *gl = thread;
	(void)error;
	(void)type;
	(void)object;
	if (gl == NULL || gl->report == NULL || message == NULL)
		return;
	char *text CLEANUP_FREE = text_format("%s: %s", command != NULL ? command : "EGL", message);
	api_report_message(gl->report, text);
}

/* EGL answers alike where no driver is installed and where the installed one cannot be loaded, so this
 * checks for a manifest of a driver where the loader (libglvnd) reads them. */
static int no_driver(struct opengl *gl, struct error *err)
{
	const char *files = secure_getenv("__EGL_VENDOR_LIBRARY_FILENAMES");
	const char *directories = secure_getenv("__EGL_VENDOR_LIBRARY_DIRS");
	struct text_list places CLEANUP_TEXT_LIST = {0};
	bool found = false;
	if (directories == NULL)
		directories = "/etc/glvnd/egl_vendor.d:/usr/share/glvnd/egl_vendor.d";
	text_list_split(&places, files != NULL ? files : directories, ':');
	for (size_t i = 0; !found && i < places.count; i++) {
		struct text_list names CLEANUP_TEXT_LIST = {0};
		if (files == NULL && file_list(places.items[i], &names, NULL) != 0)
			continue;
		found = files != NULL && file_exists(places.items[i]);
		for (size_t k = 0; !found && k < names.count; k++)
			found = text_ends_with(names.items[k], ".json");
	}

	(void)check(gl, gl->platform->eglInitialize(EGL_NO_DISPLAY, NULL, NULL), "eglInitialize");
	if (found)
		return error_set(
			err, ERROR_UNAVAILABLE,
			"EGL cannot load the driver that its manifest names, or the driver "
			"is not for displays without a window (%s)",
			gl->error.text);
	gl->report->missing = "OpenGL driver";
	return error_set(err, ERROR_UNSUPPORTED, "EGL found no manifest of a driver (%s)",
			 gl->error.text);
}

/* "/dev/dri/renderDN", which EGL reports by `attribute`; nothing for another name. */
static struct api_node find_node(const struct opengl_platform *egl, EGLDeviceEXT device,
				 EGLint attribute, const char *prefix)
{
	const char *path = egl->more.eglQueryDeviceStringEXT(device, attribute);
	const char *name = path != NULL ? path_base(path) : "";
	long long number = 0;
	const bool known =
		text_starts_with(name, prefix) &&
		text_to_int64(name + strlen(prefix), prefix, 0, MINOR_MAX, &number, NULL) == 0;
	return (struct api_node){known, DRM_MAJOR, number};
}

static void add_display(struct opengl *gl, EGLenum kind, void *native, struct opengl_device found)
{
	found.handle = gl->platform->more.eglGetPlatformDisplayEXT(kind, native, NULL);
	if (found.handle != EGL_NO_DISPLAY)
		gl->devices[gl->device_count++] = found;
}

/* Where a device has no card, EGL reports the render node in its place. */
static void add_device(struct opengl *gl, EGLDeviceEXT device)
{
	const struct opengl_platform *egl = gl->platform;
	const char *extensions = egl->more.eglQueryDeviceStringEXT(device, EGL_EXTENSIONS);
	struct opengl_device found = {0};
	found.software = listed(extensions, "EGL_MESA_device_software");
	if (listed(extensions, "EGL_EXT_device_drm_render_node"))
		found.render_node = find_node(egl, device, EGL_DRM_RENDER_NODE_FILE_EXT, "renderD");
	if (listed(extensions, "EGL_EXT_device_drm")) {
		found.card = find_node(egl, device, EGL_DRM_DEVICE_FILE_EXT, "card");
		if (!found.render_node.known)
			found.render_node =
				find_node(egl, device, EGL_DRM_DEVICE_FILE_EXT, "renderD");
	}
	add_display(gl, EGL_PLATFORM_DEVICE_EXT, device, found);
}

int opengl_platform_open(struct opengl *gl, struct error *err)
{
	struct opengl_platform *egl = memory_allocate(1, sizeof(*egl));
#define X(type, name) {#name, &egl->name},
	const struct api_function functions[] = {
#include "workloads/opengl/egl_functions.h"
		{NULL, NULL}};
#undef X
	gl->platform = egl;
	int rc = api_load(gl->report, OPENGL_LIBRARY, functions, err);
	if (rc != 0)
		return rc;
#define LOAD(type, name) egl->more.name = (type)egl->eglGetProcAddress(#name);
	EGL_EXTENSIONS_USED(LOAD)
#undef LOAD
	const char *version = egl->eglQueryString(EGL_NO_DISPLAY, EGL_VERSION);
	(void)snprintf(gl->report->version, sizeof(gl->report->version), "%s",
		       version != NULL ? version : "");
	egl->extensions = egl->eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
	(void)egl->eglGetError();

	if (egl->more.eglLabelObjectKHR != NULL && egl->more.eglDebugMessageControlKHR != NULL &&
	    listed(egl->extensions, "EGL_KHR_debug")) {
		(void)egl->more.eglLabelObjectKHR(EGL_NO_DISPLAY, EGL_OBJECT_THREAD_KHR, NULL, gl);
		(void)egl->more.eglDebugMessageControlKHR(on_message, NULL);
	}

	if (egl->more.eglGetPlatformDisplayEXT == NULL)
		return no_driver(gl, err);
	if (egl->more.eglQueryDevicesEXT != NULL && egl->more.eglQueryDeviceStringEXT != NULL &&
	    listed(egl->extensions, "EGL_EXT_platform_device")) {
		EGLDeviceEXT devices[API_DEVICES_MAX] = {0};
		EGLint count = 0;
		check(gl, egl->more.eglQueryDevicesEXT(API_DEVICES_MAX, devices, &count),
		      "eglQueryDevicesEXT");
		for (EGLint i = 0; i < count && i < API_DEVICES_MAX; i++) {
			if (devices[i] != EGL_NO_DEVICE_EXT)
				add_device(gl, devices[i]);
		}
		return opengl_result(gl, err);
	}
	if (!listed(egl->extensions, "EGL_MESA_platform_surfaceless"))
		return no_driver(gl, err);
	add_display(gl, EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY,
		    (struct opengl_device){0});
	return 0;
}

/* The newest versions that the work can use, then one that at least identifies the device. */
static const struct {
	EGLenum api;
	bool old;
	EGLint attributes[7];
} attempts[] = {
	{EGL_OPENGL_API,
	 false,
	 {EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 3,
	  EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE}},
	{EGL_OPENGL_ES_API,
	 false,
	 {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 1, EGL_NONE}},
	{EGL_OPENGL_ES_API, true, {EGL_CONTEXT_MAJOR_VERSION, 2, EGL_NONE}},
};

void opengl_platform_begin(struct opengl *gl, const struct opengl_device *device)
{
	struct opengl_platform *egl = gl->platform;
	bool ready = false;

	egl->display = device->handle;
	ready = check(gl, egl->eglInitialize(egl->display, NULL, NULL), "eglInitialize");
	/* The error of an attempt only counts where no later one succeeds. */
	for (size_t i = 0; ready && egl->context == EGL_NO_CONTEXT && i < ARRAY_SIZE(attempts);
	     i++) {
		gl->error = (struct error){0};
		gl->failure = (struct call_failure){0};
		gl->es = attempts[i].api == EGL_OPENGL_ES_API;
		gl->old = attempts[i].old;
		if (!check(gl, egl->eglBindAPI(attempts[i].api), "eglBindAPI"))
			continue;
		egl->context = egl->eglCreateContext(egl->display, EGL_NO_CONFIG_KHR,
						     EGL_NO_CONTEXT, attempts[i].attributes);
		check(gl, egl->context != EGL_NO_CONTEXT, "eglCreateContext");
	}
	if (egl->context != EGL_NO_CONTEXT)
		check(gl,
		      egl->eglMakeCurrent(egl->display, EGL_NO_SURFACE, EGL_NO_SURFACE,
					  egl->context),
		      "eglMakeCurrent");
}

void opengl_platform_end(struct opengl *gl)
{
	struct opengl_platform *egl = gl->platform;
	if (egl->context == EGL_NO_CONTEXT)
		return;
	(void)egl->eglMakeCurrent(egl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	(void)egl->eglDestroyContext(egl->display, egl->context);
	egl->context = EGL_NO_CONTEXT;
}

void *opengl_platform_function(const struct opengl *gl, const char *name)
{
	__eglMustCastToProperFunctionPointerType function = gl->platform->eglGetProcAddress(name);
	void *address = NULL;
	memcpy(&address, &function, sizeof(address));
	return address;
}

void opengl_platform_close(void *session)
{
	struct opengl *gl = session;
	struct opengl_platform *egl = gl->platform;
	for (size_t i = 0; i < gl->device_count; i++)
		(void)egl->eglTerminate(gl->devices[i].handle);
	if (egl != NULL && egl->eglReleaseThread != NULL)
		(void)egl->eglReleaseThread();
	free(egl);
}
