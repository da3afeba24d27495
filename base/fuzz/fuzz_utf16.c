/* SPDX-License-Identifier: MIT */
/* Any units become UTF-8 and convert back unchanged, except for lone surrogates; any bytes become
 * well-formed UTF-16. */
#include "base/text.h"
#include "base/utf16.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* UTF-16 that came out of UTF-8 has no lone surrogates, so it converts both ways unchanged. */
static void require_stable(const char *utf8)
{
	size_t count = 0;
	size_t count_again = 0;
	uint16_t *units = utf16_from_utf8(utf8, &count);
	char *back = utf16_to_utf8(units, count);
	uint16_t *again = utf16_from_utf8(back, &count_again);
	require(text_is_utf8(back, strlen(back)));
	require(count == count_again && memcmp(units, again, count * sizeof(*units)) == 0);
	free(units);
	free(back);
	free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t count = size / sizeof(uint16_t);
	uint16_t *units = calloc(count + 1, sizeof(*units));
	char *bytes = calloc(1, size + 1);
	char *utf8 = NULL;
	require(units != NULL && bytes != NULL);
	memcpy(units, data, count * sizeof(*units));
	memcpy(bytes, data, size);
	utf8 = utf16_to_utf8(units, count);
	require(text_is_utf8(utf8, strlen(utf8)));
	require_stable(utf8);
	require_stable(bytes);
	free(utf8);
	free(units);
	free(bytes);
	return 0;
}
