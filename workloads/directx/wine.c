/* SPDX-License-Identifier: MIT */
#include "workloads/directx/wine.h"

#include "base/library.h"
#include "workloads/opengl/wgl.h"

#include <GL/gl.h>
#include <stdio.h>
#include <windows.h>

void wine_name(char *out, size_t size)
{
	const char *(CDECL * version)(void) = NULL;
	void *ntdll = NULL;
	out[0] = '\0';
	if (library_open("ntdll.dll", &ntdll, NULL) == 0 &&
	    library_function(ntdll, "wine_get_version", &version, NULL) == 0)
		(void)snprintf(out, size, "Wine %s", version());
}

static void ask(const struct wgl *wgl, char *out, size_t size)
{
	const GLubyte *(WINAPI * get_string)(GLenum name) = NULL;
	void *library = NULL;
	HGLRC context = wgl->create(wgl->dc);
	if (context == NULL)
		return;
	if (wgl->make_current(wgl->dc, context) &&
	    library_open("opengl32.dll", &library, NULL) == 0 &&
	    library_function(library, "glGetString", &get_string, NULL) == 0) {
		const GLubyte *name = get_string(GL_RENDERER);
		(void)snprintf(out, size, "%s", name != NULL ? (const char *)name : "");
		(void)wgl->make_current(NULL, NULL);
	}
	(void)wgl->delete (context);
}

void wine_renderer(char *out, size_t size)
{
	struct wgl wgl = {0};
	out[0] = '\0';
	if (wgl_open(&wgl, NULL, NULL) == 0)
		ask(&wgl, out, size);
	wgl_close(&wgl);
}
