/* SPDX-License-Identifier: MIT */
#include "rpc/percent.h"

#include <string.h>

static const char hex_digits[] = "0123456789ABCDEF";

void percent_encode(struct text *out, const char *message)
{
	const char *start = message;
	const char *at = message;
	for (; *at != '\0'; at++) {
		unsigned char byte = (unsigned char)*at;
		char escape[3] = {'%', hex_digits[byte >> 4], hex_digits[byte & 15]};
		if (byte >= 0x20 && byte <= 0x7e && byte != '%')
			continue;
		text_append(out, start, (size_t)(at - start));
		text_append(out, escape, sizeof(escape));
		start = at + 1;
	}
	text_append(out, start, (size_t)(at - start));
}

static int hex_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return -1;
}

void percent_decode(struct text *out, const char *encoded)
{
	const char *start = encoded;
	const char *at = encoded;
	while (*at != '\0') {
		int high = *at == '%' ? hex_value(at[1]) : -1;
		int low = high >= 0 ? hex_value(at[2]) : -1;
		char byte = (char)(unsigned char)(high >= 0 && low >= 0 ? high * 16 + low : 0);
		if (byte == '\0') {
			at++;
			continue;
		}
		text_append(out, start, (size_t)(at - start));
		text_append(out, &byte, 1);
		at += 3;
		start = at;
	}
	text_append(out, start, (size_t)(at - start));
}
