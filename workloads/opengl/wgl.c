/* SPDX-License-Identifier: MIT */
#include "workloads/opengl/wgl.h"

static int open_window(struct wgl *wgl, struct api_report *report, struct error *err)
{
	wgl->window = CreateWindowExW(0, L"STATIC", L"", 0, 0, 0, 16, 16, NULL, NULL, NULL, NULL);
	wgl->dc = wgl->window != NULL ? GetDC(wgl->window) : NULL;
	if (wgl->dc != NULL)
		return 0;
	if (report != NULL)
		report->missing = "window station";
	return error_set(err, ERROR_UNSUPPORTED,
			 "OpenGL needs a window, even a hidden one, and this session has no window "
			 "station for it (%s: error %lu)",
			 wgl->window == NULL ? "CreateWindow" : "GetDC", GetLastError());
}

static int choose_format(struct wgl *wgl, struct error *err)
{
	PIXELFORMATDESCRIPTOR format = {
		.nSize = sizeof(format),
		.nVersion = 1,
		.dwFlags = PFD_DRAW_TO_WINDOW | PFD_SUPPORT_OPENGL,
		.iPixelType = PFD_TYPE_RGBA,
		.cColorBits = 24,
	};
	const int number = ChoosePixelFormat(wgl->dc, &format);
	if (number == 0)
		return error_set(err, ERROR_UNSUPPORTED,
				 "OpenGL has no pixel format (ChoosePixelFormat: error %lu)",
				 GetLastError());
	if (!SetPixelFormat(wgl->dc, number, &format))
		return error_set(err, ERROR_REMOTE, "SetPixelFormat: error %lu", GetLastError());
	if (DescribePixelFormat(wgl->dc, number, sizeof(format), &format) != 0)
		wgl->generic = (format.dwFlags & PFD_GENERIC_FORMAT) != 0 &&
			       (format.dwFlags & PFD_GENERIC_ACCELERATED) == 0;
	return 0;
}

int wgl_open(struct wgl *wgl, struct api_report *report, struct error *err)
{
	*wgl = (struct wgl){0};
	const struct api_function functions[] = {
		{"wglCreateContext", &wgl->create},
		{"wglDeleteContext", &wgl->delete},
		{"wglMakeCurrent", &wgl->make_current},
		{"wglGetProcAddress", &wgl->get_address},
		{NULL, NULL},
	};
	int rc = api_load(report, "opengl32.dll", functions, err);
	if (rc == 0)
		rc = open_window(wgl, report, err);
	if (rc == 0 && report != NULL)
		report->missing = "OpenGL driver";
	return rc == 0 ? choose_format(wgl, err) : rc;
}

void wgl_close(struct wgl *wgl)
{
	if (wgl->dc != NULL)
		(void)ReleaseDC(wgl->window, wgl->dc);
	if (wgl->window != NULL)
		(void)DestroyWindow(wgl->window);
	*wgl = (struct wgl){0};
}
