/* SPDX-License-Identifier: MIT */
/* Replaces ctr, nerdctl or docker: prints its arguments, one a line in angle brackets, then its
 * standard input, and ends with the exit code in the environment variable CONTAINER_TOOL_CODE. */
#include <stdio.h>
#include <stdlib.h>
#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#endif

int main(int argc, char **argv)
{
	const char *code = getenv("CONTAINER_TOOL_CODE");
#if defined(_WIN32)
	(void)_setmode(_fileno(stdout), _O_BINARY);
#endif
	for (int i = 1; i < argc; i++)
		(void)printf("<%s>\n", argv[i]);
	for (int byte = getchar(); byte != EOF; byte = getchar())
		(void)putchar(byte);
	return code != NULL ? (int)strtol(code, NULL, 10) : 0;
}
