/* SPDX-License-Identifier: MIT */
#include "workloads/common/program.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <unistd.h>
#include <windows.h>

/* Drivers print through the C library and through the standard handle: both become stderr. */
int output_claim(int *fd, struct error *err)
{
	int claimed CLEANUP_FD = _dup(_fileno(stdout));
	if (claimed < 0)
		return error_system(err, EBADF, "standard output");
	if (_setmode(claimed, _O_BINARY) < 0 ||
	    !SetHandleInformation((HANDLE)_get_osfhandle(claimed), HANDLE_FLAG_INHERIT, 0))
		return error_set(err, ERROR_IO, "standard output cannot be made private");
	if (_dup2(_fileno(stderr), _fileno(stdout)) < 0)
		(void)_close(_fileno(stdout)); /* stderr is closed: nobody reads it */
	(void)SetStdHandle(STD_OUTPUT_HANDLE, GetStdHandle(STD_ERROR_HANDLE));
	*fd = STEAL_FD(claimed);
	return 0;
}
