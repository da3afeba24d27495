/* SPDX-License-Identifier: MIT */
#include "containers/launch/launcher.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

const enum launch_system launch_host = LAUNCH_LINUX;

const char *host_signal_name(int number)
{
	return sigdescr_np(number);
}

bool host_has_seccomp(void)
{
	return !(prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0 && errno == EINVAL);
}

int host_make_fifo(const char *path, struct error *err)
{
	/* Whoever the program runs as may read it. */
	if (mkfifo(path, 0600) < 0 || chmod(path, 0644) < 0)
		return error_system(err, errno, "%s", path);
	return 0;
}
