/* SPDX-License-Identifier: MIT */
#include "reference-plugin/programs.h"

int main(int argc, char **argv)
{
	return program_main(&program_mcdm, argc, argv);
}
