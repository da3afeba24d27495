/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/state.h"
#include "rpc/message.h"

#include <stdint.h>
#include <string.h>

static void quote_point(struct text *out, const char *at, size_t size, uint32_t point)
{
	static const char named[] = "\a\b\f\n\r\t\v\\\"";
	static const char names[] = "abfnrtv\\\"";
	static const struct {
		uint32_t first, last;
	} hidden[] = {{0x00, 0x1f},	{0x7f, 0xa0},	  {0xad, 0xad},	    {0x2000, 0x200f},
		      {0x2028, 0x202f}, {0x205f, 0x206f}, {0x3000, 0x3000}, {0xe000, 0xf8ff},
		      {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0x10ffff}};
	const char *name = size == 1 ? strchr(named, at[0]) : NULL;
	bool is_hidden = false;
	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
		is_hidden = is_hidden || (point >= hidden[i].first && point <= hidden[i].last);

	if (name != NULL)
		text_addf(out, "\\%c", names[name - named]);
	else if (!is_hidden)
		text_append(out, at, size);
	else if (point < 0x80)
		text_addf(out, "\\x%02x", point);
	else
		text_addf(out, point < 0x10000 ? "\\u%04x" : "\\U%08x", point);
}

void go_quote(struct text *out, const char *string)
{
	text_add(out, "\"");
	while (*string != '\0') {
		uint32_t point = 0;
		size_t size = text_character(string, strlen(string), &point);
		if (size > 0) {
			quote_point(out, string, size, point);
		} else if (text_starts_with(string, MESSAGE_NUL)) {
			text_add(out, "\\x00");
			size = sizeof(MESSAGE_NUL) - 1;
		} else {
			text_addf(out, "\\x%02x", (unsigned char)*string);
			size = 1;
		}
		string += size;
	}
	text_add(out, "\"");
}

/* google.golang.org/grpc/codes: what Code.String() gives. */
char *go_status_text(int code, const char *message)
{
#define GO_NAME(name, go_name) go_name,
	static const char *const names[] = {RPC_CODES(GO_NAME)};
#undef GO_NAME
	if (code >= 0 && (size_t)code < ARRAY_SIZE(names))
		return text_format("rpc error: code = %s desc = %s", names[code], message);
	return text_format("rpc error: code = Code(%d) desc = %s", code, message);
}
