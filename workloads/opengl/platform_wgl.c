/* SPDX-License-Identifier: MIT */
/* WGL knows one device: the one that shows the desktop, or that a container was given. */
#include "workloads/opengl/opengl.h"

#include "base/cleanup.h"
#include "base/library.h"
#include "workloads/directx/wine.h"
#include "workloads/opengl/wgl.h"

#include <stdlib.h>
#include <string.h>

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
	struct wgl wgl;
	void *library;
	HGLRC context;
};

static int check(struct opengl *gl, bool done, const char *call, struct error *err)
{
	return done ? 0 : call_failed(&gl->failure, call, (int)GetLastError(), NULL, err);
}

int opengl_platform_open(struct opengl *gl, struct api_report *report, struct error *err)
{
	struct opengl_platform *platform = calloc(1, sizeof(*platform));
	if (platform == NULL)
		return error_memory(err);
	gl->platform = platform;
	wine_name(report->emulator, sizeof(report->emulator));
	int rc = wgl_open(&platform->wgl, report, err);
	if (rc == 0)
		rc = library_open(OPENGL_LIBRARY, &platform->library, err);
	if (rc != 0)
		return rc;
	if (platform->wgl.generic)
		return error_set(err, ERROR_UNSUPPORTED,
				 "no driver of OpenGL answers, only GDI Generic, Windows' own "
				 "software renderer");
	gl->devices[gl->device_count++] = (struct opengl_device){.card = -1, .render_node = -1};
	return 0;
}

void opengl_platform_listen(struct opengl *gl, struct api_report *report)
{
	(void)gl; /* WGL says nothing beyond its errors */
	(void)report;
}

/* The newest that the work can do with; NULL: there is none. In any context. */
static HGLRC create_newest(struct opengl *gl)
{
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
	const struct wgl *wgl = &gl->platform->wgl;
	PROC address = wgl->get_address("wglCreateContextAttribsARB");
	create_with_attributes create = NULL;
	HGLRC context = NULL;
	memcpy(&create, &address, sizeof(create));
	for (size_t i = 0; create != NULL && context == NULL && i < ARRAY_SIZE(attempts); i++) {
		gl->es = attempts[i].es;
		context = create(wgl->dc, NULL, attempts[i].attributes);
	}
	return context;
}

/* A context of the oldest kind is needed to ask for another, and stays where there is no other. */
int opengl_platform_begin(struct opengl *gl, const struct opengl_device *device, struct error *err)
{
	struct opengl_platform *platform = gl->platform;
	const struct wgl *wgl = &platform->wgl;
	(void)device;
	platform->context = wgl->create(wgl->dc);
	int rc = check(gl, platform->context != NULL, "wglCreateContext", err);
	if (rc == 0)
		rc = check(gl, wgl->make_current(wgl->dc, platform->context), "wglMakeCurrent",
			   err);
	if (rc != 0)
		return rc;
	HGLRC newest = create_newest(gl);
	gl->old = newest == NULL;
	if (newest == NULL)
		return 0;
	rc = check(gl, wgl->make_current(wgl->dc, newest), "wglMakeCurrent", err);
	(void)wgl->delete (platform->context);
	platform->context = newest;
	return rc;
}

void opengl_platform_end(struct opengl *gl)
{
	struct opengl_platform *platform = gl->platform;
	if (platform->context == NULL)
		return;
	(void)platform->wgl.make_current(NULL, NULL);
	(void)platform->wgl.delete(platform->context);
	platform->context = NULL;
}

/* What OpenGL 1.1 had is told by the library alone, and drivers say "none" in five ways. */
void *opengl_platform_function(const struct opengl *gl, const char *name)
{
	PROC function = gl->platform->wgl.get_address(name);
	void *address = NULL;
	memcpy(&address, &function, sizeof(address));
	if ((uintptr_t)address > 3 && (intptr_t)address != -1)
		return address;
	address = NULL;
	(void)library_function(gl->platform->library, name, &address, NULL);
	return address;
}

void opengl_platform_close(struct opengl *gl)
{
	if (gl->platform != NULL)
		wgl_close(&gl->platform->wgl);
	free(gl->platform);
}
