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

/* Alphanumeric at both ends, with the characters of `others` also allowed between them. */
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

bool cdi_is_annotation_key(const char *key)
{
	const char *slash = strchr(key, '/');
	const char *name = slash != NULL ? slash + 1 : key;
	if (slash != NULL && slash - key > KEY_PREFIX_MAX)
		return false;
	/* The part before the slash is a DNS name: labels joined by dots. */
	for (const char *label = key; slash != NULL && label <= slash;) {
		size_t size = strcspn(label, "./");
		if (!is_name(label, size, "-"))
			return false;
		label += size + 1;
	}
	return strlen(name) <= KEY_NAME_MAX && is_name(name, strlen(name), "_-.");
}
