/* SPDX-License-Identifier: MIT */
/* Windows has no FIFOs, and its containers nothing like them that could be put at a path. */
#include "containers/launch/containerd.h"

int containerd_make_hold(struct containerd_launch *launch, struct error *err)
{
	(void)launch;
	return error_set(err, ERROR_UNSUPPORTED, "programs cannot be held on Windows");
}

void containerd_close_hold(struct containerd_launch *launch)
{
	(void)launch;
}

int containerd_wait_held(struct launch *launch, int64_t *pid, struct error *err)
{
	(void)pid;
	return containerd_make_hold((struct containerd_launch *)launch, err);
}

int containerd_release(struct launch *launch, const char *line, struct error *err)
{
	(void)line;
	return containerd_make_hold((struct containerd_launch *)launch, err);
}
