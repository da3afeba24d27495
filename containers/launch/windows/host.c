/* SPDX-License-Identifier: MIT */
#include "containers/launch/launcher.h"

const enum launch_system launch_host = LAUNCH_WINDOWS;

const char *host_signal_name(int number)
{
	(void)number;
	return NULL;
}

bool host_has_seccomp(void)
{
	return false;
}

int host_make_fifo(const char *path, struct error *err)
{
	(void)path;
	return error_set(err, ERROR_UNSUPPORTED, "programs cannot be held on Windows");
}
