/* SPDX-License-Identifier: MIT */
#include "base/program.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

void program_begin(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;

	/* open() returns the lowest free number, so closed streams are filled in order. The wrong access
	 * mode makes every use an error, as on a closed stream. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	}
	(void)signal(SIGXFSZ, SIG_IGN);
}

const char *program_variable(const char *name)
{
	return getenv(name);
}
