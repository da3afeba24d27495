/* SPDX-License-Identifier: MIT */
/* WGL knows one device: the one that shows the desktop, or that a container was granted. A context needs
 * a window; this one is never shown. */
#include "workloads/opengl/opengl.h"

#include "base/cleanup.h"
#include "base/library.h"
#include "base/memory.h"
#include "workloads/directx/directx.h"

#include <stdlib.h>
#include <string.h>
#include <windows.h>

/* WGL_ARB_create_context, its profiles, and WGL_EXT_create_context_es2_profile. */
enum {
	CONTEXT_MAJOR_VERSION = 0x2091,
	CONTEXT_MINOR_VERSION = 0x2092,
	CONTEXT_PROFILE_MASK = 0x9126,
	CONTEXT_CORE_PROFILE = 1,
	CONTEXT_ES_PROFILE = 4,
};

typedef HGLRC(WINAPI *create_with_attributes)(HDC dc, HGLRC share, const int *attributes);

struct opengl_platform {
	HGLRC(WINAPI *create)(HDC dc);
	BOOL(WINAPI *delete)(HGLRC context);
	BOOL(WINAPI *make_current)(HDC dc, HGLRC context);
	PROC(WINAPI *get_address)(LPCSTR name);
	void *library;
	HWND window;
	HDC dc;
	HGLRC context;
};

static bool check(struct opengl *gl, bool done, const char *call)
{
	if (!done)
		(void)call_failed(&gl->failure, call, (int)GetLastError(), NULL, &gl->error);
	return done;
}

int opengl_platform_open(struct opengl *gl, struct error *err)
{
	struct opengl_platform *wgl = memory_allocate(1, sizeof(*wgl));
	PIXELFORMATDESCRIPTOR format = {
		.nSize = sizeof(format),
		.nVersion = 1,
		.dwFlags = PFD_DRAW_TO_WINDOW | PFD_SUPPORT_OPENGL,
		.iPixelType = PFD_TYPE_RGBA,
		.cColorBits = 24,
	};

	gl->platform = wgl;
	wine_name(gl->report->emulator, sizeof(gl->report->emulator));

	const struct api_function functions[] = {
		{"wglCreateContext", &wgl->create},
		{"wglDeleteContext", &wgl->delete},
		{"wglMakeCurrent", &wgl->make_current},
		{"wglGetProcAddress", &wgl->get_address},
		{NULL, NULL},
	};
	int rc = api_load(gl->report, OPENGL_LIBRARY, functions, err);
	if (rc == 0)
		rc = library_open(OPENGL_LIBRARY, &wgl->library, err);
	if (rc != 0)
		return rc;

	wgl->window = CreateWindowExW(0, L"STATIC", L"", 0, 0, 0, 16, 16, NULL, NULL, NULL, NULL);
	wgl->dc = wgl->window != NULL ? GetDC(wgl->window) : NULL;
	if (wgl->dc == NULL) {
		gl->report->missing = "window station";
		return error_set(
			err, ERROR_UNSUPPORTED,
			"OpenGL needs a window, even a hidden one, and this session has no window "
			"station for it (%s: error %lu)",
			wgl->window == NULL ? "CreateWindow" : "GetDC", GetLastError());
	}

	gl->report->missing = "OpenGL driver";
	gl->device_count = 1;
	const int number = ChoosePixelFormat(wgl->dc, &format);
	if (number == 0)
		return error_set(err, ERROR_UNSUPPORTED,
				 "OpenGL has no pixel format (ChoosePixelFormat: error %lu)",
				 GetLastError());
	if (!SetPixelFormat(wgl->dc, number, &format))
		return error_set(err, ERROR_REMOTE, "SetPixelFormat: error %lu", GetLastError());
	if (DescribePixelFormat(wgl->dc, number, sizeof(format), &format) != 0 &&
	    (format.dwFlags & (PFD_GENERIC_FORMAT | PFD_GENERIC_ACCELERATED)) == PFD_GENERIC_FORMAT)
		return error_set(err, ERROR_UNSUPPORTED,
				 "no driver of OpenGL answers, only GDI Generic, Windows' own "
				 "software renderer");
	return 0;
}

/* The newest versions that the work can use. */
static const struct {
	bool es;
	int attributes[7];
} attempts[] = {
	{false,
	 {CONTEXT_MAJOR_VERSION, 4, CONTEXT_MINOR_VERSION, 3, CONTEXT_PROFILE_MASK,
	  CONTEXT_CORE_PROFILE, 0}},
	{true,
	 {CONTEXT_MAJOR_VERSION, 3, CONTEXT_MINOR_VERSION, 1, CONTEXT_PROFILE_MASK,
	  CONTEXT_ES_PROFILE, 0}},
};

/* A context of the oldest kind is needed to ask for another, and stays where there is no other. */
void opengl_platform_begin(struct opengl *gl, const struct opengl_device *device)
{
	struct opengl_platform *wgl = gl->platform;
	create_with_attributes create = NULL;
	HGLRC newest = NULL;

	(void)device;
	wgl->context = wgl->create(wgl->dc);
	if (!check(gl, wgl->context != NULL, "wglCreateContext") ||
	    !check(gl, wgl->make_current(wgl->dc, wgl->context), "wglMakeCurrent"))
		return;

	PROC address = wgl->get_address("wglCreateContextAttribsARB");
	memcpy(&create, &address, sizeof(create));
	for (size_t i = 0; create != NULL && newest == NULL && i < ARRAY_SIZE(attempts); i++) {
		gl->es = attempts[i].es;
		newest = create(wgl->dc, NULL, attempts[i].attributes);
	}
	gl->old = newest == NULL;
	if (newest == NULL)
		return;
	check(gl, wgl->make_current(wgl->dc, newest), "wglMakeCurrent");
	(void)wgl->delete (wgl->context);
	wgl->context = newest;
}

void opengl_platform_end(struct opengl *gl)
{
	struct opengl_platform *wgl = gl->platform;
	if (wgl->context == NULL)
		return;
	(void)wgl->make_current(NULL, NULL);
	(void)wgl->delete (wgl->context);
	wgl->context = NULL;
}

/* Only the library has the functions of OpenGL 1.1, and drivers say "none" in five ways. */
void *opengl_platform_function(const struct opengl *gl, const char *name)
{
	PROC function = gl->platform->get_address(name);
	void *address = NULL;
	memcpy(&address, &function, sizeof(address));
	if ((uintptr_t)address > 3 && (intptr_t)address != -1)
		return address;
	address = NULL;
	(void)library_function(gl->platform->library, name, &address, NULL);
	return address;
}

void opengl_platform_close(void *session)
{
	struct opengl *gl = session;
	struct opengl_platform *wgl = gl->platform;
	if (wgl != NULL && wgl->dc != NULL)
		(void)ReleaseDC(wgl->window, wgl->dc);
	if (wgl != NULL && wgl->window != NULL)
		(void)DestroyWindow(wgl->window);
	free(wgl);
}
