/* SPDX-License-Identifier: MIT */
#include "base/version.h"

#include <stdlib.h>
#include <string.h>

static const char digits[] = "0123456789";
enum { COMPONENTS_MAX = 8, DIGITS_MAX = 9 };

/* Digits of the component at *at without leading zeros; *at moves to the next component. */
static size_t next_component(const char **at, const char **number)
{
	*number = *at + strspn(*at, "0");
	size_t size = strspn(*number, digits);
	*at = *number + size;
	if (**at == '.' && strspn(*at + 1, digits) > 0)
		++*at;
	else
		*at = "";
	return size;
}

int version_compare(const char *a, const char *b)
{
	while (*a != '\0' || *b != '\0') {
		const char *left = NULL;
		const char *right = NULL;
		size_t left_size = next_component(&a, &left);
		size_t right_size = next_component(&b, &right);
		if (left_size != right_size)
			return left_size < right_size ? -1 : 1;
		int order = left_size > 0 ? memcmp(left, right, left_size) : 0;
		if (order != 0)
			return order;
	}
	return 0;
}

bool version_is_valid(const char *version)
{
	for (unsigned count = 1; count <= COMPONENTS_MAX; count++) {
		size_t size = strspn(version, digits);
		if (size == 0 || size > DIGITS_MAX)
			return false;
		version += size;
		if (*version == '\0')
			return true;
		if (*version++ != '.')
			return false;
	}
	return false;
}

size_t version_length(const char *version, unsigned components)
{
	size_t size = strspn(version, digits);
	while (--components > 0 && version[size] == '.' && strspn(version + size + 1, digits) > 0)
		size += 1 + strspn(version + size + 1, digits);
	return size;
}

unsigned version_major(const char *version)
{
	size_t size = strspn(version, digits);
	return size > 0 && size <= DIGITS_MAX ? (unsigned)strtoul(version, NULL, 10) : 0;
}
