/* SPDX-License-Identifier: MIT */
/* Prints its arguments, one a line, in angle brackets. */
#include <stdio.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		(void)printf("<%s>\n", argv[i]);
	return 0;
}
