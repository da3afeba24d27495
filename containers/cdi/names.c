/* SPDX-License-Identifier: MIT */
#include "containers/cdi/names.h"

#include <string.h>

enum { KEY_NAME_MAX = 63, KEY_PREFIX_MAX = 253 };

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_alphanumeric(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9');
}

/* Alphanumeric at both ends, and between them also what `others` has. */
static bool is_name(const char *name, size_t size, const char *others)
{
	if (size == 0 || !is_alphanumeric(name[0]) || !is_alphanumeric(name[size - 1]))
		return false;
	for (size_t i = 0; i < size; i++) {
		if (!is_alphanumeric(name[i]) && strchr(others, name[i]) == NULL)
			return false;
	}
	return true;
}

bool cdi_is_kind_part(const char *name, size_t size)
{
	return is_name(name, size, "_-.") && is_letter(name[0]);
}

bool cdi_is_device_name(const char *name)
{
	return is_name(name, strlen(name), "_-.:");
}

static bool is_dns_name(const char *name, size_t size)
{
	const char *end = name + size;
	if (size > KEY_PREFIX_MAX)
		return false;
	for (const char *dot = name; name < end; name = dot + 1) {
		dot = memchr(name, '.', (size_t)(end - name));
		if (dot == NULL)
			return is_name(name, (size_t)(end - name), "-");
		if (!is_name(name, (size_t)(dot - name), "-"))
			return false;
	}
	return false;
}

bool cdi_is_annotation_key(const char *key)
{
	const char *slash = strchr(key, '/');
	const char *name = slash != NULL ? slash + 1 : key;
	if (slash != NULL && !is_dns_name(key, (size_t)(slash - key)))
		return false;
	return strlen(name) <= KEY_NAME_MAX && is_name(name, strlen(name), "_-.");
}
