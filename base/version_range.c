/* SPDX-License-Identifier: MIT */
#include "base/version.h"

#include <string.h>

/* The result of version_compare() that an operator requires. */
static const struct relation {
	const char *name;
	bool less, equal, greater;
} relations[] = {
	{">=", false, true, true}, {"<=", true, true, false}, {"!=", true, false, true},
	{">", false, false, true}, {"<", true, false, false}, {"=", false, true, false},
};

/* The relation at the beginning of `*at`, which moves past it; NULL: none. */
static const struct relation *next_relation(const char **at)
{
	for (size_t i = 0; i < sizeof(relations) / sizeof(relations[0]); i++) {
		const size_t size = strlen(relations[i].name);
		if (strncmp(*at, relations[i].name, size) == 0) {
			*at += size;
			return &relations[i];
		}
	}
	return NULL;
}

/* The version before the next space; false: too long. */
static bool next_version(const char **at, char out[VERSION_SIZE])
{
	const size_t size = strcspn(*at, " ");
	if (size >= VERSION_SIZE)
		return false;
	memcpy(out, *at, size);
	out[size] = '\0';
	*at += size;
	*at += strspn(*at, " ");
	return true;
}

bool version_range_is_valid(const char *range)
{
	char version[VERSION_SIZE] = "";
	if (*range == '\0')
		return false;
	while (*range != '\0') {
		if (next_relation(&range) == NULL || !next_version(&range, version) ||
		    !version_is_valid(version))
			return false;
	}
	return true;
}

bool version_in_range(const char *version, const char *range)
{
	char limit[VERSION_SIZE] = "";
	if (!version_range_is_valid(range))
		return false;
	while (*range != '\0') {
		const struct relation *relation = next_relation(&range);
		if (relation == NULL || !next_version(&range, limit))
			return false;
		const int order = version_compare(version, limit);
		if (!(order < 0 ? relation->less : order > 0 ? relation->greater : relation->equal))
			return false;
	}
	return true;
}
