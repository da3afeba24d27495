/* SPDX-License-Identifier: MIT */
#include "rpc/resource_name.h"

#include "base/text.h"

#include <string.h>

/* The name with "requests." in front must be a qualified name (IsQualifiedName, apimachinery
 * pkg/util/validation). */
enum { PREFIX_MAX = 253 - (int)(sizeof("requests.") - 1), NAME_MAX_SIZE = 63 };

static bool is_lower_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_letter_or_digit(char c)
{
	return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

/* DNS-1123 subdomain: labels of [a-z0-9]([-a-z0-9]*[a-z0-9])? joined by dots. Labels have no limit
 * of their own there; only the whole has. */
static bool is_subdomain(const char *text, size_t size)
{
	size_t start = 0;
	for (size_t i = 0; i <= size; i++) {
		if (i < size && text[i] != '.') {
			if (!is_lower_or_digit(text[i]) && text[i] != '-')
				return false;
			continue;
		}
		if (i == start || text[start] == '-' || text[i - 1] == '-')
			return false;
		start = i + 1;
	}
	return true;
}

static int check_prefix(const char *name, size_t size, struct error *err)
{
	if (size == 0)
		return error_set(err, ERROR_FORMAT, "the part before '/' is empty");
	if (size > PREFIX_MAX)
		return error_set(err, ERROR_FORMAT,
				 "the part before '/' has %zu characters; %d are allowed", size,
				 PREFIX_MAX);
	if (!is_subdomain(name, size))
		return error_set(
			err, ERROR_FORMAT,
			"the part before '/' is not a DNS-1123 subdomain (lower-case letters, "
			"digits, '-', '.')");
	return 0;
}

static int check_name(const char *name, struct error *err)
{
	size_t size = strlen(name);
	if (size == 0 || size > NAME_MAX_SIZE)
		return error_set(err, ERROR_FORMAT,
				 "the part behind '/' has %zu characters; 1 to %d are allowed",
				 size, NAME_MAX_SIZE);
	bool good = is_letter_or_digit(name[0]) && is_letter_or_digit(name[size - 1]);
	for (size_t i = 0; good && i < size; i++)
		good = is_letter_or_digit(name[i]) || strchr("-_.", name[i]) != NULL;
	if (!good)
		return error_set(
			err, ERROR_FORMAT,
			"the part behind '/' must be letters, digits, '-', '_', '.' and begin "
			"and end with a letter or digit");
	return 0;
}

int resource_name_check(const char *name, struct error *err)
{
	const char *slash = strchr(name, '/');
	int rc = 0;

	if (slash == NULL)
		return error_set(err, ERROR_FORMAT, "there is no '/'");
	if (strstr(name, "kubernetes.io/") != NULL)
		return error_set(err, ERROR_FORMAT, "\"kubernetes.io/\" is for Kubernetes itself");
	if (text_starts_with(name, "requests."))
		return error_set(err, ERROR_FORMAT, "it begins with \"requests.\"");
	if (strchr(slash + 1, '/') != NULL)
		return error_set(err, ERROR_FORMAT, "there is more than one '/'");
	rc = check_prefix(name, (size_t)(slash - name), err);
	return rc == 0 ? check_name(slash + 1, err) : rc;
}
