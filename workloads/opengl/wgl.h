/* SPDX-License-Identifier: MIT */
#pragma once

/* WGL on a window that is never shown: what OpenGL on Windows needs before there can be a context. */

#include "base/error.h"
#include "workloads/common/api.h"

#include <stdbool.h>
#include <stddef.h>
#include <windows.h>

struct wgl {
	HGLRC(WINAPI *create)(HDC dc);
	BOOL(WINAPI *delete)(HGLRC context);
	BOOL(WINAPI *make_current)(HDC dc, HGLRC context);
	PROC(WINAPI *get_address)(LPCSTR name);
	HWND window;
	HDC dc;
	bool generic; /* the pixel format is of Windows' own renderer, which no driver accelerates */
};

/* `report`, which may be NULL, learns about the library. ERROR_UNSUPPORTED: the session has no
 * window station that could show a window, or no driver (report->missing). ERROR_NOT_FOUND,
 * ERROR_UNAVAILABLE: as api_load(). ERROR_REMOTE: a call failed. wgl_close() whatever is returned. */
int wgl_open(struct wgl *wgl, struct api_report *report, struct error *err);
void wgl_close(struct wgl *wgl);
