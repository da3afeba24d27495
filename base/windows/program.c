/* SPDX-License-Identifier: MIT */
#include "base/program.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/windows/wide.h"

#include <fcntl.h>
#include <io.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

/* A function of the C runtime, which has already split the command line; CommandLineToArgvW() would
 * load shell32.dll and a dozen others, megabytes in every process. The last two: no wildcards, the
 * usual malloc(). */
int __wgetmainargs(int *count, wchar_t ***arguments, wchar_t ***environment, int wildcards,
		   int *new_mode);

void program_begin(int *argc, char ***argv)
{
	wchar_t **wide = NULL;
	wchar_t **environment = NULL;
	int count = 0;
	int new_mode = 0;
	bool read = __wgetmainargs(&count, &wide, &environment, 0, &new_mode) >= 0 && wide != NULL;
	char **arguments = memory_allocate((size_t)count + 1, sizeof(*arguments));
	for (int i = 0; read && arguments != NULL && i < count; i++) {
		arguments[i] = wide_to_utf8(wide[i]);
		read = arguments[i] != NULL;
	}
	if (!read || arguments == NULL) {
		(void)fputs("out of memory\n", stderr);
		exit(EXIT_FAILURE);
	}
	*argc = count;
	*argv = arguments;
	(void)_setmode(_fileno(stdout), _O_BINARY);
	(void)_setmode(_fileno(stderr), _O_BINARY);
	(void)SetConsoleOutputCP(CP_UTF8);
	(void)SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
}

const char *program_variable(const char *name)
{
	wchar_t *wide_name CLEANUP_FREE = wide_from_utf8(name);
	DWORD size = wide_name != NULL ? GetEnvironmentVariableW(wide_name, NULL, 0) : 0;
	wchar_t *value CLEANUP_FREE = size != 0 ? memory_allocate(size, sizeof(*value)) : NULL;
	if (value == NULL)
		return NULL;
	(void)GetEnvironmentVariableW(wide_name, value, size);
	return wide_to_utf8(value);
}
