/* SPDX-License-Identifier: MIT */
#include "base/program.h"

#include <stdlib.h>

void program_begin(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
}

const char *program_variable(const char *name)
{
	return getenv(name);
}
