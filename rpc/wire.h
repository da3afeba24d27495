/* SPDX-License-Identifier: MIT */
#pragma once

/* protobuf-c declares the strings of messages as `char *`, although packing only reads them. */
static inline char *wire_string(const char *string)
{
	union {
		const char *in;
		char *out;
	} pointer = {.in = string};
	return pointer.out;
}
