/* SPDX-License-Identifier: MIT */
#pragma once

/* Makes a tiny PE file: headers, one section of resources, and a version in it. */

#include "base/text.h"

#include <stdint.h>

/* Replaces what `out` holds. `gap`: bytes before the section. */
void pe_make(const uint16_t version[4], size_t gap, struct text *out);
