/* SPDX-License-Identifier: MIT */
/* A run that the recovery test kills: prints each step it has reached and ends with a container
 * that hangs. Argument: the base directory. */
#include "base/cleanup.h"
#include "containers/images/images.h"
#include "containers/launch/launch.h"
#include "containers/runtime/runtime.h"
#include "containers/tests/rig.h"

#include <stdio.h>
#include <unistd.h>

static void say(const char *step)
{
	(void)printf("%s\n", step);
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *const words[] = {"probe-test", "hang", NULL};
	const struct launch_spec spec = {.name = "victim", .command = words};
	struct rig rig = {0};
	struct launch *launch = NULL;
	struct error err = {0};

	if (argc != 2)
		return 2;
	say("begin");
	rig_open(&rig, argv[1]);
	say("imported");
	if (launch_start(rig.launcher, &spec, &launch, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	say("running");
	(void)pause();
	return 0;
}
