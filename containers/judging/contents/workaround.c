/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/path.h"
#include "containers/judging/contents/internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct contents_note workaround_note = {
	.text = "copies driver files into System32 when the container starts",
	.advice =
		"Remove it. It was needed when a container got a device without its driver's files. "
		"A device plugin that mounts them as the driver's CopyToVm* registry keys say puts "
		"them there before the container starts, and a copy would be of the wrong version "
		"after the host's driver is updated.",
};

/* All words of a row must occur, in upper or lower case. */
static const char *const signs[][3] = {
	{"hostdriverstore", "system32", "copy"}, /* copy, xcopy, robocopy, Copy-Item */
	{"hostdriverstore", "system32", "mklink"},
	{"filerepository", "system32", "copy"},
};

bool workaround_found(const char *text, size_t size)
{
	char *lower CLEANUP_FREE = memory_allocate(size + 1, 1);
	for (size_t i = 0; i < size; i++)
		lower[i] = (char)(text[i] != '\0' ? tolower((unsigned char)text[i]) : ' ');
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
		bool found = true;
		for (size_t j = 0; found && j < ARRAY_SIZE(signs[i]); j++)
			found = strstr(lower, signs[i][j]) != NULL;
		if (found)
			return true;
	}
	return false;
}

bool workaround_is_script(const char *path)
{
	static const char *const endings[] = {".cmd", ".bat", ".ps1"};
	const char *ending = strrchr(path_base(path), '.');
	for (size_t i = 0; ending != NULL && i < ARRAY_SIZE(endings); i++) {
		if (strcasecmp(ending, endings[i]) == 0)
			return true;
	}
	return false;
}
