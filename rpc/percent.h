/* SPDX-License-Identifier: MIT */
#pragma once

/* Percent-encoding of grpc-message: bytes other than printable ASCII, and '%', as %XX. */

#include "base/text.h"

void percent_encode(struct text *out, const char *message);

/* Text that is no valid encoding is kept as it is, as is %00, so that nothing gets lost. */
void percent_decode(struct text *out, const char *encoded);
