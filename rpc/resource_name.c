/* SPDX-License-Identifier: MIT */
#include "rpc/resource_name.h"

#include "base/text.h"

#include <string.h>

/* The name with "requests." in front must be a qualified name (IsQualifiedName, apimachinery
 * pkg/util/validation). */
enum { PREFIX_MAX = 253 - (int)(sizeof("requests.") - 1), NAME_MAX_SIZE = 63 };

#define LOWER_OR_DIGIT	"abcdefghijklmnopqrstuvwxyz0123456789"
#define LETTER_OR_DIGIT LOWER_OR_DIGIT "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* DNS-1123 subdomain, up to the '/': labels of [a-z0-9]([-a-z0-9]*[a-z0-9])? joined by dots. Only
 * the whole has a length limit there, not each label. */
static bool is_subdomain(const char *label)
{
	for (;;) {
		size_t size = strspn(label, LOWER_OR_DIGIT "-");
		if (size == 0 || label[0] == '-' || label[size - 1] == '-')
			return false;
		if (label[size] != '.')
			return label[size] == '/';
		label += size + 1;
	}
}

int resource_name_check(const char *name, struct error *err)
{
	const char *slash = strchr(name, '/');
	if (slash == NULL)
		return error_set(err, ERROR_FORMAT, "there is no '/'");
	if (strstr(name, "kubernetes.io/") != NULL)
		return error_set(err, ERROR_FORMAT, "\"kubernetes.io/\" is for Kubernetes itself");
	if (text_starts_with(name, "requests."))
		return error_set(err, ERROR_FORMAT, "it begins with \"requests.\"");
	if (strchr(slash + 1, '/') != NULL)
		return error_set(err, ERROR_FORMAT, "there is more than one '/'");

	size_t size = (size_t)(slash - name);
	if (size == 0)
		return error_set(err, ERROR_FORMAT, "the part before '/' is empty");
	if (size > PREFIX_MAX)
		return error_set(err, ERROR_FORMAT,
				 "the part before '/' has %zu characters; %d are allowed", size,
				 PREFIX_MAX);
	if (!is_subdomain(name))
		return error_set(
			err, ERROR_FORMAT,
			"the part before '/' is not a DNS-1123 subdomain (lower-case letters, digits, '-', '.')");

	const char *own = slash + 1;
	size = strlen(own);
	if (size == 0 || size > NAME_MAX_SIZE)
		return error_set(err, ERROR_FORMAT,
				 "the part after '/' has %zu characters; 1 to %d are allowed", size,
				 NAME_MAX_SIZE);
	if (strspn(own, LETTER_OR_DIGIT "-_.") != size || strchr(LETTER_OR_DIGIT, own[0]) == NULL ||
	    strchr(LETTER_OR_DIGIT, own[size - 1]) == NULL)
		return error_set(
			err, ERROR_FORMAT,
			"the part after '/' must be letters, digits, '-', '_', '.' and begin and end with a letter or digit");
	return 0;
}
