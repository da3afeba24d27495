/* SPDX-License-Identifier: MIT */
#include "base/program.h"

void program_begin(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
}
