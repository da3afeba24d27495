/* SPDX-License-Identifier: MIT */
#include "containers/judging/selection/regexp.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <regex.h>
#include <string.h>

/* The bracket that ends a set; NULL: it contains syntax that RE2 and POSIX interpret differently. */
static const char *set_end(const char *set)
{
	const char *first = set + 1 + (set[1] == '^');
	const char *end = *first != '\0' ? strchr(first + 1, ']') : NULL;
	for (const char *at = first; end != NULL && at < end; at++) {
		if (*at == '\\' || *at == '[')
			return NULL;
	}
	return end;
}

/* Nested repetitions multiply, and GNU's escapes are not those of RE2. */
static bool is_shared(const char *pattern)
{
	unsigned braces = 0;
	for (const char *at = pattern; *at != '\0'; at++) {
		const char *comma = at + 1 + strspn(at + 1, "0123456789");
		const char *end =
			*comma == ',' ? comma + 1 + strspn(comma + 1, "0123456789") : comma;
		bool small = comma > at + 1 && comma - at < 4 && end - comma < 4;
		if (*at == '{' && (++braces > 1 || *end != '}' || !small))
			return false;
		bool repeats = strchr("*+?{", *at) != NULL;
		if (repeats && (at == pattern || strchr("(|^*+?}", at[-1]) != NULL))
			return false;
		bool escape = *at == '\\';
		if (escape && (*++at == '\0' || isalnum((unsigned char)*at) != 0))
			return false;
		if (!escape && *at == '[' && (at = set_end(at)) == NULL)
			return false;
	}
	return true;
}

int regexp_search(const char *pattern, const char *text, bool *found, struct error *err)
{
	regex_t compiled CLEANUP(regfree) = {0};
	if (strlen(pattern) > REGEXP_MAX)
		return error_set(err, ERROR_LIMIT, "a regular expression of more than %d bytes",
				 (int)REGEXP_MAX);
	int code = is_shared(pattern) ? regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB)
				      : REG_BADPAT;
	if (code == REG_ESPACE)
		return error_memory(err);
	if (code != 0)
		return error_set(err, ERROR_FORMAT,
				 "'%.60s' is not a regular expression that is evaluated here",
				 pattern);
	*found = regexec(&compiled, text, 0, NULL, 0) == 0;
	return 0;
}
