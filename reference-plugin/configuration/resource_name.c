/* SPDX-License-Identifier: MIT */
#include "reference-plugin/configuration/resource_name.h"

#include "base/text.h"

#include <stdbool.h>
#include <string.h>

enum { DOMAIN_MAX = 244, NAME_MAX_LENGTH = 63 };

static bool is_lower_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_letter_or_digit(char c)
{
	return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

/* Labels of [a-z0-9-] that begin and end with a letter or digit, separated by dots. */
static bool is_subdomain(const char *text, size_t size)
{
	char last = '.';

	for (size_t i = 0; i < size; i++) {
		char c = text[i];

		if (!is_lower_or_digit(c) && c != '-' && c != '.')
			return false;
		if ((c == '.' || c == '-') && last == '.')
			return false;
		if (c == '.' && last == '-')
			return false;
		last = c;
	}
	return size > 0 && is_lower_or_digit(last);
}

static bool is_qualified_name(const char *name)
{
	size_t size = strlen(name);

	for (size_t i = 0; i < size; i++) {
		if (!is_letter_or_digit(name[i]) && strchr("-_.", name[i]) == NULL)
			return false;
	}
	return size > 0 && size <= NAME_MAX_LENGTH && is_letter_or_digit(name[0]) &&
	       is_letter_or_digit(name[size - 1]);
}

int resource_name_check(const char *name, struct error *err)
{
	const char *slash = strchr(name, '/');
	size_t domain = slash != NULL ? (size_t)(slash - name) : 0;

	if (slash == NULL)
		return error_set(err, ERROR_FORMAT, "resource name '%s' has no '/'", name);
	if (strstr(name, "kubernetes.io/") != NULL || text_starts_with(name, "requests."))
		return error_set(err, ERROR_FORMAT,
				 "resource name '%s' is reserved: no kubernetes.io/, no requests.",
				 name);
	if (domain > DOMAIN_MAX || !is_subdomain(name, domain))
		return error_set(
			err, ERROR_FORMAT,
			"resource name '%s': what is before '/' is not a DNS subdomain of at "
			"most %d characters",
			name, (int)DOMAIN_MAX);
	if (!is_qualified_name(slash + 1))
		return error_set(
			err, ERROR_FORMAT,
			"resource name '%s': what is behind '/' is not 1 to %d of letters, "
			"digits, '-', '_' and '.'",
			name, (int)NAME_MAX_LENGTH);
	return 0;
}
