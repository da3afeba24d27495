/* SPDX-License-Identifier: MIT */
#include "workloads/directx/wine.h"

#include "base/cleanup.h"
#include "base/library.h"

#include <GL/gl.h>
#include <stdio.h>
#include <string.h>
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

struct opengl {
	HGLRC(WINAPI *create)(HDC dc);
	BOOL(WINAPI *delete)(HGLRC context);
	BOOL(WINAPI *make_current)(HDC dc, HGLRC context);
	const GLubyte *(WINAPI *get_string)(GLenum name);
};

static bool load(struct opengl *gl)
{
	void *library = NULL;
	return library_open("opengl32.dll", &library, NULL) == 0 &&
	       library_function(library, "wglCreateContext", &gl->create, NULL) == 0 &&
	       library_function(library, "wglDeleteContext", &gl->delete, NULL) == 0 &&
	       library_function(library, "wglMakeCurrent", &gl->make_current, NULL) == 0 &&
	       library_function(library, "glGetString", &gl->get_string, NULL) == 0;
}

static bool choose_format(HDC dc)
{
	const PIXELFORMATDESCRIPTOR wanted = {
		.nSize = sizeof(wanted),
		.nVersion = 1,
		.dwFlags = PFD_DRAW_TO_WINDOW | PFD_SUPPORT_OPENGL,
		.iPixelType = PFD_TYPE_RGBA,
		.cColorBits = 24,
	};
	int format = ChoosePixelFormat(dc, &wanted);
	return format != 0 && SetPixelFormat(dc, format, &wanted);
}

static void ask(const struct opengl *gl, HDC dc, char *out, size_t size)
{
	HGLRC context = choose_format(dc) ? gl->create(dc) : NULL;
	if (context == NULL)
		return;
	if (gl->make_current(dc, context)) {
		const GLubyte *name = gl->get_string(GL_RENDERER);
		(void)snprintf(out, size, "%s", name != NULL ? (const char *)name : "");
		(void)gl->make_current(NULL, NULL);
	}
	(void)gl->delete (context);
}

void wine_renderer(char *out, size_t size)
{
	struct opengl gl = {0};
	HWND window = NULL;
	HDC dc = NULL;
	out[0] = '\0';
	if (!load(&gl))
		return;
	window = CreateWindowExW(0, L"STATIC", L"", 0, 0, 0, 16, 16, NULL, NULL, NULL, NULL);
	dc = window != NULL ? GetDC(window) : NULL;
	if (dc != NULL) {
		ask(&gl, dc, out, size);
		(void)ReleaseDC(window, dc);
	}
	if (window != NULL)
		(void)DestroyWindow(window);
}

bool wine_renderer_is_software(const char *renderer)
{
	static const char *const names[] = {"llvmpipe", "softpipe", "SwiftShader", "GDI Generic"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strstr(renderer, names[i]) != NULL)
			return true;
	return false;
}
