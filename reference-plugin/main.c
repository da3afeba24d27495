/* SPDX-License-Identifier: MIT */
#include "reference-plugin/programs.h"

int main(int argc, char **argv)
{
	return program_main(&PROGRAM, argc, argv);
}
