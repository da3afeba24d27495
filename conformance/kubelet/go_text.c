/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/go_text.h"

#include "base/cleanup.h"
#include "rpc/message.h"

#include <stdint.h>
#include <string.h>

/* Bytes of the UTF-8 sequence that begins at `at` and is whole; 0: there is none. */
static size_t sequence_size(const unsigned char *at)
{
	size_t size = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
	for (size_t i = 1; i < size; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return text_is_utf8((const char *)at, size) ? size : 0;
}

static uint32_t code_point(const unsigned char *at, size_t size)
{
	static const unsigned char lead[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t point = at[0] & lead[size];
	for (size_t i = 1; i < size; i++)
		point = point << 6 | (at[i] & 0x3f);
	return point;
}

static bool is_printable(uint32_t point)
{
	static const struct {
		uint32_t first, last;
	} hidden[] = {{0x00, 0x1f},	{0x7f, 0xa0},	  {0xad, 0xad},	    {0x2000, 0x200f},
		      {0x2028, 0x202f}, {0x205f, 0x206f}, {0x3000, 0x3000}, {0xe000, 0xf8ff},
		      {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0x10ffff}};
	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
		if (point >= hidden[i].first && point <= hidden[i].last)
			return false;
	return true;
}

static void quote_point(struct text *out, const unsigned char *at, size_t size)
{
	static const char named[] = "\a\b\f\n\r\t\v\\\"";
	static const char names[] = "abfnrtv\\\"";
	uint32_t point = code_point(at, size);
	const char *name = size == 1 ? strchr(named, at[0]) : NULL;
	if (name != NULL)
		text_addf(out, "\\%c", names[name - named]);
	else if (is_printable(point))
		text_append(out, (const char *)at, size);
	else if (point < 0x80)
		text_addf(out, "\\x%02x", point);
	else
		text_addf(out, point < 0x10000 ? "\\u%04x" : "\\U%08x", point);
}

void go_quote(struct text *out, const char *string)
{
	const unsigned char *at = (const unsigned char *)string;
	text_add(out, "\"");
	while (*at != '\0') {
		size_t size = sequence_size(at);
		if (size > 0) {
			quote_point(out, at, size);
		} else if (text_starts_with((const char *)at, MESSAGE_NUL)) {
			text_add(out, "\\x00");
			size = sizeof(MESSAGE_NUL) - 1;
		} else {
			text_addf(out, "\\x%02x", *at);
			size = 1;
		}
		at += size;
	}
	text_add(out, "\"");
}

/* google.golang.org/grpc/codes: what Code.String() gives. */
char *go_status_text(int code, const char *message)
{
	static const char *const names[] = {
		"OK",
		"Canceled",
		"Unknown",
		"InvalidArgument",
		"DeadlineExceeded",
		"NotFound",
		"AlreadyExists",
		"PermissionDenied",
		"ResourceExhausted",
		"FailedPrecondition",
		"Aborted",
		"OutOfRange",
		"Unimplemented",
		"Internal",
		"Unavailable",
		"DataLoss",
		"Unauthenticated",
	};
	if (code >= 0 && (size_t)code < ARRAY_SIZE(names))
		return text_format("rpc error: code = %s desc = %s", names[code], message);
	return text_format("rpc error: code = Code(%d) desc = %s", code, message);
}
