/* SPDX-License-Identifier: MIT */
#include "containers/cri/version.h"

#include <stdlib.h>

enum { VERSION_NUMBER_MAX = 100000 };

static bool version_number(const char **at, unsigned *number)
{
	char *end = NULL;
	unsigned long value = 0;

	if (**at < '0' || **at > '9')
		return false;
	value = strtoul(*at, &end, 10);
	if (value > VERSION_NUMBER_MAX)
		return false;
	*number = (unsigned)value;
	*at = end;
	return true;
}

bool cri_parse_version(const char *text, unsigned *major, unsigned *minor)
{
	text += *text == 'v';
	if (!version_number(&text, major) || *text++ != '.')
		return false;
	return version_number(&text, minor);
}
