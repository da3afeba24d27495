/* SPDX-License-Identifier: MIT */
#include "discovery/linux/opencl_icd.h"

#include "base/text.h"

#include <limits.h>
#include <string.h>

int opencl_icd_parse(const char *data, size_t size, char **library, struct error *err)
{
	const char *end = size > 0 ? memchr(data, '\n', size) : NULL;
	size_t length = end != NULL ? (size_t)(end - data) : size;
	size_t start = 0;

	while (start < length && (data[start] == ' ' || data[start] == '\t'))
		start++;
	while (length > start && strchr(" \t\r", data[length - 1]) != NULL &&
	       data[length - 1] != '\0')
		length--;
	if (length == start)
		return error_set(err, ERROR_FORMAT, "line 1: names no library");
	if (length - start >= PATH_MAX)
		return error_set(err, ERROR_LIMIT, "line 1: longer than a path");
	for (size_t i = start; i < length; i++) {
		if ((unsigned char)data[i] < 0x20 || data[i] == 0x7f)
			return error_set(err, ERROR_FORMAT, "line 1, column %zu: not text", i + 1);
	}
	if (!text_is_utf8(data + start, length - start))
		return error_set(err, ERROR_FORMAT, "line 1: not UTF-8");
	*library = strndup(data + start, length - start);
	return *library != NULL ? 0 : error_memory(err);
}
