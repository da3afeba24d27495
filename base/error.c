/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

static const char cut_mark[] = "...";

/* Ends a text that did not fit, between two characters. */
static void error_cut(char *text)
{
	size_t end = text_fit(text, ERROR_TEXT_SIZE, ERROR_TEXT_SIZE - sizeof(cut_mark));
	memcpy(text + end, cut_mark, sizeof(cut_mark));
}

/* `reason` may be NULL. */
static void PRINTF_LIKE(4, 0) error_fill(struct error *err, int code, const char *reason,
					 const char *format, va_list args)
{
	if (err == NULL)
		return;
	err->code = code;
	err->remote = 0;
	if (vsnprintf(err->text, ERROR_TEXT_SIZE, format, args) >= ERROR_TEXT_SIZE)
		error_cut(err->text);
	if (reason != NULL) {
		char head[ERROR_TEXT_SIZE];
		memcpy(head, err->text, sizeof(head));
		if (snprintf(err->text, ERROR_TEXT_SIZE, "%s: %s", head, reason) >= ERROR_TEXT_SIZE)
			error_cut(err->text);
	}
}

int error_set(struct error *err, int code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	error_fill(err, code, NULL, format, args);
	va_end(args);
	return code;
}

/* Negative libuv codes are those of errno on POSIX, and numbers of its own on Windows. */
static int code_of(int system_errno, int uv_status)
{
	static const struct {
		int system_errno, uv_status, code;
	} codes[] = {
		{ENOENT, UV_ENOENT, ERROR_NOT_FOUND},  {EEXIST, UV_EEXIST, ERROR_EXISTS},
		{EACCES, UV_EACCES, ERROR_PERMISSION}, {EPERM, UV_EPERM, ERROR_PERMISSION},
		{ENOMEM, UV_ENOMEM, ERROR_MEMORY},     {0, UV_ECANCELED, ERROR_CANCELLED},
		{0, UV_ETIMEDOUT, ERROR_TIMEOUT},      {0, UV_ECONNREFUSED, ERROR_UNAVAILABLE},
		{0, UV_ECONNRESET, ERROR_UNAVAILABLE}, {0, UV_EPIPE, ERROR_UNAVAILABLE},
	};
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if ((system_errno != 0 && codes[i].system_errno == system_errno) ||
		    (uv_status != 0 && codes[i].uv_status == uv_status))
			return codes[i].code;
	}
	return ERROR_IO;
}

int error_system(struct error *err, int system_errno, const char *format, ...)
{
	int code = code_of(system_errno, 0);
	va_list args;
	va_start(args, format);
	error_fill(err, code, strerror(system_errno), format, args);
	va_end(args);
	return code;
}

int error_uv(struct error *err, int uv_status, const char *format, ...)
{
	int code = code_of(0, uv_status);
	va_list args;
	va_start(args, format);
	error_fill(err, code, uv_strerror(uv_status), format, args);
	va_end(args);
	return code;
}

int error_copy(struct error *err, const struct error *from)
{
	if (err != NULL)
		*err = *from;
	return from->code;
}

int error_wrap(struct error *err, int code, const char *format, ...)
{
	va_list args;
	if (err == NULL)
		return code;
	const struct error inner = *err;
	va_start(args, format);
	error_fill(err, inner.code, inner.text, format, args);
	va_end(args);
	err->remote = inner.remote;
	return code;
}

const char *error_code_name(int code)
{
	static const char *const names[] = {
		"none",	  "argument",	"memory",      "io",	    "not-found", "exists",
		"format", "limit",	"timeout",     "cancelled", "protocol",	 "unavailable",
		"remote", "permission", "unsupported", "busy",
	};
	int index = -code;
	if (index < 0 || (size_t)index >= sizeof(names) / sizeof(names[0]))
		return "unknown";
	return names[index];
}
