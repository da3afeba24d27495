/* SPDX-License-Identifier: MIT */
#pragma once

/* Between UTF-8, which the project uses everywhere, and the UTF-16 of Windows. */

#include <stddef.h>
#include <stdint.h>

/* `count` units, which may hold NULs; a lone surrogate becomes U+FFFD. NUL-ended. NULL: out of
 * memory. Caller frees. */
char *utf16_to_utf8(const uint16_t *text, size_t count);

/* NUL-ended; each byte that is not UTF-8 becomes U+FFFD. `count` (may be NULL): units without the
 * NUL. NULL: out of memory. Caller frees. */
uint16_t *utf16_from_utf8(const char *text, size_t *count);
