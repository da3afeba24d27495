/* SPDX-License-Identifier: MIT */
#pragma once

/* Texts as the kubelet's language prints them, so that they are what people search for. */

#include "base/text.h"

/* Appends `string` as %q does: quoted, with the escapes of strconv.Quote. What it takes for
 * unprintable is all of ASCII's and the common part of Unicode's. */
void go_quote(struct text *out, const char *string);

/* "rpc error: code = NotFound desc = text", as a gRPC status is printed; other codes are
 * "Code(99)". Caller frees; NULL: out of memory. */
char *go_status_text(int code, const char *message);
