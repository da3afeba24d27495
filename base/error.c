/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

static const char cut_mark[] = "...";

/* Ends a text that did not fit, between two characters. */
static void error_cut(char *text)
{
	size_t end = ERROR_TEXT_SIZE - sizeof(cut_mark);

	while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
		end--;
	memcpy(text + end, cut_mark, sizeof(cut_mark));
}

static void error_vformat(char *text, const char *format, va_list args) PRINTF_LIKE(2, 0);

static void error_vformat(char *text, const char *format, va_list args)
{
	if (vsnprintf(text, ERROR_TEXT_SIZE, format, args) >= ERROR_TEXT_SIZE)
		error_cut(text);
}

int error_set(struct error *err, int code, const char *format, ...)
{
	va_list args;

	if (err == NULL)
		return code;
	err->code = code;
	err->remote = 0;
	va_start(args, format);
	error_vformat(err->text, format, args);
	va_end(args);
	return code;
}

static void error_append(struct error *err, const char *suffix)
{
	char head[ERROR_TEXT_SIZE];

	memcpy(head, err->text, sizeof(head));
	if (snprintf(err->text, ERROR_TEXT_SIZE, "%s: %s", head, suffix) >= ERROR_TEXT_SIZE)
		error_cut(err->text);
}

static int error_code_of_errno(int system_errno)
{
	switch (system_errno) {
	case ENOENT:
		return ERROR_NOT_FOUND;
	case EEXIST:
		return ERROR_EXISTS;
	case EACCES:
	case EPERM:
		return ERROR_PERMISSION;
	case ENOMEM:
		return ERROR_MEMORY;
	default:
		return ERROR_IO;
	}
}

int error_system(struct error *err, int system_errno, const char *format, ...)
{
	int code = error_code_of_errno(system_errno);
	va_list args;

	if (err == NULL)
		return code;
	err->code = code;
	err->remote = 0;
	va_start(args, format);
	error_vformat(err->text, format, args);
	va_end(args);
	error_append(err, strerror(system_errno));
	return code;
}

int error_uv(struct error *err, int uv_status, const char *format, ...)
{
	int code = ERROR_IO;
	va_list args;

	switch (uv_status) {
	case UV_ENOENT:
		code = ERROR_NOT_FOUND;
		break;
	case UV_EEXIST:
		code = ERROR_EXISTS;
		break;
	case UV_EACCES:
	case UV_EPERM:
		code = ERROR_PERMISSION;
		break;
	case UV_ENOMEM:
		code = ERROR_MEMORY;
		break;
	case UV_ECANCELED:
		code = ERROR_CANCELLED;
		break;
	case UV_ETIMEDOUT:
		code = ERROR_TIMEOUT;
		break;
	case UV_ECONNREFUSED:
	case UV_ECONNRESET:
	case UV_EPIPE:
		code = ERROR_UNAVAILABLE;
		break;
	default:
		break;
	}
	if (err == NULL)
		return code;
	err->code = code;
	err->remote = 0;
	va_start(args, format);
	error_vformat(err->text, format, args);
	va_end(args);
	error_append(err, uv_strerror(uv_status));
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
	char tail[ERROR_TEXT_SIZE];
	va_list args;

	if (err == NULL)
		return code;
	memcpy(tail, err->text, sizeof(tail));
	va_start(args, format);
	error_vformat(err->text, format, args);
	va_end(args);
	error_append(err, tail);
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
